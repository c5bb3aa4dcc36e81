"""Entries found by the range of a column's values, as the column grows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from memory_rag.retrieval.by_value import EntriesByValue

RANGES = ((3, 3), (0, 0), (-5, 2), (10, 400), (7, 6), (-(2**62), 2**62))


def looked_for(column: npt.NDArray[np.integer[Any]], low: int, high: int) -> list[int]:
    return [entry for entry, value in enumerate(column.tolist()) if low <= value <= high]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("spread", [10, 100_000])
def test_the_entries_of_a_range_are_those_with_its_values_however_the_column_grew(
    dtype: type[np.signedinteger[Any]], spread: int
) -> None:
    random = np.random.default_rng(spread)
    column = np.zeros(0, dtype)
    found = EntriesByValue()
    for n_more in (0, 10, 3000, 5000, 1, 200, 9000):
        column = np.concatenate([column, random.integers(-spread // 10, spread, n_more).astype(dtype)])
        for low, high in RANGES:
            expected = looked_for(column, low, high)
            assert found.between(column, low, high).tolist() == expected
            assert found.n_between(column, low, high) == len(expected)


def test_values_may_change_as_long_as_their_order_stays() -> None:
    column = np.random.default_rng(1).integers(0, 50, 6000)
    found = EntriesByValue()
    found.between(column, 0, 1)

    moved = column * 10 + (column > 20)

    assert found.between(moved, 200, 301).tolist() == looked_for(moved, 200, 301)
    assert found.n_between(moved, 500, 900) == 0
