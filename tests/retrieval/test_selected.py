"""Some of a table's entries, as a mask or as numbers: both answer alike."""

from __future__ import annotations

import numpy as np
import pytest

from memory_rag.evaluation.speed_counted import counted
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.turn_table import Mask

N = 20_000
"""Entries of a table of which a few are kept as numbers alone."""


def made(n: int, *, seed: int = 1) -> tuple[Mask, Selected]:
    """Return n of many entries as a mask, and as selected by their numbers."""
    mask = np.zeros(N, np.bool_)
    mask[np.random.default_rng(seed).choice(N, n, replace=False)] = True
    return mask, Selected.of_entries(np.flatnonzero(mask), n_entries=N)


@pytest.mark.parametrize("n", [0, 1, 150, 5000, N])
def test_numbers_and_a_mask_select_the_same(n: int) -> None:
    mask, selected = made(n)
    random = np.random.default_rng(2)
    asked = random.integers(0, N, 3000)
    every = np.arange(N, dtype=np.int32)
    third, few = every[::3], every[5:N:700]
    loud = random.random(N) < 0.3

    assert selected.are_few == (n in (0, 1, 150))
    for one in (selected, Selected.of_mask(mask)):
        assert len(one) == n
        assert one.n_entries == N
        assert one.mask.tolist() == mask.tolist()
        assert one.entries.tolist() == np.flatnonzero(mask).tolist()
        assert one[asked].tolist() == mask[asked].tolist()
        assert one[asked[:0]].tolist() == []
        for ascending in (every, third, few, every[:0]):
            assert one.places_in(ascending).tolist() == np.flatnonzero(mask[ascending]).tolist()
        assert one.holding(lambda at: loud[at]).tolist() == np.flatnonzero(mask & loud).tolist()
        places = random.permutation(n)[:40]
        assert one.at(places).tolist() == np.flatnonzero(mask)[places].tolist()
        assert one.since(15_000).tolist() == [entry for entry in np.flatnonzero(mask).tolist() if entry >= 15_000]


@pytest.mark.parametrize("n", [0, 150, 5000])
def test_what_is_left_without_some_entries_is_the_same_either_way(n: int) -> None:
    mask, selected = made(n)
    gone = np.random.default_rng(3).permutation(N)[: N // 3]
    left = mask.copy()
    left[gone] = False

    for one in (selected, Selected.of_mask(mask)):
        assert one.without(gone).entries.tolist() == np.flatnonzero(left).tolist()
        assert one.mask.tolist() == mask.tolist(), "it stays as it was"


@pytest.mark.parametrize("n", [0, 150, 5000])
def test_it_grows_with_its_table_without_what_ended(n: int) -> None:
    mask, selected = made(n)
    new = np.arange(400) % 7 == 0
    ended = np.array([*np.flatnonzero(mask)[:3].tolist(), 12, N, N + 3])
    expected = np.concatenate([mask, new])
    expected[ended] = False

    for one in (selected, Selected.of_mask(mask)):
        grown = one.grown(new, ended=ended)
        assert grown.n_entries == N + 400
        assert grown.mask.tolist() == expected.tolist()
        assert grown.at(np.arange(len(grown))).tolist() == np.flatnonzero(expected).tolist()
        assert one.grown(new[:0], ended=ended[:0]).mask.tolist() == mask.tolist()


def test_two_that_grow_from_the_same_do_not_see_each_other() -> None:
    mask, _ = made(5000)
    first = Selected.of_mask(mask)
    yes, no = np.array([True]), np.array([False])

    one = first.grown(yes, ended=np.zeros(0, np.int64))
    other = first.grown(no, ended=np.zeros(0, np.int64))
    longer = one.grown(no, ended=np.array([N]))
    again = one.grown(yes, ended=np.zeros(0, np.int64))

    assert first.mask.tolist() == mask.tolist()
    assert [selected.mask[N:].tolist() for selected in (one, other, longer, again)] == [
        [True],
        [False],
        [False, False],
        [True, True],
    ]
    assert [len(selected) for selected in (first, one, other, longer, again)] == [5000, 5001, 5000, 5000, 5002]


def test_to_grow_by_one_takes_no_memory_for_all_the_others() -> None:
    selected = Selected.of_mask(np.ones(200_000, np.bool_))
    nothing = np.zeros(0, np.int64)
    selected = selected.grown(np.array([True]), ended=nothing)

    work = counted(lambda: selected.grown(np.array([True]), ended=nothing))

    assert work.array_bytes < 10_000


@pytest.mark.parametrize("first", [False, True])
def test_which_stands_where_is_known_as_it_grows(first: bool) -> None:
    mask, _ = made(12_000)
    grown, draw, nothing = Selected.of_mask(mask), np.random.default_rng(4), np.zeros(0, np.int64)
    if first:
        grown.at(np.arange(5))
    for n_ended in [0, 0, 3, 0, 1, 0]:
        new = draw.random(50) < 0.8
        ended = np.sort(draw.choice(len(mask), n_ended, replace=False))
        mask = np.concatenate([mask, new])
        mask[ended] = False
        grown = grown.grown(new, ended=ended if n_ended else nothing)

        assert grown.at(np.arange(len(grown))).tolist() == np.flatnonzero(mask).tolist()


def test_to_say_which_stand_where_takes_no_list_of_all() -> None:
    mask = np.ones(200_000, np.bool_)
    mask[::5000] = False
    selected, nothing = Selected.of_mask(mask), np.zeros(0, np.int64)
    selected.at(np.arange(9))
    selected = selected.grown(np.array([True]), ended=nothing)

    work = counted(lambda: selected.grown(np.array([True]), ended=nothing).at(np.arange(200)))

    assert work.array_bytes < 10_000
