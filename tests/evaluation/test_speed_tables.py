"""Goals are met at every size or not met, and what wasn't measured isn't met."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory_rag.evaluation.speed_tables import GOALS, SPEED_TABLES, Goal, speed_tables
from memory_rag.evaluation.tables import load_results

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
        (5, "ms", False, 2),
        (140, "", True, 1),
        (80, "", True, 1),
    ]


def test_a_result_makes_the_tables_that_are_named_as_its_own() -> None:
    found = load_results(Path(__file__).parents[2] / "eval" / "results")["speed"]

    assert tuple(speed_tables(found)) == SPEED_TABLES


def test_a_prompt_stands_beside_its_search_at_every_size_it_was_measured_at() -> None:
    found: dict[str, Any] = load_results(Path(__file__).parents[2] / "eval" / "results")["speed"]
    for measured in found["result"]["sizes"].values():
        measured.pop("prompt", None)
    assert speed_tables(found)["speed-prompts"].startswith("Not measured yet")

    search, context = ({"median_ms": ms, "p95_ms": ms + 1, "least_ms": ms} for ms in (3.0, 7.5))
    added = {"median_ms": 4.5, "least_ms": 4.0}
    found["result"]["sizes"]["100000"]["prompt"] = {"search": search, "context": context, "added": added}

    assert speed_tables(found)["speed-prompts"].splitlines()[2:] == [
        "| 100,000 | 3.00 / 4.00 | 7.50 / 8.50 | 4.50 | 4.00 |"
    ]
