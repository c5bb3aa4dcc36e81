"""A benchmark: turns, questions, and which turns answer each question."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from memory_rag.turns import Turn

Unit = Literal["turn", "session"]


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it is asked.

    ``conversation_id`` is the conversation that it is about, empty for all of them; ``category`` its kind, by number
    and name where the data set numbers them; ``asked_at`` when it was asked, where the data set tells.
    """

    query_id: str
    text: str
    conversation_id: str
    category: str = ""
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """What is retrieved and judged: one turn, or a session's turns taken together.

    ``doc_id`` is unique in the benchmark. ``turns`` are in spoken order, one for the unit "turn".
    """

    doc_id: str
    conversation_id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """What a loader left out, counted by reason, with up to three places each."""

    counts: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, where: str, *, count: int = 1) -> None:
        self.counts[reason] += count
        listed = self.places.setdefault(reason, [])
        if len(listed) < 3:
            listed.append(where)

    def as_json(self) -> list[dict[str, Any]]:
        return [{"reason": r, "count": n, "where": self.places[r]} for r, n in self.counts.most_common()]


@dataclass(frozen=True)
class Benchmark:
    """Conversations, questions and judgements, as one loader read them.

    ``sha256`` is of the files read. ``qrels`` maps query ids to document ids to grades above 0; a query without
    judgements is unanswerable and is counted apart, never as 0. ``denominators`` names how many questions which
    convention counts, where a data set has several. ``made`` says by which rule the questions of a category were made,
    where one made them, and ``caution`` what to keep in mind with such questions.
    """

    name: str
    unit: Unit
    sha256: str
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    qrels: Mapping[str, Mapping[str, int]]
    dropped: Dropped = field(default_factory=Dropped)
    denominators: Mapping[str, int] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)
    caution: str = ""

    def answerable(self) -> tuple[Query, ...]:
        """Return the queries that have a relevant document, in order."""
        return tuple(query for query in self.queries if self._is_answerable(query))

    def unanswerable(self) -> tuple[Query, ...]:
        return tuple(query for query in self.queries if not self._is_answerable(query))

    def pool_of(self, query: Query, *, pool: Literal["conversation", "memory"]) -> tuple[Document, ...]:
        """Return the candidates of a query: its own conversation's documents, or all of them."""
        if pool == "memory" or not query.conversation_id:
            return self.documents
        return self._by_conversation.get(query.conversation_id, ())

    @cached_property
    def questions_sha256(self) -> str:
        """The SHA-256 of the answerable questions as they are asked, with what is relevant to each.

        Questions that were made are in no file that was read: those of two runs may have the same ids and other words.
        """
        asked = [
            (query.query_id, query.text, query.conversation_id, sorted(self.qrels[query.query_id].items()))
            for query in self.answerable()
        ]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()

    @cached_property
    def _by_conversation(self) -> Mapping[str, tuple[Document, ...]]:
        grouped: dict[str, list[Document]] = defaultdict(list)
        for document in self.documents:
            grouped[document.conversation_id].append(document)
        return {name: tuple(documents) for name, documents in grouped.items()}

    def _is_answerable(self, query: Query) -> bool:
        return any(grade > 0 for grade in self.qrels.get(query.query_id, {}).values())

    def turns(self) -> Iterable[Turn]:
        """Yield every turn once, in the documents' order."""
        return (turn for document in self.documents for turn in document.turns)


def summary_of(benchmark: Benchmark) -> dict[str, Any]:
    """Return what a dry run prints: what is kept, and what is dropped by reason."""
    return {
        "name": benchmark.name,
        "unit": benchmark.unit,
        "sha256": benchmark.sha256,
        "n_conversations": len({document.conversation_id for document in benchmark.documents}),
        "n_documents": len(benchmark.documents),
        "n_turns": sum(len(document.turns) for document in benchmark.documents),
        "n_queries": len(benchmark.queries),
        "n_answerable": len(benchmark.answerable()),
        "categories": dict(sorted(Counter(query.category for query in benchmark.answerable()).items())),
        "denominators": dict(benchmark.denominators),
        "made": dict(benchmark.made),
        "dropped": benchmark.dropped.as_json(),
    }


def missing_judgements(documents: Sequence[Document], qrels: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return the judged document ids that no document has."""
    known = {document.doc_id for document in documents}
    return sorted({found for graded in qrels.values() for found in graded} - known)
