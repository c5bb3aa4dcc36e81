"""The simple baselines: word overlap, and rank-bm25 as people use it. For comparison, not for answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory_rag.retrieval.ranking import Scores


def overlap_scores(query: str, texts: Sequence[str]) -> Scores:
    """Return for each text the share of the query's distinct words (lower-cased, split at white space) in it."""
    asked = set(query.lower().split())
    if not asked:
        return np.zeros(len(texts))
    return np.array([len(asked & set(text.lower().split())) / len(asked) for text in texts])


def rank_bm25_scores(query: str, texts: Sequence[str]) -> Scores:
    """Return ``rank_bm25.BM25Okapi``'s scores with its usual call: lower-cased and split at white space.

    A score of 0 or below is not "no match": rank-bm25 gives 0 to the only turn of two that holds a word.
    """
    return RankBm25([text.lower().split() for text in texts]).scores(query.lower().split())


class RankBm25:
    """rank-bm25's ``BM25Okapi`` over the tokens of some turns, made once for many queries."""

    def __init__(self, tokens: Sequence[Sequence[str]]) -> None:
        from rank_bm25 import BM25Okapi

        self._n = len(tokens)
        self._okapi = BM25Okapi(tokens) if any(tokens) else None

    def scores(self, query: Sequence[str]) -> Scores:
        """Return each turn's score; zeros if no turn has a token (rank-bm25 itself divides by zero there)."""
        if self._okapi is None:
            return np.zeros(self._n)
        scores: Scores = np.asarray(self._okapi.get_scores(query), np.float64)
        return scores
