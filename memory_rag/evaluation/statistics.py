"""How sure a difference between two retrievers is: intervals and tests on per-query values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

RESAMPLES: Final = 10_000
CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its bootstrap percentile interval at 95 % (Efron & Tibshirani, "An Introduction to the Bootstrap")."""

    mean: float
    low: float
    high: float
    n: int

    def as_json(self) -> dict[str, Any]:
        return {"mean": self.mean, "low": self.low, "high": self.high, "n": self.n}


def bootstrap_by_query(values: Sequence[float] | Values, *, seed: int = 0) -> Interval:
    """Return the mean over queries and its interval, queries resampled one by one.

    Raises:
        ValueError: there is no value.
    """
    return bootstrap_by_cluster(values, clusters=[str(n) for n in range(len(values))], seed=seed)


def bootstrap_by_cluster(values: Sequence[float] | Values, *, clusters: Sequence[str], seed: int = 0) -> Interval:
    """Return the mean over queries and its interval, whole clusters (conversations) resampled with all their queries.

    It is the wider, honest one where queries of a conversation rise and fall together. With a single cluster there is
    nothing to resample and the interval is the mean itself.

    Raises:
        ValueError: there is no value, or not one cluster a value.
    """
    array = np.asarray(values, np.float64)
    if len(array) == 0:
        raise ValueError("an interval needs at least one value; a missing value is not 0")
    if len(clusters) != len(array):
        raise ValueError(f"{len(array)} values need as many clusters, got {len(clusters)}")
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    sums, sizes = np.bincount(codes, weights=array), np.bincount(codes).astype(np.float64)
    draws = np.random.default_rng(seed).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=RESAMPLES)
    means = (draws @ sums) / (draws @ sizes)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(array.mean()), float(low), float(high), len(array))


def randomization_test(a: Sequence[float] | Values, b: Sequence[float] | Values, *, seed: int = 0) -> float:
    """Return the two-sided p of a paired randomization test on the mean difference (Fisher's, by sign flips).

    Smucker, Allan & Carterette, "A Comparison of Statistical Significance Tests for Information Retrieval", CIKM 2007.
    10,000 random flips, the observed one counted among them; identical values give 1.

    Raises:
        ValueError: not as many values in ``a`` as in ``b``, or none.
    """
    difference = _paired(a, b)
    difference = difference[difference != 0]
    if len(difference) == 0:
        return 1.0
    observed = abs(difference.sum())
    rng = np.random.default_rng(seed)
    reached = 0
    for start in range(0, RESAMPLES, 500):
        signs = rng.integers(0, 2, (min(500, RESAMPLES - start), len(difference)), np.int8) * 2 - 1
        # A sum in another order differs in its last bits; such a tie is reached too.
        reached += int((np.abs(signs @ difference) >= observed - 1e-12).sum())
    return (reached + 1) / (RESAMPLES + 1)


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
    tail = sum(math.comb(n, i) for i in range(min(won, lost) + 1))
    return min(1.0, float(2 * tail / 2**n)) if n else 1.0


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
