"""A pool made ready for questions: all that does not depend on the question, made once."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.bm25 import Pool
from memory_rag.retrieval.dated_days import values_of_days
from memory_rag.retrieval.local_days import SaidDays
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.turn_table import ROLES, Mask, TurnTable
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

    @cached_property
    def sample(self) -> Entries:
        """At most 256 entries of the pool, drawn from its size alone: the same pool has the same sample."""
        n = self.pool.n
        if n <= _SAMPLE:
            return self.pool.entries
        drawn = np.sort(np.random.default_rng(n).choice(n, _SAMPLE, replace=False))
        return self.pool.entries[drawn] if self.pool.partial else drawn

    @cached_property
    def has_assistant(self) -> bool:
        """Whether a model speaks in the pool."""
        return bool(np.any((self.table.role == ROLES.index(Role.ASSISTANT)) & self.pool.searched))

    @cached_property
    def worth_of_first_person(self) -> Scores:
        """What speaking of oneself counts in each conversation: 1, or .25 where a model speaks in it."""
        worth = np.ones(len(self.table.conversations.names))
        by_assistant = (self.table.role == ROLES.index(Role.ASSISTANT)) & self.pool.searched
        worth[self.table.conversation[by_assistant]] = _TO_A_MODEL
        return worth

    @cached_property
    def wishes(self) -> Entries:
        """The entries that state a lasting wish."""
        return np.flatnonzero(self.table.wishes & self.pool.searched)

    def conversations_with(self, speakers: frozenset[int]) -> Scores:
        """Return 1 for each conversation of the pool in which any of these speakers speaks, 0 for the others."""
        found = self._conversations_with.get(speakers)
        if found is None:
            found = self._conversations_with[speakers] = np.zeros(len(self.table.conversations.names))
            for speaker in speakers:
                found[self.table.conversation[(self.table.speaker == speaker) & self.pool.searched]] = 1.0
        return found

    def by_day(self, dates: tuple[DateMention, ...]) -> tuple[Scores, npt.NDArray[np.int32]]:
        """Return how well each day on which anything was said fits what is named, and the place of each entry's day."""
        distinct, places = self._days.of(self.table)
        if self._of_days is None or self._of_days[0] != dates:
            self._of_days = dates, values_of_days(dates, distinct)
        return self._of_days[1], places

    def said_on(self, dates: tuple[DateMention, ...], allowed: Mask) -> Entries:
        """Return those of the entries allowed that were said on the days that are named, or near them, ascending."""
        values, places = self.by_day(dates)
        meant = values > 0
        days = np.flatnonzero(meant)
        if len(days) == 0:
            return days
        entries = np.flatnonzero((places >= days[0]) & (places <= days[-1]) & allowed)
        return entries[meant[places[entries]]]
