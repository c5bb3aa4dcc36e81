"""A request that failed is made again after growing waits, and after the wait that the server asks for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from memory_rag.embedding.retry import PassingFaultError, RetryPolicy, asked_wait_s
from memory_rag.errors import EmbedderError, SettingsError

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


def failing(*faults: PassingFaultError) -> Callable[[], str]:
    left = list(faults)

    def ask() -> str:
        if left:
            raise left.pop(0)
        return "answer"

    return ask


def test_the_answer_of_a_later_attempt_is_the_answer() -> None:
    slept: list[float] = []
    policy = RetryPolicy(seed=7, sleep=slept.append)

    assert policy.run(failing(*[PassingFaultError("busy")] * 3)) == "answer"
    assert all(low <= wait <= 2 * low for wait, low in zip(slept, (0.25, 0.5, 1.0), strict=True))


def test_equal_seeds_wait_equally_long() -> None:
    runs: list[list[float]] = [[], []]
    for slept in runs:
        RetryPolicy(seed=7, sleep=slept.append).run(failing(*[PassingFaultError("busy")] * 4))

    assert runs[0] == runs[1]


def test_a_server_that_asks_for_a_wait_gets_it() -> None:
    slept: list[float] = []

    RetryPolicy(seed=7, sleep=slept.append).run(failing(PassingFaultError("busy", after_s=20)))

    assert slept == [20]


def test_waits_grow_to_the_longest_and_no_further() -> None:
    slept: list[float] = []
    policy = RetryPolicy(attempts=9, first_wait_s=1, longest_wait_s=4, seed=7, sleep=slept.append)

    policy.run(failing(*[PassingFaultError("busy")] * 8))

    assert max(slept) <= 4
    assert min(slept[2:]) >= 2


def test_the_last_fault_is_told_with_the_number_of_attempts() -> None:
    policy = RetryPolicy(attempts=3, first_wait_s=0, longest_wait_s=0, sleep=lambda wait_s: None)

    with pytest.raises(EmbedderError, match=r"^busy; tried 3 times within 0 s, try again later$"):
        policy.run(failing(*[PassingFaultError("busy")] * 3))
    with pytest.raises(EmbedderError, match=r"^busy; tried once, try again later$"):
        RetryPolicy(attempts=1).run(failing(PassingFaultError("busy")))


def test_an_hour_is_not_waited_out_but_told() -> None:
    slept: list[float] = []

    with pytest.raises(EmbedderError, match=r"^busy; the server asks to wait 3600 s, try again then$"):
        RetryPolicy(sleep=slept.append).run(failing(PassingFaultError("busy", after_s=3600)))
    assert slept == []


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Sat, 01 Mar 2025 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sat, 01 Mar 2025 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_a_wait_is_told_in_seconds_milliseconds_or_as_a_date(headers: dict[str, str], wait_s: float | None) -> None:
    assert asked_wait_s(headers, now=NOON) == wait_s


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"first_wait_s": -1}, {"first_wait_s": 5, "longest_wait_s": 1}])
def test_a_policy_without_an_attempt_or_with_waits_that_shrink_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match="retries need attempts >= 1"):
        RetryPolicy(**wrong)  # type: ignore[arg-type]
