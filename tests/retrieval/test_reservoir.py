"""The sample that hardly changes while what it is drawn from grows."""

from __future__ import annotations

import random

import numpy as np
import pytest

from memory_rag.retrieval.reservoir import Reservoir


@pytest.mark.parametrize("n", [0, 1, 7, 8])
def test_of_few_numbers_all_are_drawn(n: int) -> None:
    assert sorted(Reservoir.of(n, size=8).drawn.tolist()) == list(range(n))


@pytest.mark.parametrize("seed", range(10))
def test_a_sample_that_grew_is_the_one_that_is_drawn_anew(seed: int) -> None:
    chance = random.Random(seed)
    grown = Reservoir.of(0, size=8)
    for _ in range(30):
        grown = grown.grown(grown.n + chance.choice([0, 1, 1, 2, 9, 300]))

        assert grown.drawn.tolist() == Reservoir.of(grown.n, size=8).drawn.tolist()


def test_one_number_more_takes_one_place_at_most_and_mostly_none() -> None:
    before, n_same = Reservoir.of(1000, size=16), 0
    for n in range(1001, 2001):
        now = before.grown(n)
        taken = np.flatnonzero(now.drawn != before.drawn)
        assert now.drawn[taken].tolist() in ([], [n - 1])
        n_same += now.drawn is before.drawn
        before = now

    # 16 times the sum of 1 / i from 1,001 to 2,000: 11 numbers are expected to take a place.
    assert 975 <= n_same <= 998


def test_every_number_has_the_same_chance() -> None:
    tenths = np.histogram(Reservoir.of(100_000, size=5000).drawn, bins=10, range=(0, 100_000))[0]
    remainders = np.bincount(Reservoir.of(100_000, size=5000).drawn % 7)

    # Each is binomial: 500 and 714, with deviations of 21 and 25.
    assert np.abs(tenths - 500).max() < 4 * 21
    assert np.abs(remainders - 5000 / 7).max() < 4 * 25


def test_no_number_is_drawn_twice() -> None:
    assert len(set(Reservoir.of(30_000, size=256).drawn.tolist())) == 256
