"""All that is known when a question is ranked: both sides' scores, made comparable, for any entries asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.retrieval.bm25 import Pool
from memory_rag.retrieval.entry_scores import EntryScores
from memory_rag.retrieval.once import once
from memory_rag.retrieval.query import QueryAnalysis
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.spoken_order import SpokenOrder
from memory_rag.retrieval.stage import Stage
from memory_rag.retrieval.turn_table import TurnTable
from memory_rag.retrieval.wording import Wording

MISSING: Final = -2.0
"""The cosine of an entry that has no vector: below any cosine, -1 to 1, even of a shifted query."""
_ENOUGH: Final = 0.5
"""The share of the question's words, by idf, below which the best turn is no full match: of a paraphrase the wrong turn
may hold one weak word. A turn of typical length with such a share has half of the possible BM25 too."""
LEAST_DEVIATION: Final = 1e-9
"""Below this, values differ by rounding only: in quarters of such a deviation they would seem to differ a lot."""


class VectorsOfEntries(Protocol):
    """What finds entries by their vectors."""

    def cosines(self, query: Vectors, entries: Entries) -> Scores:
        """Return each entry's best passage's inner product with a query; ``MISSING`` without a vector."""
        ...

    def spread(self, query: Vectors, entries: Entries, *, without: Entries | None = None) -> tuple[float, float]:
        """Return mean and standard deviation of the cosines of those of these entries that have a vector.

        But for those ``without`` which it is asked.
        """
        ...

    def nearest(self, query: Vectors, *, n: int, searched: Selected) -> Entries:
        """Return the n nearest of the entries that are searched, best first; fewer if fewer have a vector."""
        ...


@dataclass(frozen=True)
class Scene:
    """One question before one pool.

    ``bm25`` has a score for each entry, 0 outside the pool. ``vectors`` are asked with ``query_vector``, the question's
    with its shift; both are None where there is no embedder. What comes out depends on the question and the pool, never
    on how many hits are wanted.
    """

    query: QueryAnalysis
    stage: Stage
    order: SpokenOrder
    bm25: EntryScores
    vectors: VectorsOfEntries | None = None
    query_vector: Vectors | None = None
    wording: Wording | None = None
    possible_bm25: float = 0.0
    """About the BM25 of a turn that holds every term of the question once."""
    left_out: Entries | None = None
    """Entries of the pool that don't count before this question; their ``bm25`` is 0."""

    @once
    def searched(self) -> Selected:
        """Which entries count: the pool's, but for those that are left out."""
        return self.pool.searched if self.left_out is None else self.pool.searched.without(self.left_out)

    @property
    def n_searched(self) -> int:
        """How many entries count."""
        return self.pool.n if self.left_out is None else len(self.searched)

    @property
    def table(self) -> TurnTable:
        return self.stage.table

    @property
    def pool(self) -> Pool:
        return self.stage.pool

    @property
    def matching(self) -> Entries:
        """The entries with any of the question's words, ascending."""
        return self.bm25.matching

    @once
    def full_bm25(self) -> float:
        """The BM25 that counts as 1: the best turn's, or more where that holds few of the question's words."""
        if len(self.matching) == 0:
            return 0.0
        place = self.bm25.of_matching.argmax()
        best, full = self.matching[place], float(self.bm25.of_matching[place])
        if self.wording is None or full >= _ENOUGH * self.possible_bm25:
            return full
        return full * max(1.0, _ENOUGH / float(self.wording.share(np.array([best]))[0]))

    def keyword(self, entries: Entries) -> Scores:
        """Return BM25 as a share of ``full_bm25``, 0 to 1."""
        full = self.full_bm25
        return self.bm25[entries] / full if full > 0 else np.zeros(len(entries))

    def cosine(self, entries: Entries) -> Scores:
        """Return the best passage's cosine with the question (with its shift).

        ``MISSING`` without a vector, and outside the pool.
        """
        if self.vectors is None or self.query_vector is None:
            return np.full(len(entries), MISSING)
        cosine = self.vectors.cosines(self.query_vector, entries)
        if self.pool.partial or self.left_out is not None:
            cosine[~self.searched[entries]] = MISSING
        return cosine

    def dense(self, entries: Entries) -> Scores:
        """Return the cosine as standard deviations from its mean in the pool, over 4; 0 without a vector."""
        return self.standardized(self.cosine(entries))

    def standardized(self, cosine: Scores) -> Scores:
        """Return cosines as :meth:`dense` does."""
        mean, deviation = self.cosine_spread
        if deviation < LEAST_DEVIATION:
            return np.zeros(len(cosine))
        standardized: Scores = (cosine - mean) / (4 * deviation)
        standardized[cosine <= MISSING] = 0.0
        return standardized

    @once
    def cosine_spread(self) -> tuple[float, float]:
        """Mean and standard deviation of the cosine over the pool's sample, without what is left out."""
        if self.vectors is None or self.query_vector is None:
            return 0.0, 0.0
        return self.vectors.spread(self.query_vector, self.stage.sample, without=self.left_out)

    def nearest(self, n: int, *, among: Selected | None = None) -> Entries:
        """Return the n entries of the pool, or of a part of it, with the highest cosines, best first.

        None without an embedder.
        """
        if self.vectors is None or self.query_vector is None:
            return np.zeros(0, np.int64)
        return self.vectors.nearest(self.query_vector, n=n, searched=self.searched if among is None else among)


def mean_and_deviation(values: Scores) -> tuple[float, float]:
    """Return the mean and the standard deviation; both 0 of nothing. NumPy's own take 30 microseconds for a few."""
    n = len(values)
    if n == 0:
        return 0.0, 0.0
    mean = float(values.sum()) / n
    away = values - mean
    return mean, math.sqrt(float(away @ away) / n)
