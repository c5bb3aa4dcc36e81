"""From turns and judged questions to a benchmark: documents of one unit, and judgements on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Benchmark, Document, Dropped, Query, Unit, missing_judgements
from memory_rag.turns import Turn

UNITS: tuple[Unit, ...] = ("turn", "session")


@dataclass(frozen=True, slots=True)
class Judged:
    """A query with the grades of the turns that answer it; without any, nothing said answers it."""

    query: Query
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a loader read: turns, each with an id that no other has, in spoken order within a conversation.

    The rest is as in :class:`~memory_rag.evaluation.benchmark.Benchmark`.
    """

    name: str
    sha256: str
    turns: Sequence[Turn]
    judged: Sequence[Judged]
    dropped: Dropped
    denominators: Mapping[str, int]
    made: Mapping[str, str] = field(default_factory=dict)
    caution: str = ""


def benchmark_of(reading: Reading, *, unit: Unit) -> Benchmark:
    """Return what was read as a benchmark: a document a turn, or a document a session.

    A turn's document has the turn's id. A session's grade is the highest of its turns'.

    Raises:
        ImportFormatError: an unknown unit, an id that comes twice, a judgement on what isn't there, or a query about
            a conversation that doesn't hold what answers it.
    """
    documents = documents_of(reading.turns, unit=unit)
    document_of = {turn.turn_id: document.doc_id for document in documents for turn in document.turns}
    qrels: dict[str, dict[str, int]] = {}
    for judged in reading.judged:
        graded: dict[str, int] = {}
        for turn_id, grade in judged.grades.items():
            doc_id = document_of.get(turn_id, turn_id)
            graded[doc_id] = max(grade, graded.get(doc_id, 0))
        if graded:
            qrels[judged.query.query_id] = graded
    queries = tuple(judged.query for judged in reading.judged)
    _check(reading.name, documents, queries, qrels)
    return Benchmark(
        name=reading.name,
        unit=unit,
        sha256=reading.sha256,
        documents=documents,
        queries=queries,
        qrels=qrels,
        dropped=reading.dropped,
        denominators=reading.denominators,
        made=reading.made,
        caution=reading.caution,
    )


def documents_of(turns: Iterable[Turn], *, unit: Unit) -> tuple[Document, ...]:
    """Return a document for each turn, or for each session in the order of its first turn.

    Raises:
        ImportFormatError: an unknown unit.
    """
    if unit == "turn":
        return tuple(Document(turn.turn_id, turn.conversation_id, (turn,)) for turn in turns)
    if unit != "session":
        raise ImportFormatError(f"unknown unit {unit!r}; a document is one of: {', '.join(UNITS)}")
    sessions: dict[tuple[str, str], list[Turn]] = {}
    for turn in turns:
        sessions.setdefault((turn.conversation_id, turn.session_id), []).append(turn)
    return tuple(
        Document(_session_id(conversation, session), conversation, tuple(said))
        for (conversation, session), said in sessions.items()
    )


def _session_id(conversation_id: str, session_id: str) -> str:
    return session_id if session_id.startswith(f"{conversation_id}/") else f"{conversation_id}/{session_id}"


def _check(
    name: str, documents: Sequence[Document], queries: Sequence[Query], qrels: Mapping[str, Mapping[str, int]]
) -> None:
    for what, ids in (("document", [d.doc_id for d in documents]), ("query", [q.query_id for q in queries])):
        twice = [found for found, count in Counter(ids).items() if count > 1]
        if twice:
            raise ImportFormatError(f"{name}: the {what} id {twice[0]!r} comes twice; each needs one of its own")
    strangers = missing_judgements(documents, qrels)
    if strangers:
        raise ImportFormatError(f"{name}: {strangers[0]!r} is judged, but no document has this id")
    conversation_of = {document.doc_id: document.conversation_id for document in documents}
    for query in queries:
        about = query.conversation_id
        elsewhere = [found for found in qrels.get(query.query_id, ()) if conversation_of[found] != about]
        if about and elsewhere:
            raise ImportFormatError(
                f"{name}: the query {query.query_id!r} is about conversation {about!r}, but what answers it, "
                f"{elsewhere[0]!r}, is in {conversation_of[elsewhere[0]]!r}; leave out its conversation to ask all"
            )
