"""The sessions of a pool, and how well the best turn of each fits a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.bm25 import Pool
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.turn_table import Mask, TurnTable

LEAST_DEVIATION: Final = 1e-9
"""Below this, values differ by rounding only: in quarters of such a deviation they would seem to differ a lot."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of a pool, as stretches of entries: number, size, and how to take a best value of each."""

    entries: Entries
    starts: npt.NDArray[np.int64]
    of_stretch: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    number: npt.NDArray[np.int64]
    """For each table session its number here, -1 if it isn't in the pool."""

    @classmethod
    def of(cls, table: TurnTable, pool: Pool) -> Sessions:
        entries = pool.entries
        codes = table.session[entries]
        number = np.full(len(table.sessions.names), -1, np.int64)
        if len(entries) == 0:
            nothing = np.zeros(0, np.int64)
            return cls(entries, nothing, nothing, nothing, number)
        starts = np.concatenate([[0], np.flatnonzero(np.diff(codes)) + 1])
        distinct, of_stretch = np.unique(codes[starts], return_inverse=True)
        number[distinct] = np.arange(len(distinct))
        lengths = np.diff(starts, append=len(entries))
        sizes = np.bincount(of_stretch, weights=lengths).astype(np.int64)
        return cls(entries, starts, of_stretch, sizes, number)

    def __len__(self) -> int:
        return len(self.sizes)

    def best(self, values: Scores) -> Scores:
        """Return each session's best value."""
        best = np.full(len(self), -np.inf)
        if len(self):
            np.maximum.at(best, self.of_stretch, np.maximum.reduceat(values[self.entries], self.starts))
        return best

    def members(self, chosen: Mask) -> Entries:
        """Return the entries of the sessions chosen by number, ascending."""
        ends = np.append(self.starts[1:], len(self.entries))
        parts = np.flatnonzero(chosen[self.of_stretch])
        listed = [self.entries[start:end] for start, end in zip(self.starts[parts], ends[parts], strict=True)]
        return np.concatenate([self.entries[:0], *listed])

    def standardized(self, best: Scores) -> Scores:
        """Return the sessions' best values as standard deviations from their mean over turns, over 3.

        With few sessions the best value tells less; it is held back by n / (n + 8).
        """
        if len(self) < 2:
            return np.zeros(len(self))
        mean = float(np.average(best, weights=self.sizes))
        deviation = float(np.sqrt(np.average((best - mean) ** 2, weights=self.sizes)))
        if deviation < LEAST_DEVIATION:
            return np.zeros(len(self))
        held: Scores = (best - mean) / (3 * deviation) * (len(self) / (len(self) + 8))
        return held
