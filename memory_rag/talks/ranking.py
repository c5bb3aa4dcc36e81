"""Which talks a question is about, by named signals: their best turns, all their words together, what is told of them.

As with turns, a signal is soft and a score is a sum; a talk of which nothing is told has nothing from those signals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.bm25 import K1, Bm25, Pool, length_norm
from memory_rag.retrieval.ranker import ConversationRanker
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.scene import LEAST_DEVIATION, MISSING, mean_and_deviation
from memory_rag.retrieval.shortlist import Shortlist

Codes = npt.NDArray[np.int32]

WEIGHTS: Final[Mapping[str, float]] = {
    "best_turn": 1.0,
    "best_turns": 0.5,
    "keyword_talk": 2.5,
    "keyword_told": 2.5,
    "dense_told": 5.0,
}
"""Round numbers set by hand; README's Decisions says from what."""
_TOP: Final = 3


@dataclass(frozen=True, slots=True)
class BestTurns:
    """The best turns of each talk of a shortlist: places in it, best first, at most three; aligned with ``codes``."""

    codes: Codes
    places: tuple[npt.NDArray[np.int64], ...]
    best: Scores
    mean_of_best: Scores


def best_turns(short: Shortlist, codes: Codes, *, ranker: ConversationRanker) -> tuple[BestTurns, Scores]:
    """Return the best turns of every talk in a shortlist, and the score of every turn; ``codes`` are the turns'."""
    values = ranker.values(short)
    scores = np.sum(list(values.values()), axis=0) if values else np.zeros(len(short))
    order = np.lexsort((np.arange(len(short)), -scores, codes))
    found, firsts, sizes = np.unique(codes[order], return_index=True, return_counts=True)
    places = tuple(
        order[first : first + min(size, _TOP)] for first, size in zip(firsts.tolist(), sizes.tolist(), strict=True)
    )
    best = np.array([scores[own[0]] for own in places])
    mean = np.array([scores[own].mean() for own in places])
    return BestTurns(found.astype(np.int32), places, best, mean), scores


def keyword_of_talks(bm25: Bm25, terms: Sequence[str], pool: Pool, codes: Codes, *, n: int) -> Scores:
    """Return BM25 of each talk as one text of all its turns in the pool, by its code; 0 for one without a term."""
    lengths = np.bincount(codes[pool.entries], weights=pool.lengths[pool.entries], minlength=n)
    present = np.flatnonzero(np.bincount(codes[pool.entries], minlength=n))
    total = np.zeros(n)
    if len(present) == 0:
        return total
    norm = length_norm(lengths[present].astype(np.int32))
    held_back = K1 * (1 - norm.b + norm.b * lengths / norm.typical)
    for term in terms:
        found = bm25.postings.of(term)
        if found is None:
            continue
        entries, counts = found
        if pool.partial:
            keep = pool.searched[entries]
            entries, counts = entries[keep], counts[keep]
        times = np.bincount(codes[entries], weights=counts, minlength=n)
        df = int(np.count_nonzero(times))
        idf = float(np.log1p((len(present) - df + 0.5) / (df + 0.5)))
        total += idf * (K1 + 1) * times / (times + held_back)
    return total


def over_best(values: Scores) -> Scores:
    """Return values over the best of them; zeros where none is above 0."""
    best = float(values.max(initial=0.0))
    scaled: Scores = values / best if best > 0 else np.zeros(len(values))
    return scaled


def standardized(cosine: Scores, *, of: Scores | None = None) -> Scores:
    """Return cosines as standard deviations from their mean, over 4; 0 for what has no vector."""
    known = cosine > MISSING
    mean, deviation = mean_and_deviation(cosine[known] if of is None else of[of > MISSING])
    result = np.zeros(len(cosine))
    if deviation >= LEAST_DEVIATION:
        result[known] = (cosine[known] - mean) / (4 * deviation)
    return result


def entries_of_talks(codes: Codes, wanted: Entries, *, allowed: npt.NDArray[np.bool_]) -> Entries:
    """Return the allowed entries of talks."""
    found: Entries = np.flatnonzero(allowed & np.isin(codes, wanted))
    return found
