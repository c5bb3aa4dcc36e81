"""Which vectors belong to which entry: a turn of several passages has several, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class VectorGroups:
    """Runs of vectors that belong together: where each starts, its size, and which is each entry's (-1: none)."""

    starts: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    of_entry: npt.NDArray[np.int64]

    @classmethod
    def none(cls) -> VectorGroups:
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, nothing)

    def vectors_of(self, places: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the numbers of the vectors of some groups, one group after the other, and where each group begins."""
        sizes = self.sizes[places]
        firsts = np.cumsum(sizes) - sizes
        return np.repeat(self.starts[places] - firsts, sizes) + np.arange(sizes.sum()), firsts
