"""Measured times: several ways of doing the same thing, taken in turns, and what is reported of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

Case = TypeVar("Case")


@dataclass(frozen=True, slots=True)
class Timing:
    """Times of one thing in milliseconds, over ``n`` measurements.

    ``least_ms`` is the least over the repetitions of a case, and of that the median over cases: what it takes when
    nothing else disturbs. Of one case it is the least of all.
    """

    median_ms: float
    p95_ms: float
    mean_ms: float
    least_ms: float
    n: int

    @classmethod
    def of(cls, seconds: npt.ArrayLike) -> Self:
        """Return the timing of measurements in seconds: shape (rounds, cases), or (n,) for one case n times."""
        taken = np.asarray(seconds, np.float64) * 1000
        if taken.size == 0:
            raise ValueError("a timing needs at least one measurement")
        by_case = taken if taken.ndim == 2 else taken[:, np.newaxis]
        return cls(
            median_ms=float(np.median(taken)),
            p95_ms=float(np.percentile(taken, 95)),
            mean_ms=float(taken.mean()),
            least_ms=float(np.median(by_case.min(axis=0))),
            n=taken.size,
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def timed(work: Callable[..., object], *arguments: object, **named: object) -> float:
    """Return how many seconds a call with these arguments takes."""
    began = time.perf_counter()
    work(*arguments, **named)
    return time.perf_counter() - began


def interleaved(
    ways: Mapping[str, Callable[[Case], object]],
    cases: Sequence[Case],
    *,
    rounds: int,
    in_a_row: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Timing]:
    """Time every way on every case, ``rounds`` times, way after way on the same case, so that all meet the same load.

    A measurement is the least of so many calls in a row: a way that comes behind one that reads much would else pay for
    what that left in the processor's caches. ``progress`` is called with (done, all) cases between measurements.
    """
    seconds = {name: np.empty((rounds, len(cases))) for name in ways}
    for repetition in range(rounds):
        for number, case in enumerate(cases):
            for name, way in ways.items():
                seconds[name][repetition, number] = min(timed(way, case) for _ in range(in_a_row))
            if progress is not None:
                progress(repetition * len(cases) + number + 1, rounds * len(cases))
    return {name: Timing.of(taken) for name, taken in seconds.items()}
