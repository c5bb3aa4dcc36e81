"""A sample of the first n numbers that hardly changes while n grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
_EACH: Final = np.uint64(0x9E3779B97F4A7C15)
_MIXED: Final = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST: Final = np.uint64(31)
_KEPT_BITS: Final = np.uint64(11)
"""Of 64, so that what is left is a whole number that a float holds exactly."""
_UNIT: Final = 2.0**-53


@dataclass(frozen=True, slots=True)
class Reservoir:
    """A uniform sample of the numbers 0 to n - 1, told by n alone: all of them up to ``size``, then so many.

    Vitter's algorithm R ("Random Sampling with a Reservoir", 1985): the number i takes a place with the chance
    size / (i + 1). Chance is told by i alone, as SplitMix64 mixes a counter (Steele, Lea & Flood, "Fast Splittable
    Pseudorandom Number Generators", 2014), and so a sample that grew is the one that is drawn anew.
    """

    n: int
    size: int
    drawn: Numbers
    """The numbers, shape (min(n, size),), each at its place in the reservoir."""

    @classmethod
    def of(cls, n: int, *, size: int) -> Self:
        """Draw from the first n numbers."""
        return cls(0, size, np.zeros(0, np.int64)).grown(n)

    def grown(self, n: int) -> Self:
        """Return the sample of the first n numbers, n no less than now; this one if it is the same."""
        filled = np.arange(self.n, min(n, self.size))
        drawn = np.concatenate([self.drawn, filled])
        new = np.arange(max(self.n, self.size), n)
        places = (_chances(new) * (new + 1)).astype(np.int64)
        taken = (places < self.size).nonzero()[0]
        # Of several numbers that take one place the last stays, as where they come one by one.
        drawn[places[taken]] = new[taken]
        return type(self)(n, self.size, drawn if len(filled) or len(taken) else self.drawn)


def _chances(numbers: Numbers) -> npt.NDArray[np.float64]:
    """Return for each number one between 0 and 1, 1 left out, that looks drawn by chance."""
    mixed = (numbers.astype(np.uint64) + np.uint64(1)) * _EACH
    for shift, factor in _MIXED:
        mixed = (mixed ^ (mixed >> shift)) * factor
    mixed ^= mixed >> _LAST
    chances: npt.NDArray[np.float64] = (mixed >> _KEPT_BITS).astype(np.float64) * _UNIT
    return chances
