"""Small made-up talks for tests, as a table, its postings and its scenes, without a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, tzinfo

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.retrieval.bm25 import Bm25, Pool
from memory_rag.retrieval.filters import Within, scope_of
from memory_rag.retrieval.fresh_terms import FreshTerms
from memory_rag.retrieval.local_days import SaidDays
from memory_rag.retrieval.participants import Participants
from memory_rag.retrieval.query import QueryAnalysis
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.scene import MISSING, Scene
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.spoken_order import SpokenOrder
from memory_rag.retrieval.stage import Stage
from memory_rag.retrieval.turn_table import TurnTable
from memory_rag.retrieval.wording import Wording
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Role, Turn

TODAY = date(2026, 5, 4)


def turn(
    text: str,
    *,
    turn_id: str = "",
    conversation_id: str = "talk",
    session_id: str = "day",
    ordinal: int = 0,
    role: Role = Role.USER,
    speaker: str = "user",
    said_at: datetime | None = None,
    recalled: bool = True,
) -> Turn:
    """Return a turn; all but its text has a default."""
    return Turn(turn_id, conversation_id, session_id, ordinal, role, speaker, text, said_at=said_at, recalled=recalled)


class GivenCosines:
    """Stands for a dense index: the cosines that entries have with any question."""

    def __init__(self, cosines: Mapping[int, float]) -> None:
        self.given = dict(cosines)

    def cosines(self, query: Vectors, entries: Entries) -> Scores:
        return np.array([self.given.get(entry, MISSING) for entry in entries.tolist()])

    def spread(self, query: Vectors, entries: Entries, *, without: Entries | None = None) -> tuple[float, float]:
        counted = set(entries.tolist()) - set([] if without is None else without.tolist())
        known = [self.given[entry] for entry in counted if entry in self.given]
        return (float(np.mean(known)), float(np.std(known))) if known else (0.0, 0.0)

    def nearest(self, query: Vectors, *, n: int, searched: Selected) -> Entries:
        known = [entry for entry in sorted(self.given) if searched.mask[entry]]
        return np.array(sorted(known, key=lambda entry: -self.given[entry])[:n], np.int64)


class Talk:
    """Turns in a table, numbered as they come; an empty turn id becomes ``t<entry>``."""

    def __init__(self, turns: Sequence[Turn] = (), *, languages: Sequence[str] = ("en",), zone: tzinfo = UTC) -> None:
        self.table = TurnTable()
        self.bm25 = Bm25()
        self.fresh = FreshTerms(self.table, self.bm25.postings)
        self.order = SpokenOrder()
        self.analyzer = Analyzer(languages)
        self.zone = zone
        self.said: dict[int, Turn] = {}
        for said in turns:
            self.say(said)

    def say(self, said: Turn, *, row: int | None = None) -> int:
        """Add a turn, or with the row of an earlier one correct that, and return its entry."""
        entry = len(self.table)
        self.said[entry if row is None else row] = said
        if not said.turn_id:
            said = turn(
                said.text,
                turn_id=f"t{entry}",
                conversation_id=said.conversation_id,
                session_id=said.session_id,
                ordinal=said.ordinal or entry,
                role=said.role,
                speaker=said.speaker,
                said_at=said.said_at,
                recalled=said.recalled,
            )
        language = self.analyzer.language_of(said.text)
        terms = self.analyzer.terms(said.text)
        earlier = None if row is None else self.table.entry_of(row)
        if earlier is not None:
            self.fresh.leave_out(earlier)
        self.table.append(entry if row is None else row, said, seq=entry + 1, language=language)
        self.fresh.take_in(entry, terms)
        self.bm25.add(entry, [terms])
        self.fresh.settle()
        return entry

    def turns_at(self, rows: Sequence[int]) -> dict[int, Turn]:
        return {row: self.said[row] for row in rows}

    def stage(self, within: Within | None = None) -> Stage:
        scope = scope_of(self.table, within or Within(), zone=self.zone)
        return Stage(self.table, Pool(scope.context, self.bm25.lengths), days=SaidDays(zone=self.zone))

    def scene(
        self, question: str, *, cosines: Mapping[int, float] | None = None, within: Within | None = None
    ) -> Scene:
        """Return the scene of a question; ``cosines`` are those of the entries that have a vector."""
        stage = self.stage(within)
        self.order.catch_up(self.table)
        query = QueryAnalysis(
            question,
            analyzer=self.analyzer,
            participants=Participants(self.table.speakers.names, languages=self.analyzer.languages),
            today=TODAY,
        )
        found = self.bm25.look_up(query.words, stage.pool)
        return Scene(
            query=query,
            stage=stage,
            order=self.order,
            bm25=found.scores,
            wording=Wording(query, found, indexed=self, pool=stage.pool, scores=found.scores, turns_at=self.turns_at),
            vectors=None if cosines is None else GivenCosines(cosines),
            query_vector=None if cosines is None else np.zeros(1, np.float32),
            possible_bm25=found.possible,
        )
