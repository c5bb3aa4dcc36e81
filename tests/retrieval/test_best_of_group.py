"""Entries by what they have in common: one of each like, and what a session or a conversation has together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.best_of_group import Groups, alike

ENTRIES = st.lists(st.tuples(st.integers(0, 5), st.floats(-3, 3), st.booleans()), max_size=15)


@pytest.mark.parametrize("apart", [1, 1_000_000])
@given(st.lists(st.integers(0, 5), max_size=15))
def test_all_of_a_kind_are_told_the_place_of_the_last_of_them_however_far_apart_kinds_are(
    apart: int, codes: list[int]
) -> None:
    places = alike(np.array(codes, np.int64) * apart).tolist()

    assert places == [max(place for place, other in enumerate(codes) if other == code) for code in codes]


@given(ENTRIES)
def test_every_entry_is_told_its_groups_best(entries: list[tuple[int, float, bool]]) -> None:
    codes = np.array([code for code, _, _ in entries], np.int32)
    values = np.array([value for _, value, _ in entries], np.float64)
    groups = Groups(codes, n_codes=6)

    best = groups.best(values)

    by_code = {code: max(value for other, value, _ in entries if other == code) for code, _, _ in entries}
    assert best.tolist() == [by_code[code] for code, _, _ in entries]
    assert sorted(groups.one_each(best).tolist()) == sorted(by_code.values())


@given(ENTRIES)
def test_where_some_count_the_others_are_told_of_them_or_stand_for_themselves(
    entries: list[tuple[int, float, bool]],
) -> None:
    codes = np.array([code for code, _, _ in entries], np.int32)
    values = np.array([value for _, value, _ in entries], np.float64)
    counted = np.array([place for place, (_, _, counts) in enumerate(entries) if counts], np.int64)
    groups = Groups(codes, n_codes=6, counted=counted)

    best = groups.best(values)

    by_code = {code: [value for other, value, counts in entries if other == code and counts] for code, _, _ in entries}
    assert best.tolist() == [max(by_code[code], default=value) for code, value, _ in entries]
    assert sorted(groups.one_each(best).tolist()) == sorted(max(found) for found in by_code.values() if found)


@given(ENTRIES, st.booleans())
def test_every_entry_is_told_the_sum_of_those_of_its_group_that_count(
    entries: list[tuple[int, float, bool]], all_count: bool
) -> None:
    codes = np.array([code for code, _, _ in entries], np.int32)
    values = np.array([value for _, value, _ in entries], np.float64)
    counted = np.array([place for place, (_, _, counts) in enumerate(entries) if counts], np.int64)
    groups = Groups(codes, n_codes=6, counted=None if all_count else counted)

    total = groups.total(values)

    by_code = {
        code: sum(value for other, value, counts in entries if other == code and (counts or all_count))
        for code, _, _ in entries
    }
    assert total.tolist() == pytest.approx([by_code[code] for code, _, _ in entries])
