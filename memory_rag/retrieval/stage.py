"""A pool made ready for questions: all that does not depend on the question, made once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ascending import are_among, distinct
from memory_rag.retrieval.bm25 import Pool
from memory_rag.retrieval.dated_days import values_of_days
from memory_rag.retrieval.local_days import SaidDays
from memory_rag.retrieval.once import once
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.reservoir import Reservoir
from memory_rag.retrieval.selected import Selected, Where
from memory_rag.retrieval.turn_table import ROLES, Mask, TurnTable
from memory_rag.text.date_mentions import DateMention
from memory_rag.turns import Role

_SAMPLE: Final = 256
_TO_A_MODEL: Final = 0.25
"""What speaking of oneself counts where all requests are made so."""
_KEPT: Final = 8
"""Sets of speakers whose conversations are kept in step: of models, and of those who are named."""


Told = Callable[[TurnTable, Where], Mask]
"""Tells for which of a part of a table's entries something holds."""


@dataclass(frozen=True, slots=True)
class _Held:
    """Of how many of a pool's entries something holds in each conversation."""

    told: Told
    counts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, told: Told, pool: Pool, table: TurnTable) -> _Held:
        entries = pool.searched.holding(lambda at: told(table, at))
        return cls(told, _by_conversation(table, entries))

    def changed(self, table: TurnTable, *, new: Entries, gone: Entries) -> _Held:
        """Return the same of a pool with new entries, without those that are gone."""
        counts = _by_conversation(table, new[self.told(table, new)])
        counts[: len(self.counts)] += self.counts
        if len(gone):
            counts -= _by_conversation(table, gone[self.told(table, gone)])
        return _Held(self.told, counts)


@dataclass(frozen=True, slots=True)
class _Sampled:
    """Some of a pool's entries, by the places among them that were drawn."""

    drawn: Reservoir
    entries: Entries

    @classmethod
    def of(cls, drawn: Reservoir, pool: Pool) -> _Sampled:
        places = np.sort(drawn.drawn)
        return cls(drawn, pool.searched.at(places) if pool.partial else places)

    def grown(self, pool: Pool) -> _Sampled:
        """Return the same of a pool that has more entries behind those that there were."""
        drawn = self.drawn.grown(pool.n)
        return _Sampled(drawn, self.entries) if drawn.drawn is self.drawn.drawn else _Sampled.of(drawn, pool)


class Stage:
    """A table at one of its versions, and the pool of its entries that is searched."""

    def __init__(self, table: TurnTable, pool: Pool, *, days: SaidDays) -> None:
        self.table = table
        self.pool = pool
        self._days = days
        self._of_days: tuple[tuple[DateMention, ...], Scores] | None = None
        self._held: dict[frozenset[int] | None, _Held] = {}
        """By the speakers who are asked for, those asked for last at the end; None for models."""
        self._wishes: Entries | None = None
        self._sampled: _Sampled | None = None

    def grown(self, pool: Pool, *, ended: Entries) -> Stage:
        """Return the stage of what its pool has become, with entries more and without those of it that have ended.

        What was looked for in this one is looked for among those alone.
        """
        grown = Stage(self.table, pool, days=self._days)
        new, gone = pool.searched.since(self.pool.n_entries), ended[self.pool.searched[ended]]
        grown._held = {whose: held.changed(self.table, new=new, gone=gone) for whose, held in self._held.items()}
        if (wishes := self._wishes) is not None:
            if len(gone):
                wishes = np.setdiff1d(wishes, gone, assume_unique=True)
            grown._wishes = np.concatenate([wishes, new[self.table.wishes[new]]])
        if self._sampled is not None and len(gone) == 0:
            grown._sampled = self._sampled.grown(pool)
        return grown

    @property
    def sample(self) -> Entries:
        """At most 256 entries of the pool, drawn from its size alone: the same pool has the same sample.

        Of a pool that has grown it is mostly the same array, too.
        """
        if self._sampled is None:
            self._sampled = _Sampled.of(Reservoir.of(self.pool.n, size=_SAMPLE), self.pool)
        return self._sampled.entries

    @once
    def has_assistant(self) -> bool:
        """Whether a model speaks in the pool."""
        return bool(self._said(None, _by_assistant).any())

    @once
    def worth_of_first_person(self) -> Scores:
        """What speaking of oneself counts in each conversation: 1, or .25 where a model speaks in it."""
        return np.where(self._said(None, _by_assistant) > 0, _TO_A_MODEL, 1.0)

    @property
    def wishes(self) -> Entries:
        """The entries that state a lasting wish, ascending."""
        if self._wishes is None:
            self._wishes = self.pool.searched.holding(lambda at: self.table.wishes[at])
        return self._wishes

    def conversations_with(self, speakers: frozenset[int]) -> Scores:
        """Return 1 for each conversation of the pool in which any of these speakers speaks, 0 for the others."""
        own = np.array(sorted(speakers), np.int32)
        said = self._said(speakers, lambda table, at: are_among(own, table.speaker[at]))
        return (said > 0).astype(np.float64)

    def by_day(self, dates: tuple[DateMention, ...]) -> tuple[Scores, npt.NDArray[np.int32]]:
        """Return how well each day on which anything was said fits what is named, and the place of each entry's day.

        Of a pool that is few of many entries, on the days of which anything was said in it; others have 0.
        """
        distinct_days, places = self._days.of(self.table)
        if self._of_days is None or self._of_days[0] != dates:
            values = np.zeros(len(distinct_days))
            own = self._own_days(places) if self.pool.searched.are_few else slice(None)
            values[own] = values_of_days(dates, distinct_days[own])
            self._of_days = dates, values
        return self._of_days[1], places

    def said_on(self, dates: tuple[DateMention, ...], allowed: Selected) -> Entries:
        """Return those of the entries allowed that were said on the days that are named, or near them, ascending."""
        values, places = self.by_day(dates)
        meant = values > 0
        if allowed.are_few:
            return allowed.holding(lambda at: meant[places[at]])
        entries = self._days.said_on(meant)
        return entries[allowed.places_in(entries)]

    def _said(self, whose: frozenset[int] | None, told: Told) -> npt.NDArray[np.int64]:
        """Return how many entries by some speakers, or by models, there are in each conversation."""
        held = self._held.pop(whose, None) or _Held.of(told, self.pool, self.table)
        self._held[whose] = held
        if len(self._held) > _KEPT:
            self._held.pop(next(iter(self._held)))
        return held.counts

    def _own_days(self, places: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the places of the days on which anything was said in the pool."""
        return distinct(np.sort(places[self.pool.entries]))


def _by_assistant(table: TurnTable, at: Where) -> Mask:
    spoken: Mask = table.role[at] == ROLES.index(Role.ASSISTANT)
    return spoken


def _by_conversation(table: TurnTable, entries: Entries) -> npt.NDArray[np.int64]:
    """Return how many of some entries there are of each conversation of the table."""
    return np.bincount(table.conversation[entries], minlength=len(table.conversations.names))
