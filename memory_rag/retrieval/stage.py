"""A pool made ready for questions: all that does not depend on the question, made once."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ascending import are_among, distinct
from memory_rag.retrieval.bm25 import Pool
from memory_rag.retrieval.dated_days import values_of_days
from memory_rag.retrieval.local_days import SaidDays
from memory_rag.retrieval.once import once
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.turn_table import ROLES, TurnTable
from memory_rag.text.date_mentions import DateMention
from memory_rag.turns import Role

_SAMPLE: Final = 256
_TO_A_MODEL: Final = 0.25
"""What speaking of oneself counts where all requests are made so."""


class Stage:
    """A table at one of its versions, and the pool of its entries that is searched."""

    def __init__(self, table: TurnTable, pool: Pool, *, days: SaidDays) -> None:
        self.table = table
        self.pool = pool
        self._days = days
        self._of_days: tuple[tuple[DateMention, ...], Scores] | None = None
        self._conversations_with: dict[frozenset[int], Scores] = {}

    @once
    def sample(self) -> Entries:
        """At most 256 entries of the pool, drawn from its size alone: the same pool has the same sample."""
        n = self.pool.n
        if n <= _SAMPLE:
            return self.pool.entries
        drawn = np.sort(np.random.default_rng(n).choice(n, _SAMPLE, replace=False))
        return self.pool.entries[drawn] if self.pool.partial else drawn

    @once
    def _by_assistant(self) -> Entries:
        """The entries by which a model speaks, ascending."""
        role = ROLES.index(Role.ASSISTANT)
        return self.pool.searched.holding(lambda at: self.table.role[at] == role)

    @once
    def has_assistant(self) -> bool:
        """Whether a model speaks in the pool."""
        return len(self._by_assistant) > 0

    @once
    def worth_of_first_person(self) -> Scores:
        """What speaking of oneself counts in each conversation: 1, or .25 where a model speaks in it."""
        worth = np.ones(len(self.table.conversations.names))
        worth[self.table.conversation[self._by_assistant]] = _TO_A_MODEL
        return worth

    @once
    def wishes(self) -> Entries:
        """The entries that state a lasting wish."""
        return self.pool.searched.holding(lambda at: self.table.wishes[at])

    def conversations_with(self, speakers: frozenset[int]) -> Scores:
        """Return 1 for each conversation of the pool in which any of these speakers speaks, 0 for the others."""
        found = self._conversations_with.get(speakers)
        if found is None:
            own = np.array(sorted(speakers), np.int32)
            spoken = self.pool.searched.holding(lambda at: are_among(own, self.table.speaker[at]))
            found = self._conversations_with[speakers] = np.zeros(len(self.table.conversations.names))
            found[self.table.conversation[spoken]] = 1.0
        return found

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

    def _own_days(self, places: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the places of the days on which anything was said in the pool."""
        return distinct(np.sort(places[self.pool.entries]))
