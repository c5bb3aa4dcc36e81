"""Intervals and tests, by hand and against every possible outcome."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.evaluation.statistics import (
    Interval,
    Outcomes,
    bootstrap_by_cluster,
    bootstrap_columns,
    holm,
    mcnemar_test,
    randomization_tests,
)


def test_an_interval_of_equal_values_is_that_value() -> None:
    assert by_query([0.5] * 7) == Interval(0.5, 0.5, 0.5, 7)


def test_the_interval_of_two_queries_spans_both() -> None:
    # Of the four equally likely resamples of 0 and 1 a quarter is all 0 and a quarter all 1.
    assert by_query([0.0, 1.0]) == Interval(0.5, 0.0, 1.0, 2)


def test_the_interval_of_many_coin_tosses_is_the_normal_one() -> None:
    interval = by_query([0.0, 1.0] * 200)

    # 1.96 * sqrt(.25 / 400) = .049
    assert interval.low == pytest.approx(0.451, abs=0.003)
    assert interval.high == pytest.approx(0.549, abs=0.003)


def test_a_seed_gives_one_interval_and_another_seed_another() -> None:
    values = [n / 50 for n in range(50)]

    assert by_query(values, seed=1) == by_query(values, seed=1)
    assert by_query(values, seed=1) != by_query(values, seed=2)


def test_conversations_that_rise_and_fall_together_give_a_wider_interval() -> None:
    values = [float(conversation % 2) for conversation in range(10) for _ in range(40)]
    clusters = [f"c{conversation}" for conversation in range(10) for _ in range(40)]

    by_cluster, by_each = bootstrap_by_cluster(values, clusters=clusters), by_query(values)

    assert by_cluster.mean == by_each.mean == 0.5
    # .25 / 10 instead of .25 / 400: sqrt(40) = 6.3 times as wide.
    assert by_cluster.high - by_cluster.low == pytest.approx(6.3 * (by_each.high - by_each.low), rel=0.1)


def test_a_conversation_with_more_queries_weighs_more() -> None:
    # Resamples of two conversations: mean 0, 1 or (both) 3/4 of the queries.
    interval = bootstrap_by_cluster([1.0, 1.0, 1.0, 0.0], clusters=["a", "a", "a", "b"])

    assert interval == Interval(0.75, 0.0, 1.0, 4)


def test_a_single_conversation_has_nothing_to_resample() -> None:
    assert bootstrap_by_cluster([0.0, 1.0], clusters=["a", "a"]) == Interval(0.5, 0.5, 0.5, 2)


def test_conversations_that_differ_only_in_a_trailing_nul_are_two() -> None:
    assert bootstrap_by_cluster([0.0, 1.0], clusters=["a", "a\0"]) == Interval(0.5, 0.0, 1.0, 2)


def test_the_order_of_the_queries_does_not_matter_to_an_interval_by_conversation() -> None:
    values, clusters = [0.0, 0.25, 1.0, 0.5], ["b", "a", "c", "a"]

    assert bootstrap_by_cluster(values, clusters=clusters) == bootstrap_by_cluster(
        values[::-1], clusters=clusters[::-1]
    )


def test_columns_get_the_intervals_that_they_get_alone() -> None:
    values = np.random.default_rng(3).random((40, 3))
    clusters = [f"c{n % 8}" for n in range(40)]

    together = bootstrap_columns(values, clusters=clusters, seed=5)

    for column, interval in enumerate(together):
        alone = bootstrap_by_cluster(values[:, column], clusters=clusters, seed=5)
        assert interval.as_json() == pytest.approx(alone.as_json())


@pytest.mark.parametrize("n", [30, 2_001])
def test_an_interval_is_that_of_resamples_drawn_one_after_the_other(n: int) -> None:
    values = np.random.default_rng(7).random(n)
    rng = np.random.default_rng(4)
    means = np.concatenate([values[rng.integers(0, n, (500, n))].mean(axis=1) for _ in range(20)])

    # Twice: resamples of few clusters are kept, those of many are drawn anew.
    for _ in range(2):
        (found,) = bootstrap_columns(values[:, None], clusters=[f"{place:05}" for place in range(n)], seed=4)
        assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])))


def test_no_values_have_no_interval() -> None:
    with pytest.raises(ValueError, match="a missing value is not 0"):
        by_query([])
    with pytest.raises(ValueError, match="2 values need as many clusters, got 1"):
        bootstrap_by_cluster([0.0, 1.0], clusters=["a"])


@pytest.mark.parametrize("n", [1, 2, 5, 9, 13])
def test_few_queries_that_differ_get_the_p_of_every_sign_pattern(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.integers(0, 4, n) / 3, rng.integers(0, 4, n) / 3

    assert p_of(a, b) == pytest.approx(_enumerated(a - b))


def test_more_queries_get_nearly_the_p_of_every_sign_pattern() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 4, 15) / 3, np.zeros(15)
    b[:4] = 1.5

    exact = _enumerated(a - b)

    assert 0.01 < exact < 0.5
    assert p_of(a, b) == pytest.approx(exact, abs=0.01)


def test_queries_that_do_not_differ_change_no_p() -> None:
    a, b = [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]

    assert p_of(a, b) == 2 / 2**3
    assert p_of(a + [0.5] * 100, b + [0.5] * 100) == 2 / 2**3


def test_the_least_p_of_a_randomization_test_is_never_0() -> None:
    assert p_of([1.0] * 100, [0.0] * 100) == 1 / 10_001


def test_identical_rankings_have_p_1() -> None:
    assert p_of([0.2, 0.7], [0.2, 0.7]) == 1.0


def test_a_difference_has_the_same_p_from_both_sides() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random(60), rng.random(60)

    assert p_of(a, b, seed=4) == p_of(b, a, seed=4)


def test_columns_get_the_p_that_they_get_alone() -> None:
    differences = np.random.default_rng(2).normal(0.1, 1, (50, 3))
    differences[5:, 2] = 0

    together = randomization_tests(differences, seed=9)

    assert together == [p_of(differences[:, column], np.zeros(50), seed=9) for column in range(3)]


@pytest.mark.parametrize(
    ("won", "lost", "expected"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 0, 2 / 32),
        # 2 * (1 + 10 + 45) / 1024
        (8, 2, 112 / 1024),
        (2, 8, 112 / 1024),
        (3, 3, 1.0),
        # Fleiss's table is chi-squared; exact: 2 * (1 + 12 + 66 + 220) / 4096
        (9, 3, 598 / 4096),
    ],
)
def test_mcnemar_is_the_binomial_of_the_queries_that_differ(won: int, lost: int, expected: float) -> None:
    a = [1.0] * won + [0.0] * lost + [1.0] * 4 + [0.0] * 3
    b = [0.0] * won + [1.0] * lost + [1.0] * 4 + [0.0] * 3

    assert mcnemar_test(a, b) == pytest.approx(expected)


def test_mcnemar_holds_for_thousands_of_queries() -> None:
    assert mcnemar_test([1.0] * 3000 + [0.0] * 2000, [0.0] * 3000 + [1.0] * 2000) < 1e-40
    assert mcnemar_test([1.0] * 1500 + [0.0] * 1500, [0.0] * 1500 + [1.0] * 1500) == 1.0


def test_mcnemar_refuses_shares() -> None:
    with pytest.raises(ValueError, match=r"use success@k or all_found@k"):
        mcnemar_test([0.5, 1.0], [0.0, 1.0])


def test_holm_is_worked_out_by_hand() -> None:
    # .01 * 4, .02 * 3, .03 * 2 raised to the .06 before it, .04 * 1 likewise
    assert holm({"a": 0.04, "b": 0.01, "c": 0.03, "d": 0.02}) == pytest.approx(
        {"a": 0.06, "b": 0.04, "c": 0.06, "d": 0.06}
    )
    assert holm({"a": 0.6, "b": 0.5}) == {"a": 1.0, "b": 1.0}
    assert holm({"a": 0.03}) == {"a": 0.03}
    assert holm({}) == {}


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8))
def test_holm_never_lowers_a_p_and_keeps_their_order(ps: dict[str, float]) -> None:
    adjusted = holm(ps)

    assert list(adjusted) == list(ps)
    assert all(ps[name] <= adjusted[name] <= 1 for name in ps)
    by_p = sorted(ps, key=lambda name: ps[name])
    assert [adjusted[name] for name in by_p] == sorted(adjusted.values())


def test_outcomes_count_who_succeeds_and_what_either_reaches() -> None:
    outcomes = Outcomes.of([1, 1, 0, 0, 0.5], [1, 0, 1, 0, 0])

    assert outcomes == Outcomes(won=2, lost=1, both=1, neither=1)
    assert outcomes.union == 4 / 5


@pytest.mark.parametrize("test", [mcnemar_test, Outcomes.of])
def test_a_paired_comparison_needs_the_same_queries(test: object) -> None:
    assert callable(test)
    for a, b in (([1.0], [1.0, 0.0]), ([], [])):
        with pytest.raises(ValueError, match="the same queries on both sides"):
            test(a, b)


def test_a_randomization_test_needs_queries() -> None:
    with pytest.raises(ValueError, match="at least one query"):
        randomization_tests(np.zeros((0, 2)))


def by_query(values: Sequence[float], *, seed: int = 0) -> Interval:
    """Return the interval of values whose queries are resampled one by one."""
    return bootstrap_by_cluster(values, clusters=[str(row) for row in range(len(values))], seed=seed)


def p_of(a: npt.ArrayLike, b: npt.ArrayLike, *, seed: int = 0) -> float:
    """Return the p of the difference of two lists of values."""
    (p,) = randomization_tests(np.subtract(a, b, dtype=np.float64)[:, None], seed=seed)
    return p


def _enumerated(difference: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    signs = product([-1, 1], repeat=len(difference))
    sums = [abs(sum(sign * d for sign, d in zip(pattern, difference, strict=True))) for pattern in signs]
    return float(sum(found >= abs(difference.sum()) - 1e-9 for found in sums) / len(sums))
