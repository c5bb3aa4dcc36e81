"""How sure a difference between two retrievers is: intervals and tests on per-query values.

Columns of values (measures, retrievers) over the same queries share one set of resamples: a report has hundreds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

RESAMPLES: Final = 10_000
CONFIDENCE: Final = 0.95
_AT_ONCE: Final = 500
_MOST_KEPT: Final = 2_000
"""Clusters of which resamples are kept, in 20 MB; of more they are drawn anew each time."""
_ONE_THREAD: Final = 2**18
"""Multiplications up to which OpenBLAS makes a product in one thread."""
_FEWEST_ROWS: Final = 10
ENUMERATED: Final = 13
"""Up to this many queries that differ, all sign patterns are fewer than RESAMPLES."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over n queries with its bootstrap percentile interval at 95 %.

    Efron & Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """

    mean: float
    low: float
    high: float
    n: int

    def as_json(self) -> dict[str, Any]:
        return {"mean": self.mean, "low": self.low, "high": self.high, "n": self.n}


def bootstrap_by_cluster(values: Sequence[float] | Values, *, clusters: Sequence[str], seed: int = 0) -> Interval:
    """Return the mean over queries and its interval, whole clusters (conversations) resampled with all their queries.

    It is the wider, honest one where queries of a conversation rise and fall together. With a single cluster there is
    nothing to resample and the interval is the mean itself.

    Raises:
        ValueError: there is no value, or not one cluster a value.
    """
    (interval,) = bootstrap_columns(np.asarray(values, np.float64)[:, None], clusters=clusters, seed=seed)
    return interval


def bootstrap_columns(values: Values, *, clusters: Sequence[str], seed: int = 0) -> list[Interval]:
    """Return the interval of each column of values, shape (queries, columns), all from the same resamples of clusters.

    Raises:
        ValueError: there is no value, or not one cluster a row.
    """
    if len(values) == 0:
        raise ValueError("an interval needs at least one value; a missing value is not 0")
    if len(clusters) != len(values):
        raise ValueError(f"{len(values)} values need as many clusters, got {len(clusters)}")
    # Not numpy's own unique: it takes "a" and "a\0" for one.
    numbers = {name: number for number, name in enumerate(sorted(set(clusters)))}
    n = len(numbers)
    codes = np.array([numbers[name] for name in clusters])
    sums, sizes = np.zeros((n, values.shape[1])), np.bincount(codes, minlength=n).astype(np.float64)
    np.add.at(sums, codes, values)
    # A row a column: quantiles are looked for in what lies together.
    means = np.empty((values.shape[1], RESAMPLES))
    drawn = _kept_resamples(n, seed) if n <= _MOST_KEPT else _resamples(n, seed)
    for start, counts in zip(range(0, RESAMPLES, _AT_ONCE), drawn, strict=True):
        weights = counts.astype(np.float64)
        means[:, start : start + _AT_ONCE] = (_product(weights, sums) / (weights @ sizes)[:, None]).T
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=1)
    columns = zip(values.mean(axis=0), low, high, strict=True)
    return [Interval(float(mean), float(least), float(most), len(values)) for mean, least, most in columns]


@lru_cache(maxsize=16)
def _kept_resamples(n: int, seed: int) -> tuple[npt.NDArray[np.uint8], ...]:
    """Return what :func:`_resamples` yields: all pools of a report ask for the same, and so do many of its parts."""
    return tuple(_resamples(n, seed))


def _resamples(n: int, seed: int) -> Iterator[npt.NDArray[np.uint8]]:
    """Yield how often each of n clusters is in each resample, some resamples at once; shape (resamples, n).

    Each is expected once: that one is there 256 times doesn't happen.
    """
    rng = np.random.default_rng(seed)
    for _ in range(0, RESAMPLES, _AT_ONCE):
        drawn = rng.integers(0, n, (_AT_ONCE, n)) + np.arange(_AT_ONCE)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=_AT_ONCE * n).reshape(_AT_ONCE, n).astype(np.uint8)


def _product(left: Values, right: Values) -> Values:
    """Return the product of two matrices, small ones block by block: of each BLAS makes one thread, not several, which
    on a busy machine spend most of their time on waiting for each other."""
    n, k = left.shape
    n_rows = max(1, _ONE_THREAD // (k * right.shape[1]))
    if n_rows < _FEWEST_ROWS or n % n_rows:
        n_rows = next((rows for rows in range(n_rows, _FEWEST_ROWS - 1, -1) if n % rows == 0), n)
    blocks: Values = np.matmul(left.reshape(-1, n_rows, k), right)
    return blocks.reshape(n, -1)


def randomization_tests(differences: Values, *, seed: int = 0) -> list[float]:
    """Return the two-sided p of a paired randomization test on the mean of each column of differences (Fisher's, by
    sign flips); shape (queries, columns).

    Smucker, Allan & Carterette, "A Comparison of Statistical Significance Tests for Information Retrieval", CIKM 2007.
    10,000 random flips, the observed one counted among them; where up to 13 queries differ, every flip there is, which
    is exact. A column of zeros gives 1.

    Raises:
        ValueError: there is no query.
    """
    if len(differences) == 0:
        raise ValueError("a paired test needs at least one query")
    # A sum in another order differs in its last bits; such a tie is reached too.
    observed = np.abs(differences.sum(axis=0)) - 1e-9
    n_queries, n_columns = differences.shape
    reached = np.zeros(n_columns, np.int64)
    rng = np.random.default_rng(seed)
    for _ in range(0, RESAMPLES, _AT_ONCE):
        bits = np.frombuffer(rng.bytes(_AT_ONCE * n_queries), np.uint8).reshape(_AT_ONCE, n_queries) & 1
        reached += (np.abs((bits * 2.0 - 1) @ differences) >= observed).sum(axis=0)
    ps = (reached + 1) / (RESAMPLES + 1)
    for column in np.flatnonzero((differences != 0).sum(axis=0) <= ENUMERATED):
        left = differences[differences[:, column] != 0, column]
        flips = np.arange(2 ** len(left))[:, None] >> np.arange(len(left)) & 1
        ps[column] = (np.abs((flips * 2.0 - 1) @ left) >= observed[column]).mean()
    return [float(p) for p in ps]


def mcnemar_test(a: Sequence[float] | Values, b: Sequence[float] | Values) -> float:
    """Return the two-sided exact p of McNemar's test on success or failure per query (1 or 0).

    Raises:
        ValueError: not as many values in ``a`` as in ``b``, none, or a value other than 0 and 1.
    """
    difference = _paired(a, b)
    for values in (a, b):
        if not np.isin(np.asarray(values), (0.0, 1.0)).all():
            raise ValueError("McNemar's test compares successes (1) and failures (0); use success@k or all_found@k")
    won, lost = int((difference > 0).sum()), int((difference < 0).sum())
    n = won + lost
    # Whole numbers until the last step: 2 ** -n is no float beyond a thousand pairs.
    term = tail = 1
    for i in range(min(won, lost)):
        term = term * (n - i) // (i + 1)
        tail += term
    return float(min(1.0, 2 * tail / 2**n))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return p-values adjusted for having made all these tests (Holm 1979), under the same names."""
    adjusted: dict[str, float] = {}
    least = 0.0
    for place, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: (item[1], item[0]))):
        least = max(least, min(1.0, p * (len(p_values) - place)))
        adjusted[name] = least
    return {name: adjusted[name] for name in p_values}


@dataclass(frozen=True, slots=True)
class Outcomes:
    """On how many queries each of two retrievers succeeds alone, both do, neither does; ``union`` is either's share."""

    won: int
    lost: int
    both: int
    neither: int

    @classmethod
    def of(cls, a: Sequence[float] | Values, b: Sequence[float] | Values) -> Outcomes:
        """Count from success per query (above 0 is a success) of ``a`` and ``b``."""
        _paired(a, b)
        in_a, in_b = np.asarray(a) > 0, np.asarray(b) > 0
        return cls(
            int((in_a & ~in_b).sum()), int((in_b & ~in_a).sum()), int((in_a & in_b).sum()), int((~in_a & ~in_b).sum())
        )

    @property
    def union(self) -> float:
        return (self.won + self.lost + self.both) / (self.won + self.lost + self.both + self.neither)


def _paired(a: Sequence[float] | Values, b: Sequence[float] | Values) -> Values:
    if len(a) != len(b) or len(a) == 0:
        raise ValueError(f"a paired test needs the same queries on both sides, got {len(a)} and {len(b)} values")
    return np.asarray(a, np.float64) - np.asarray(b, np.float64)
