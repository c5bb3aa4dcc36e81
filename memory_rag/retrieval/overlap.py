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

    A score of 0 or below is not "no match": rank-bm25 gives 0 to the only turn of two that holds a word. No texts, or
    texts without any word, give zeros (rank-bm25 itself divides by zero there).
    """
    tokens = [text.lower().split() for text in texts]
    if not any(tokens):
        return np.zeros(len(texts))
    from rank_bm25 import BM25Okapi

    scores: Scores = np.asarray(BM25Okapi(tokens).get_scores(query.lower().split()), np.float64)
    return scores
