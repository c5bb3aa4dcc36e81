"""Where two retrievers rank the evidence of each question, counted in cells of a grid."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memory_rag.evaluation.report_shape import Report

Side = Literal["a", "b", "both", "neither"]
_ONE_BY_ONE: Final = 10
_BEYOND: Final = (2, 5, 10, 50)
"""Bands beyond the first k end at these times k."""


@dataclass(frozen=True, slots=True)
class Cell:
    """``n`` questions whose first relevant hit lies in a band of ranks of each retriever."""

    x: int
    y: int
    n: int
    side: Side


@dataclass(frozen=True, slots=True)
class RankGrid:
    """Bands of ranks, each up to and with its ``upper`` rank, and one more for no relevant hit at all.

    ``cut`` is the number of bands within the first k.
    """

    upper: tuple[int, ...]
    cut: int
    cells: tuple[Cell, ...]

    @property
    def labels(self) -> list[str]:
        """The last rank of each band, then ``none``."""
        return [*(f"{rank:,}" for rank in self.upper), "none"]

    def count(self, side: Side) -> int:
        return sum(cell.n for cell in self.cells if cell.side == side)


def side_of(a: int | None, b: int | None, *, k: int) -> Side:
    """Return who has the first relevant hit among the first k."""
    in_a, in_b = a is not None and a <= k, b is not None and b <= k
    if in_a and in_b:
        return "both"
    if in_a or in_b:
        return "a" if in_a else "b"
    return "neither"


def cutoff_of(report: Report) -> int:
    """Return the k of the report's measure; 10 where it has none."""
    _, _, k = report["settings"]["measure"].partition("@")
    return int(k) if k.isdecimal() else 10


def rank_grid(a: Sequence[int | None], b: Sequence[int | None], *, k: int, depth: int) -> RankGrid:
    """Count the questions by the ranks of their first relevant hits; ``a`` goes along x, ``b`` along y."""
    steps = {*range(1, min(k, _ONE_BY_ONE) + 1), *range(_ONE_BY_ONE, k, _ONE_BY_ONE), k, *(n * k for n in _BEYOND)}
    upper = (*sorted(step for step in steps if step < depth), depth)
    counts = Counter((_band(x, upper), _band(y, upper), side_of(x, y, k=k)) for x, y in zip(a, b, strict=True))
    cells = tuple(Cell(x, y, n, side) for (x, y, side), n in sorted(counts.items()))
    return RankGrid(upper, bisect_left(upper, k) + 1, cells)


def _band(rank: int | None, upper: Sequence[int]) -> int:
    return len(upper) if rank is None else bisect_left(upper, rank)
