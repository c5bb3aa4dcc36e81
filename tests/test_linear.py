"""What tells linear work from other work tells it."""

from __future__ import annotations

import time

import pytest

from tests import linear


def burn(cpu_s: float) -> None:
    until = time.thread_time() + cpu_s
    while time.thread_time() < until:
        pass


def test_work_in_proportion_to_the_length_is_told_from_such_that_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "ENOUGH_CPU_S", 0.0)

    assert linear.grows_with_its_length(lambda text: burn(len(text) * 1e-4), "a" * 800)
    assert not linear.grows_with_its_length(lambda text: burn(len(text) ** 2 * 5e-7), "a" * 800)


def test_what_takes_less_than_a_second_is_not_compared() -> None:
    lengths: list[int] = []

    assert linear.grows_with_its_length(lambda text: lengths.append(len(text)), "a" * 800)
    assert lengths == [800]
