"""How much a long turn is held back, told from how the lengths of all turns spread."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ranking import Scores

K1: Final = 0.9
B_SHORT: Final = 0.2
B_LONG: Final = 0.75
SPREAD_SHORT: Final = 0.7
SPREAD_LONG: Final = 1.4
Lengths = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class LengthNorm:
    """How much a long turn is held back: BM25's b, over a typical length in terms."""

    b: float
    typical: float

    def denominators(self, lengths: npt.NDArray[Any]) -> Scores:
        """Return BM25's ``k1 (1 - b + b length / typical)`` for each length."""
        norm: Scores = lengths * (K1 * self.b / self.typical)
        norm += K1 * (1 - self.b)
        return norm


class LengthCounts:
    """How many turns have each length: enough to tell how the lengths spread, and soon brought up to date."""

    def __init__(self, lengths: npt.NDArray[np.integer[Any]]) -> None:
        self._of_length = np.bincount(lengths, minlength=1)

    def changed(self, *, more: Lengths, fewer: Lengths) -> LengthCounts:
        """Return the counts with some lengths more and others, which were counted, fewer."""
        changed = LengthCounts(more)
        n = max(len(self._of_length), len(changed._of_length))
        changed._of_length = np.concatenate([changed._of_length, np.zeros(n - len(changed._of_length), np.int64)])
        changed._of_length[: len(self._of_length)] += self._of_length
        np.subtract.at(changed._of_length, fewer, 1)
        return changed

    @property
    def norm(self) -> LengthNorm:
        """The length norm that they call for, from their spread.

        People talking have turns of much the same length, and a longer one only says more; a model's answer is ten or
        forty times as long as its user's question and holds any word by chance. So b goes from .2 at a standard
        deviation of ln(length) of .7 to .75 at 1.4, and the typical length is the median, which long answers can't
        drag along.
        """
        lengths = self._of_length.nonzero()[0]
        if len(lengths) == 0:
            return LengthNorm(B_SHORT, 1.0)
        counts = self._of_length[lengths]
        # A turn without a term counts as one of a single term, here as in the logarithm.
        lengths = np.maximum(lengths, 1)
        up_to = counts.cumsum()
        n = int(up_to[-1])
        middle = [int(lengths[up_to.searchsorted(place)]) for place in ((n + 1) // 2, n // 2 + 1)]
        logarithms = np.log(lengths)
        away = logarithms - float(counts @ logarithms) / n
        deviation = math.sqrt(float(counts @ (away * away)) / n)
        share = (deviation - SPREAD_SHORT) / (SPREAD_LONG - SPREAD_SHORT)
        return LengthNorm(B_SHORT + (B_LONG - B_SHORT) * min(1.0, max(0.0, share)), max(1.0, sum(middle) / 2))


def length_norm(lengths: npt.NDArray[np.integer[Any]]) -> LengthNorm:
    """Return the length norm that a set of lengths in terms calls for."""
    return LengthCounts(lengths).norm
