"""Reciprocal rank fusion, kept to compare with.

Cormack, Clarke & Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR
2009: a turn's score is the sum over rankings of 1 / (rank_constant + rank), ranks from 1. It sees ranks only, so the
sign and scale of an engine's scores can't harm it, but a weak ranking pulls a strong one down.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from memory_rag.retrieval.ranking import best_first


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[str]], *, k: int, rank_constant: int = 60
) -> list[tuple[str, float]]:
    """Return the k best (id, score) of several rankings of ids, best first; equal scores by id."""
    shares: dict[str, list[float]] = defaultdict(list)
    for ranking in rankings:
        for rank, found in enumerate(ranking, start=1):
            shares[found].append(1.0 / (rank_constant + rank))
    # Sorted before they are added up: floats added in another order give another last bit, and ties would break on it.
    return best_first(((found, sum(sorted(parts))) for found, parts in shares.items()), k=k)
