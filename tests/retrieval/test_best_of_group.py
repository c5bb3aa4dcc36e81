"""The best of each session or conversation among some entries, told to all entries of it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.best_of_group import Groups

ENTRIES = st.lists(st.tuples(st.integers(0, 5), st.floats(-3, 3), st.booleans()), max_size=15)


@given(ENTRIES)
def test_every_entry_is_told_its_groups_best(entries: list[tuple[int, float, bool]]) -> None:
    codes = np.array([code for code, _, _ in entries], np.int32)
    values = np.array([value for _, value, _ in entries], np.float64)
    groups = Groups(codes)

    best = groups.best(values)

    by_code = {code: max(value for other, value, _ in entries if other == code) for code, _, _ in entries}
    assert len(groups) == len(by_code)
    assert best.tolist() == [by_code[code] for code in sorted(by_code)]
    assert groups.told(best, values).tolist() == [by_code[code] for code, _, _ in entries]


@given(ENTRIES)
def test_where_some_count_the_others_are_told_of_them_or_stand_for_themselves(
    entries: list[tuple[int, float, bool]],
) -> None:
    codes = np.array([code for code, _, _ in entries], np.int32)
    values = np.array([value for _, value, _ in entries], np.float64)
    counted = np.array([place for place, (_, _, counts) in enumerate(entries) if counts], np.int64)
    groups = Groups(codes, counted=counted)

    told = groups.told(groups.best(values), values)

    by_code = {code: [value for other, value, counts in entries if other == code and counts] for code, _, _ in entries}
    assert len(groups) == sum(bool(found) for found in by_code.values())
    assert told.tolist() == [max(by_code[code], default=value) for code, value, _ in entries]
