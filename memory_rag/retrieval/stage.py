"""A pool made ready for questions: all that does not depend on the question, made once."""

from __future__ import annotations

from datetime import tzinfo
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.bm25 import Pool
from memory_rag.retrieval.local_days import local_days
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.turn_table import ROLES, TurnTable
from memory_rag.turns import Role

_SAMPLE: Final = 256


class Stage:
    """A table at one of its versions, and the pool of its entries that is searched."""

    def __init__(self, table: TurnTable, pool: Pool, *, zone: tzinfo) -> None:
        self.table = table
        self.pool = pool
        self._zone = zone
        self._conversations_with: dict[frozenset[int], Scores] = {}

    @cached_property
    def sample(self) -> Entries:
        """At most 256 entries of the pool, drawn from its size alone: the same pool has the same sample."""
        entries = self.pool.entries
        if len(entries) <= _SAMPLE:
            return entries
        return np.sort(entries[np.random.default_rng(len(entries)).choice(len(entries), _SAMPLE, replace=False)])

    @cached_property
    def has_assistant(self) -> bool:
        """Whether a model speaks in the pool."""
        return bool(np.any(self.table.role[self.pool.entries] == ROLES.index(Role.ASSISTANT)))

    @cached_property
    def wishes(self) -> Entries:
        """The entries that state a lasting wish."""
        return self.pool.entries[np.flatnonzero(self.table.wishes[self.pool.entries])]

    def conversations_with(self, speakers: frozenset[int]) -> Scores:
        """Return 1 for each conversation of the pool in which any of these speakers speaks, 0 for the others."""
        found = self._conversations_with.get(speakers)
        if found is None:
            entries = self.pool.entries
            spoken = np.isin(self.table.speaker[entries], list(speakers))
            found = self._conversations_with[speakers] = np.zeros(len(self.table.conversations.names))
            found[self.table.conversation[entries[spoken]]] = 1.0
        return found

    @cached_property
    def days(self) -> npt.NDArray[np.int64]:
        """The day on which each entry was said, in the memory's zone."""
        return local_days(self.table.said_at, zone=self._zone)

    @cached_property
    def distinct_days(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The days on which anything was said, and for each entry the place of its day among them."""
        distinct, places = np.unique(self.days, return_inverse=True)
        return distinct, places
