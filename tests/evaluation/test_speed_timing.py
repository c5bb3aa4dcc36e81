"""What is reported of repeated measurements."""

from __future__ import annotations

from functools import partial

import pytest

from memory_rag.evaluation.speed_timing import Timing, interleaved, timed


def test_a_timing_is_in_milliseconds() -> None:
    found = Timing.of([0.001, 0.002, 0.003, 0.004, 0.010])

    assert found.median_ms == pytest.approx(3)
    assert found.mean_ms == pytest.approx(4)
    assert found.p95_ms == pytest.approx(8.8)
    assert found.least_ms == pytest.approx(1)
    assert found.n == 5


def test_the_least_of_several_cases_is_the_median_of_each_ones_least() -> None:
    # Two rounds over three cases: their least are 1, 2 and 9 ms.
    found = Timing.of([[0.001, 0.050, 0.009], [0.070, 0.002, 0.030]])

    assert found.least_ms == pytest.approx(2)
    assert found.n == 6


def test_a_timing_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one measurement"):
        Timing.of([])


def test_ways_take_turns_on_each_case() -> None:
    called: list[tuple[str, str]] = []
    told: list[tuple[int, int]] = []

    def way(name: str, case: str) -> None:
        called.append((name, case))

    found = interleaved(
        {name: partial(way, name) for name in ("ours", "theirs")},
        ["q1", "q2"],
        rounds=2,
        progress=lambda done, total: told.append((done, total)),
    )

    once = [("ours", "q1"), ("theirs", "q1"), ("ours", "q2"), ("theirs", "q2")]
    assert called == [*once, *once]
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert {name: timing.n for name, timing in found.items()} == {"ours": 4, "theirs": 4}


def test_a_call_gets_its_arguments() -> None:
    got: list[object] = []

    assert timed(lambda *given, **named: got.extend([given, named]), 1, 2, mode="x") >= 0
    assert got == [(1, 2), {"mode": "x"}]
