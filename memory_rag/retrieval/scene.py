"""All that is known when a question is ranked: both sides' scores for every entry, made comparable."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from memory_rag.retrieval.bm25 import Pool
from memory_rag.retrieval.dated_days import values_of_days
from memory_rag.retrieval.query import QueryAnalysis
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.sessions import LEAST_DEVIATION
from memory_rag.retrieval.spoken_order import SpokenOrder
from memory_rag.retrieval.stage import Stage
from memory_rag.retrieval.turn_table import ROLES, TurnTable
from memory_rag.turns import Role

MISSING: Final = -2.0
"""The cosine of an entry that has no vector: below any cosine, -1 to 1, even of a shifted query."""


@dataclass(frozen=True)
class Scene:
    """One question before one pool. Arrays have one value an entry.

    ``bm25`` and ``cosine`` (with the query's shift) are as the indexes give them. ``keyword`` is BM25 over the pool's
    best score, 0 to 1. ``dense`` is the cosine as standard deviations from its mean, over 4; 0 where there is no
    vector. Both are 0 outside the pool, and neither depends on k, depth or candidates.
    """

    query: QueryAnalysis
    stage: Stage
    order: SpokenOrder
    bm25: Scores
    cosine: Scores | None
    possible_bm25: float = 0.0
    """About the BM25 of a turn that holds every term of the question once."""

    @property
    def table(self) -> TurnTable:
        return self.stage.table

    @property
    def pool(self) -> Pool:
        return self.stage.pool

    @cached_property
    def best_bm25(self) -> float:
        return float(self.bm25.max(initial=0.0))

    @cached_property
    def keyword(self) -> Scores:
        best = self.best_bm25
        return self.bm25 / best if best > 0 else np.zeros_like(self.bm25)

    @cached_property
    def dense(self) -> Scores:
        if self.cosine is None:
            return np.zeros(len(self.table))
        mean, deviation = self.cosine_spread
        if deviation < LEAST_DEVIATION:
            return np.zeros(len(self.table))
        standardized: Scores = (self.cosine - mean) / (4 * deviation)
        standardized *= (self.cosine > MISSING) & self.pool.searched
        return standardized

    @cached_property
    def cosine_spread(self) -> tuple[float, float]:
        """Mean and standard deviation of the cosine over a fixed sample of the pool."""
        if self.cosine is None:
            return 0.0, 0.0
        values = self.cosine[self.stage.sample]
        values = values[values > MISSING]
        return (float(values.mean()), float(values.std())) if len(values) else (0.0, 0.0)

    @cached_property
    def by_date(self) -> Scores:
        """How well each entry's day fits the dates that the question names: 0, 1 or 2."""
        distinct, places = self.stage.distinct_days
        return values_of_days(self.query.dates, distinct)[places]

    @cached_property
    def keyword_by_session(self) -> Scores:
        """The best ``keyword`` of each of the pool's sessions."""
        return self.stage.sessions.best(self.keyword)

    @cached_property
    def dense_by_session(self) -> Scores:
        """The best ``dense`` of each of the pool's sessions."""
        return self.stage.sessions.best(self.dense)

    def has_role(self, role: Role, entries: Entries) -> Scores:
        spoken: Scores = (self.table.role[entries] == ROLES.index(role)).astype(np.float64)
        return spoken
