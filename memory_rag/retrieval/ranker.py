"""From a shortlist to a ranked list, by a linear score of named signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from memory_rag.retrieval.ranking import Scores, best_places
from memory_rag.retrieval.shortlist import Shortlist
from memory_rag.retrieval.signals import Signal, signals


@dataclass(frozen=True, slots=True)
class RankedEntry:
    """An entry in its place; ``signals`` are the weighted values that add up to the score."""

    entry: int
    score: float
    signals: Mapping[str, float] = field(default_factory=dict)


class ConversationRanker:
    """Ranks turns by signals that know how conversations go; takes any list of named signals.

    A score depends on the question, the pool and how deep both sides are looked into, never on k.
    """

    def __init__(self, used: Sequence[Signal] | None = None) -> None:
        self.signals = tuple(signals() if used is None else used)
        self._names = [signal.name for signal in self.signals]

    def rank(self, short: Shortlist, *, k: int) -> list[RankedEntry]:
        """Return the k best of a shortlist, best first; ties by turn id."""
        weighted = self._weighted(short)
        scores = weighted.sum(axis=0)
        best = best_places(short.entries, scores, k=k, turn_id=short.table.turn_id)
        return [
            RankedEntry(entry, score, dict(zip(self._names, values, strict=True)))
            for entry, score, values in zip(
                short.entries[best].tolist(), scores[best].tolist(), weighted.take(best, axis=1).T.tolist(), strict=True
            )
        ]

    def values(self, short: Shortlist) -> dict[str, Scores]:
        """Return each signal's weighted value for each entry of a shortlist."""
        return dict(zip(self._names, self._weighted(short), strict=True))

    def _weighted(self, short: Shortlist) -> Scores:
        """Return the weighted values, shape (signals, entries)."""
        weighted = np.zeros((len(self.signals), len(short)))
        for row, signal in zip(weighted, self.signals, strict=True):
            if (values := signal.compute(short)) is not None:
                np.multiply(values, signal.weight, out=row)
        return weighted
