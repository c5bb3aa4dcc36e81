"""What scores take from a part of a memory of which only a sample is held here."""

from __future__ import annotations

import numpy as np

from memory_rag.retrieval.bm25 import Holders, Pool
from memory_rag.retrieval.length_norm import LengthCounts, Lengths
from memory_rag.retrieval.local_days import SaidDays
from memory_rag.retrieval.ranking import Entries
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.stage import Stage
from memory_rag.retrieval.turn_table import TurnTable


class EstimatedPool(Pool):
    """The entries that one question looks at, of a part with ``n_turns``; how rare a word is, is told by the sample.

    Of a word that the sample hardly has, those who were named for it count: they are most of all who hold it.
    """

    def __init__(self, searched: Selected, lengths: Lengths, *, sampled: Selected, n_turns: int) -> None:
        super().__init__(searched, lengths, counts=LengthCounts(lengths[sampled.entries]))
        self._sampled = sampled
        self._turns_each = n_turns / max(1, len(sampled))
        self.n = n_turns

    def rarity(self, holders: Holders) -> float:
        """Return the idf of a word that these of the searched entries hold."""
        of_sample = int(np.count_nonzero(self._sampled[holders])) if len(holders) else 0
        return self.idf(min(self.n, max(len(holders), round(of_sample * self._turns_each))))


class SampledStage(Stage):
    """A pool of which the sample alone tells how cosines spread: what was named for a question is near to it."""

    def __init__(self, table: TurnTable, pool: Pool, *, days: SaidDays, sampled: Entries) -> None:
        super().__init__(table, pool, days=days)
        self._named = sampled

    @property
    def sample(self) -> Entries:
        return self._named
