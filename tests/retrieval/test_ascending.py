"""Entries in ascending order: each once, and which of them are among others."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.ascending import are_among, distinct, is_first, places_of

NUMBERS = st.lists(st.integers(0, 30), max_size=20)


@given(NUMBERS)
def test_each_stands_once_where_it_is_first(numbers: list[int]) -> None:
    ascending = np.array(sorted(numbers), np.int64)

    assert distinct(ascending).tolist() == sorted(set(numbers))
    assert is_first(ascending).tolist() == [
        place == sorted(numbers).index(n) for place, n in enumerate(sorted(numbers))
    ]


@given(NUMBERS, NUMBERS)
def test_others_are_among_them_or_not(numbers: list[int], others: list[int]) -> None:
    ascending = np.array(sorted(set(numbers)), np.int32)
    asked = np.array(others, np.int64)

    assert are_among(ascending, asked).tolist() == [other in numbers for other in others]
    if len(ascending):
        found = places_of(asked, ascending)
        assert ascending[found].tolist() == [other for other in others if other in numbers]
