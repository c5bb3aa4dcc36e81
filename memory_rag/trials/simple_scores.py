"""The scores of the retrievers that hybrid is compared with: one side alone, and both fused in the two usual ways."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from memory_rag.retrieval.entry_scores import EntryScores
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.scene import MISSING, Scene
from memory_rag.retrieval.selected import Selected
from memory_rag.trials.entry_order import EntryOrder

CONVEX_WEIGHT: Final = 0.5
_RANK_CONSTANT: Final = 60


class Scored(NamedTuple):
    """Entries and their scores, those that are hits."""

    entries: Entries
    scores: Scores

    @classmethod
    def of(cls, scores: EntryScores, allowed: Selected) -> Scored:
        """Return those of the entries allowed that have a score."""
        told = allowed.places_in(scores.matching)
        return cls(scores.matching[told], scores.of_matching[told])


def by_cosine(scene: Scene, allowed: Selected) -> Scored:
    """Return the cosine of every turn that has a vector."""
    entries = allowed.entries
    cosine = scene.cosine(entries)
    known = cosine > MISSING
    return Scored(entries, cosine) if known.all() else Scored(entries[known], cosine[known])


def by_ranks(keyword: Scored, dense: Scored, *, order: EntryOrder, depth: int) -> Scored:
    """Return the sum over both sides of 1 / (60 + rank), of the first ``depth`` of each, as the mode ``rrf``."""
    shares = np.zeros(len(order))
    found: list[Entries] = []
    for side in (keyword, dense):
        best = order.best(side.entries, side.scores, k=depth)
        shares[best] += 1.0 / (_RANK_CONSTANT + np.arange(1, len(best) + 1))
        found.append(best)
    entries = np.unique(np.concatenate(found))
    return Scored(entries, shares[entries])


def by_convex_sum(bm25: EntryScores, allowed: Selected, dense: Scored) -> Scored:
    """Return half of BM25 and half of the cosine, each as standard deviations from its mean over the pool.

    A turn without a vector has the pool's mean cosine.
    """
    entries = allowed.entries
    standard = np.zeros(allowed.n_entries)
    standard[dense.entries] = _standardized(dense.scores)
    return Scored(entries, CONVEX_WEIGHT * _standardized(bm25[entries]) + (1 - CONVEX_WEIGHT) * standard[entries])


def _standardized(values: Scores) -> Scores:
    deviation = float(values.std()) if len(values) else 0.0
    return (values - values.mean()) / deviation if deviation else np.zeros(len(values))
