"""From a scene to a ranked list of entries, by a linear score of named signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from memory_rag.retrieval.ranking import Entries, Scores, best_entries
from memory_rag.retrieval.scene import Scene
from memory_rag.retrieval.signals import Signal, signals


@dataclass(frozen=True, slots=True)
class RankedEntry:
    """An entry in its place; ``signals`` are the weighted values that add up to the score."""

    entry: int
    score: float
    signals: Mapping[str, float] = field(default_factory=dict)


class ConversationRanker:
    """Ranks turns by signals that know how conversations go; takes any list of named signals.

    A score depends on the question and the pool, never on k or depth.
    """

    def __init__(self, used: Sequence[Signal] | None = None) -> None:
        self.signals = tuple(signals() if used is None else used)

    def rank(self, scene: Scene, entries: Entries, *, k: int) -> list[RankedEntry]:
        """Return the k best of some entries (ascending, each once), best first; ties by turn id."""
        parts = self.values(scene, entries)
        total = np.sum(list(parts.values()), axis=0) if parts else np.zeros(len(entries))
        best = best_entries(entries, total, k=k, turn_id=scene.table.turn_id)
        places = np.searchsorted(entries, [entry for entry, _ in best])
        return [
            RankedEntry(entry, score, {name: float(values[place]) for name, values in parts.items()})
            for (entry, score), place in zip(best, places, strict=True)
        ]

    def values(self, scene: Scene, entries: Entries) -> dict[str, Scores]:
        """Return each signal's weighted value for each of the entries."""
        return {signal.name: signal.weight * signal.compute(scene, entries) for signal in self.signals}
