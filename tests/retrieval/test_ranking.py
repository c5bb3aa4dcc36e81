"""The one place that sorts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.ranking import Hit, Ranking, best_entries, best_first, nth_best
from memory_rag.turns import Span
from tests.retrieval.talks import turn

FEW_SCORES = st.sampled_from([-1.5, 0.0, 0.5, 2.0])


def test_the_best_come_first_and_ties_by_id_whatever_order_they_came_in() -> None:
    scored = [("b", 1.0), ("c", 2.0), ("a", 1.0), ("d", -1.0)]

    assert best_first(scored, k=10) == [("c", 2.0), ("a", 1.0), ("b", 1.0), ("d", -1.0)]
    assert best_first(reversed(scored), k=2) == [("c", 2.0), ("a", 1.0)]
    assert best_first([], k=3) == []


@given(
    st.lists(FEW_SCORES, max_size=30).flatmap(
        lambda scores: st.tuples(st.just(scores), st.permutations(range(len(scores))))
    ),
    st.integers(1, 40),
)
def test_the_best_entries_are_the_best_of_their_ids(drawn: tuple[list[float], list[int]], k: int) -> None:
    scores, names = drawn
    ids = [f"t{name:02}" for name in names]

    found = best_entries(np.arange(len(scores)), np.array(scores), k=k, turn_id=ids.__getitem__)

    assert [(ids[entry], score) for entry, score in found] == best_first(zip(ids, scores, strict=True), k=k)


@pytest.mark.parametrize("n_values", [1, 16_383, 16_384, 16_385, 70_001])
@pytest.mark.parametrize("n", [1, 10, 300, 1023, 1025, 16_000])
@pytest.mark.parametrize("spread", ["all differ", "many tie", "all tie", "best side by side", "rising", "infinite"])
def test_the_nth_best_is_the_one_that_sorting_finds(n_values: int, n: int, spread: str) -> None:
    random = np.random.default_rng(n_values + n)
    n = min(n, n_values)
    some = random.random(n_values)
    values = {
        "all differ": random.permutation(n_values).astype(np.float64),
        "many tie": np.floor(some * 5),
        "all tie": np.zeros(n_values),
        "best side by side": np.where(np.arange(n_values) < n, 2.0, some),
        "rising": np.arange(n_values) - n_values / 2,
        "infinite": np.where(some < 0.5, -np.inf, some),
    }[spread]

    assert nth_best(values, n) == sorted(values.tolist(), reverse=True)[n - 1]


def test_a_ranking_is_a_sequence_of_hits() -> None:
    hits = tuple(Hit(turn("x", turn_id=f"t{n}"), 2.0 - n, n + 1, Span(0, 1)) for n in range(2))
    ranking = Ranking("x", "keyword", hits)

    assert list(ranking) == list(hits)
    assert len(ranking) == 2
    assert ranking[0] is hits[0]
    assert ranking.turn_ids == ("t0", "t1")
    assert Ranking("x", "keyword").evidence == "none"
