"""All that is known when a question is ranked: both sides' scores for every entry, made comparable."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.bm25 import Pool
from memory_rag.retrieval.query import QueryAnalysis
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.spoken_order import SpokenOrder
from memory_rag.retrieval.turn_table import ROLES, UNKNOWN_TIME, TurnTable
from memory_rag.turns import Role

MISSING: Final = -2.0
"""The cosine of an entry that has no vector: below any, -1 to 1, even of a shifted query."""
_SAMPLE: Final = 4096
_DAY_US: Final = 86_400_000_000


@dataclass(frozen=True)
class Scene:
    """One question before one pool. Arrays have one value an entry; outside the pool they mean nothing.

    ``keyword`` is BM25 over the pool's best score, 0 to 1. ``dense`` is the cosine (with the query's shift) as
    standard deviations from its mean, over 4; 0 where there is no vector. Neither depends on k, depth or candidates.
    """

    query: QueryAnalysis
    table: TurnTable
    order: SpokenOrder
    pool: Pool
    bm25: Scores
    cosine: Scores | None
    zone: tzinfo = UTC
    possible_bm25: float = 0.0
    """About the BM25 of a turn that holds every term of the question once."""

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
        if deviation == 0:
            return np.zeros(len(self.table))
        return np.where(self.cosine > MISSING, (self.cosine - mean) / (4 * deviation), 0.0)

    @cached_property
    def cosine_spread(self) -> tuple[float, float]:
        """Mean and standard deviation of the cosine over a fixed sample of the pool."""
        if self.cosine is None:
            return 0.0, 0.0
        entries = self.pool.entries
        if len(entries) > _SAMPLE:
            entries = entries[_sampled(len(entries))]
        values = self.cosine[entries]
        values = values[values > MISSING]
        return (float(values.mean()), float(values.std())) if len(values) else (0.0, 0.0)

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions.of(self.table, self.pool)

    @cached_property
    def days(self) -> npt.NDArray[np.int64]:
        """The day on which each entry was said, as days since 1970 in the memory's zone; -1e9 where unknown."""
        said = self.table.said_at
        known = said != UNKNOWN_TIME
        days = np.where(known, said // _DAY_US, -1_000_000_000)
        if self.zone is UTC or not known.any():
            return days
        distinct, inverse = np.unique(days, return_inverse=True)
        offsets = np.array([_offset_us(int(day), self.zone) for day in distinct])
        shifted: npt.NDArray[np.int64] = np.where(known, (said + offsets[inverse]) // _DAY_US, days)
        return shifted

    def has_role(self, role: Role, entries: Entries) -> Scores:
        spoken: Scores = (self.table.role[entries] == ROLES.index(role)).astype(np.float64)
        return spoken


@lru_cache(maxsize=8)
def _sampled(n: int) -> Entries:
    """Return the places of a sample of n, drawn from n alone: the same pool gives the same for every question."""
    places: Entries = np.random.default_rng(n).choice(n, _SAMPLE, replace=False)
    return places


@lru_cache(maxsize=65_536)
def _offset_us(day: int, zone: tzinfo) -> int:
    if day < -700_000:
        return 0
    noon = datetime(1970, 1, 1, 12, tzinfo=UTC) + timedelta(days=day)
    offset = noon.astimezone(zone).utcoffset() or timedelta(0)
    return int(offset.total_seconds()) * 1_000_000


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

    def standardized(self, best: Scores) -> Scores:
        """Return the sessions' best values as standard deviations from their mean over turns, over 3.

        With few sessions the best value tells less; it is held back by n / (n + 8).
        """
        if len(self) < 2:
            return np.zeros(len(self))
        mean = float(np.average(best, weights=self.sizes))
        deviation = float(np.sqrt(np.average((best - mean) ** 2, weights=self.sizes)))
        if deviation == 0:
            return np.zeros(len(self))
        held: Scores = (best - mean) / (3 * deviation) * (len(self) / (len(self) + 8))
        return held
