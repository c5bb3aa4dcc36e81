"""Goals are met at every size or not met, and what wasn't measured isn't met."""

from __future__ import annotations

import pytest

from memory_rag.evaluation.speed_tables import GOALS, Goal

ADD = Goal("add", 0.15, "ms", (("0", ("sizes", "0", "add")), ("10,000", ("sizes", "10000", "add"))))
RATE = Goal("rate", 140, "", (("", ("embedding", "rate")),), at_least=True)


def test_a_goal_is_met_when_it_is_met_at_every_size() -> None:
    assert ADD.verdict({"sizes": {"0": {"add": 0.15}, "10000": {"add": 0.1}}}) == "met"
    assert ADD.verdict({"sizes": {"0": {"add": 0.1}, "10000": {"add": 0.151}}}) == "**not met**"


def test_a_goal_that_was_measured_at_one_size_only_is_not_measured() -> None:
    result = {"sizes": {"0": {"add": 0.1}}}

    assert ADD.verdict(result) == "not measured"
    assert ADD.measured(result) == [0.1, None]


def test_a_rate_has_to_be_reached_and_not_undercut() -> None:
    assert RATE.verdict({"embedding": {"rate": 140}}) == "met"
    assert RATE.verdict({"embedding": {"rate": 139.9}}) == "**not met**"


def test_the_best_measurement_stands_beside_the_median() -> None:
    goal = Goal("add", 1, "ms", (("", ("add", "median_ms")),))

    assert goal.at_best({"add": {"median_ms": 2, "least_ms": 0.5}}) == [0.5]
    assert goal.verdict({"add": {"median_ms": 2, "least_ms": 0.5}}) == "**not met**"


def test_growing_slower_with_size_is_measured_against_an_empty_memory() -> None:
    flat = next(goal for goal in GOALS if "none stored" in goal.what)
    sizes = {
        str(size): {"add": {"normal": {"median_ms": took}}} for size, took in ((0, 0.1), (10_000, 0.11), (100_000, 0.2))
    }

    assert flat.measured({"sizes": sizes}) == pytest.approx([1.1, 2.0])
    assert flat.verdict({"sizes": sizes}) == "**not met**"


def test_every_goal_of_speed_has_its_row() -> None:
    assert [(goal.limit, goal.unit, goal.at_least, len(goal.places)) for goal in GOALS] == [
        (50, "ms", False, 1),
        (400, "ms", False, 1),
        (1000, "ms", False, 1),
        (0.15, "ms", False, 3),
        (1, "ms", False, 3),
        (1.5, "", False, 2),
        (1.5, "ms", False, 1),
        (15, "ms", False, 1),
        (140, "", True, 1),
        (80, "", True, 1),
    ]
