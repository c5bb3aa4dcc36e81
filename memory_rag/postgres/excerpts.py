"""Of a memory with more turns than a process should hold, those that a question may be about.

A part of at most as many turns as may be held (a conversation, a week, a whole small memory) is held whole, and
searched as any memory is. Of a larger part a sample is held, which tells how rare words are, how long turns, and how
cosines spread; for each question the server names who may answer it, and these are taken in and ranked with all
signals.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time, tzinfo
from typing import Any, Final

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.postgres.estimated import EstimatedPool, SampledStage
from memory_rag.postgres.held_turns import HeldTurns
from memory_rag.postgres.parts import Part, allowed_part, part_of, spoken_by
from memory_rag.postgres.vectors import ServerVectors
from memory_rag.postgres.words import WISH, ServerWords
from memory_rag.retrieval.filters import Scope, Within, scope_of
from memory_rag.retrieval.local_days import SaidDays
from memory_rag.retrieval.pools import Pools
from memory_rag.retrieval.query import QueryAnalysis
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.stage import Stage
from memory_rag.retrieval.turn_table import Mask
from memory_rag.store.engine import Connections
from memory_rag.store.turn_store import TurnStore
from memory_rag.text.voice import Voice
from memory_rag.turns import Role, text_from_bytes, to_microseconds

_SAMPLED: Final = 2000
_DRAWN_AT_ONCE: Final = 20_000
_AROUND: Final = 20
"""Of either side, the best whose surroundings are taken in further."""
_REACH: Final = 3
_DATED: Final = 200
_WISHES: Final = 50
_PARTS_KEPT: Final = 8
_COSINES: Final = 256
"""Turns of the sample whose cosines are compared with each question."""


@dataclass(slots=True)
class _Known:
    """A part as it was counted: its rows that are held for good, up to which row, and how many turns it has."""

    part: Part
    n_turns: int
    rows: list[int]
    is_whole: bool
    newest: int
    n_changed_elsewhere: int
    n_taken: int = 0
    """Of the rows, how many were taken in."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for: the question taken apart, its vector if there is one, and how deep either side is looked."""

    analysis: QueryAnalysis
    vector: Vectors | None
    depth: int


class Excerpts:
    """The pools of a large memory: of a part that is held whole all of it, of others what was named for a question."""

    def __init__(
        self,
        connections: Connections,
        store: TurnStore,
        held: HeldTurns,
        words: ServerWords,
        *,
        zone: tzinfo,
        most: int,
    ) -> None:
        self._connections = connections
        self._store = store
        self._held = held
        self._words = words
        self._zone = zone
        self._most = most
        self._days = SaidDays(zone=zone)
        self._whole = Pools(held, zone=zone)
        self._known: OrderedDict[Within, _Known] = OrderedDict()
        self._named: dict[Within, list[int]] = {}
        self._add_speakers()

    # -- taking in

    def take_in(self, asked: Asked, within: Within, vectors: ServerVectors | None) -> None:
        """Take in the turns that a question may be about: all of a part that is held whole, else who is named for it.

        Raises:
            QueryError: a bound that is no time.
        """
        within = replace(within, without=())
        known = self._part(within)
        rows, known.n_taken = known.rows[known.n_taken :], len(known.rows)
        if not known.is_whole:
            named = list(self._candidates(asked, within, known, vectors))
            self._named = {within: named}
            rows += named
        self._held.take_in(rows, self._store)
        if vectors is not None:
            vectors.ask_for(rows)

    def _part(self, within: Within) -> _Known:
        known = self._known.get(within)
        if known is None or known.n_changed_elsewhere != self._held.n_changed_elsewhere:
            known = self._counted(part_of(within, zone=self._zone))
        else:
            self._follow(known)
        self._known[within] = known
        self._known.move_to_end(within)
        if len(self._known) > _PARTS_KEPT:
            self._known.popitem(last=False)
        return known

    def _counted(self, part: Part) -> _Known:
        where, values = part.where()
        with self._connections.reading() as connection:
            (newest,) = connection.execute("SELECT coalesce(max(row), 0) FROM turns").fetchone()
            found = connection.execute(
                f"SELECT row FROM turns WHERE {where} ORDER BY row LIMIT {self._most + 1}", values
            ).fetchall()
            rows = [int(row) for (row,) in found]
            if len(rows) <= self._most:
                return _Known(part, len(rows), rows, True, int(newest), self._held.n_changed_elsewhere)
            (n_turns,) = connection.execute(f"SELECT count(*) FROM turns WHERE {where}", values).fetchone()
            rows = self._sample(connection, part, n_turns=int(n_turns), newest=int(newest))
        return _Known(part, int(n_turns), rows, False, int(newest), self._held.n_changed_elsewhere)

    def _follow(self, known: _Known) -> None:
        """Count the turns that came since."""
        where, values = known.part.where(first=2)
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT row FROM turns WHERE row > ?1 AND {where} ORDER BY row", [known.newest, *values]
            ).fetchall()
        if not found:
            return
        known.newest = int(found[-1][0])
        known.n_turns += len(found)
        if known.is_whole:
            known.rows += [int(row) for (row,) in found]

    def _sample(self, connection: Any, part: Part, *, n_turns: int, newest: int) -> list[int]:
        """Return the rows of some turns of a part, drawn by their numbers."""
        where, values = part.where(first=2)
        random = np.random.default_rng(newest)
        drawn: dict[int, None] = {}
        # Of a part that is a small share of all, more are drawn; of the smallest that is sampled, a tenth suffices.
        for _ in range(max(1, min(20, round(newest / max(1, n_turns))))):
            numbers = random.integers(1, newest + 1, _DRAWN_AT_ONCE).tolist()
            found = connection.execute(
                f"SELECT row FROM turns WHERE row = ANY(?1::bigint[]) AND {where} ORDER BY row", [numbers, *values]
            ).fetchall()
            drawn.update(dict.fromkeys(int(row) for (row,) in found))
            if len(drawn) >= _SAMPLED:
                break
        rows = list(drawn)
        random.shuffle(rows)
        return sorted(rows[:_SAMPLED])

    # -- naming

    def _candidates(self, asked: Asked, within: Within, known: _Known, vectors: ServerVectors | None) -> Iterator[int]:
        """Yield the rows of the turns that may answer a question; some come more than once."""
        terms, deep = asked.analysis.terms, 2 * asked.depth
        sides = [self._words.best(terms, n=deep, part=known.part)]
        if vectors is not None and asked.vector is not None:
            sides.append(vectors.nearest(asked.vector, n=deep, part=known.part))
        for part in self._narrowed(asked.analysis, within, known.part):
            sides.append(self._words.best(terms, n=asked.depth, part=part))
            if vectors is not None and asked.vector is not None:
                sides.append(vectors.nearest(asked.vector, n=asked.depth, part=part))
        for side in sides:
            yield from side
        yield from self._around([row for side in sides for row in side[: asked.depth]], reach=1)
        yield from self._around([row for side in sides for row in side[:_AROUND]], reach=_REACH)
        yield from self._said_on(asked.analysis, known.part)
        yield from self._words.best([WISH], n=_WISHES, part=known.part)

    def _narrowed(self, analysis: QueryAnalysis, within: Within, part: Part) -> Iterator[Part]:
        """Yield the part by who speaks: those whom the filter names, and those whose words the question means."""
        meant = allowed_part(part, within, speakers=self._held.table.speakers.names)
        if meant is not part:
            yield meant
        if analysis.named:
            yield spoken_by(meant, analysis.named)
        if analysis.voice is Voice.ASSISTANT or analysis.wants_overview:
            yield meant.narrowed("role = {}", str(Role.ASSISTANT))
        elif analysis.voice in (Voice.USER, Voice.BOTH):
            yield meant.narrowed("role = {}", str(Role.USER))

    def _around(self, rows: Iterable[int], *, reach: int) -> list[int]:
        """Return the rows of the turns said just before and after these, in their sessions."""
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT DISTINCT near.row FROM turns AS said JOIN turns AS near "
                "ON near.conversation_id = said.conversation_id AND near.session_id = said.session_id "
                f"AND near.ordinal BETWEEN said.ordinal - {reach} AND said.ordinal + {reach} "
                "WHERE said.row = ANY(?::bigint[])",
                (list(dict.fromkeys(rows)),),
            ).fetchall()
        return [int(row) for (row,) in found]

    def _said_on(self, analysis: QueryAnalysis, part: Part) -> Iterator[int]:
        """Yield the rows of turns of a part that were said in the periods that a question names, or near them."""
        where, values = part.where(first=3)
        for mention in analysis.dates:
            if mention.start is None or mention.end is None:
                continue
            first, end = (
                to_microseconds(datetime.combine(day, time.min, self._zone)) for day in (mention.start, mention.end)
            )
            with self._connections.reading() as connection:
                found = connection.execute(
                    f"SELECT row FROM turns WHERE said_at >= ?1 AND said_at < ?2 AND {where} LIMIT {_DATED}",
                    [first, end, *values],
                ).fetchall()
            yield from (int(row) for (row,) in found)

    def _add_speakers(self) -> None:
        """Know everybody who speaks by name, of whom no turn may be held yet."""
        with self._connections.reading() as connection:
            found = connection.execute("SELECT DISTINCT speaker FROM turns").fetchall()
        for name in sorted(text_from_bytes(speaker) for (speaker,) in found):
            self._held.table.speakers.code(name)

    # -- as pools

    def of(self, within: Within) -> tuple[Scope, Stage]:
        """Return a filter's scope and stage, of what was taken in for it; its ``without`` doesn't count here."""
        known = self._known.get(within) or self._part(within)
        if known.is_whole:
            return self._whole.of(within)
        sampled, named = self._mask(known.rows), self._mask(self._named.get(within, []))
        scope = scope_of(self._held.table, within, zone=self._zone)
        context = Selected.of_mask(scope.context.mask & (sampled | named))
        # That nobody is held who answers to a name doesn't tell that there is nobody.
        scope = Scope(context, Selected.of_mask(scope.allowed.mask & named))
        told = Selected.of_mask(sampled & scope.context.mask)
        pool = EstimatedPool(context, self._held.bm25.lengths, sampled=told, n_turns=known.n_turns)
        return scope, SampledStage(self._held.table, pool, days=self._days, sampled=told.entries[:_COSINES])

    def stage(self, searched: Selected) -> Stage:
        """Return what scores take from these entries."""
        return self._whole.stage(searched)

    def _mask(self, rows: Iterable[int]) -> Mask:
        table = self._held.table
        mask = np.zeros(len(table), np.bool_)
        entries = [entry for row in rows if (entry := table.entry_of(row)) is not None]
        mask[entries] = True
        return mask
