"""Entries in the order of one column's values: those of a range are found without a look at all the others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ranking import Entries

_UNSORTED: Final = 4096
"""Entries at the end that are looked at one by one; of a long table one in so many more."""
_SHARE: Final = 16


class EntriesByValue:
    """Finds the entries of a column by their values. Kept in step with the column, to which entries are only added.

    It is given at each call: its values may change as long as their order stays. The first call sorts them.
    """

    def __init__(self) -> None:
        self._order: npt.NDArray[np.int32] = np.zeros(0, np.int32)

    def between(self, column: npt.NDArray[np.integer[Any]], low: int, high: int) -> Entries:
        """Return the entries with a value from ``low`` to ``high``, both included, ascending."""
        first, end, new = self._found(column, low, high)
        found = self._order[first:end].astype(np.int64)
        if low < high:
            found.sort()
        return np.concatenate([found, new])

    def n_between(self, column: npt.NDArray[np.integer[Any]], low: int, high: int) -> int:
        """Count the entries with a value from ``low`` to ``high``, both included."""
        first, end, new = self._found(column, low, high)
        return end - first + len(new)

    def _found(self, column: npt.NDArray[np.integer[Any]], low: int, high: int) -> tuple[int, int, Entries]:
        """Return where the entries begin and end in the order, and those behind it."""
        n_sorted = len(self._order)
        if len(column) - n_sorted > max(_UNSORTED, n_sorted // _SHARE):
            self._order, n_sorted = _sorted(column), len(column)
        first = bisect_left(self._order, low, key=column.__getitem__)
        end = bisect_right(self._order, high, lo=first, key=column.__getitem__)
        new = column[n_sorted:]
        return first, end, np.flatnonzero((new >= low) & (new <= high)) + n_sorted


def _sorted(column: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int32]:
    """Return the entries by value, those of one value ascending."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    # Numbers of two bytes are sorted in a third of the time, whatever their order.
    keys = (column - low).astype(np.uint16) if high - low < 1 << 16 else column
    return np.argsort(keys, kind="stable").astype(np.int32)
