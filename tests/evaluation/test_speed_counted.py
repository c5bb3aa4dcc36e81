"""What a call does is counted, the same each time, and more of it is told."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import numpy as np
import pytest

from memory_rag.evaluation.speed_counted import Work, counted

BEFORE = Work(lines=100, array_bytes=8000, sql_steps=20)


def test_every_line_is_counted_once_for_each_time_it_runs() -> None:
    def work() -> None:
        total = 0
        for number in range(10):
            total += number

    # The assignment, ten turns of the loop's two lines, and the loop's end.
    assert counted(work).lines == 1 + 10 * 2 + 1


def test_an_array_is_counted_though_it_is_given_back_at_once() -> None:
    ones = np.ones(10_000, np.float32)

    def work() -> None:
        (ones + ones).sum()
        (ones * ones).sum()

    assert 80_000 <= counted(work).array_bytes < 90_000


def test_few_bytes_are_not_counted_as_arrays() -> None:
    def work() -> list[int]:
        kept = [1]
        kept.append(2)
        return kept

    assert counted(work).array_bytes == 0


def test_steps_of_sqlite_are_counted_on_the_connections_that_are_given() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE numbers (n)")
    connection.executemany("INSERT INTO numbers VALUES (?)", [(n,) for n in range(100)])

    def work() -> None:
        connection.execute("SELECT sum(n) FROM numbers").fetchall()

    steps = counted(work, [connection]).sql_steps

    assert 300 <= steps < 400
    assert counted(work, [connection]).sql_steps == steps
    assert counted(work).sql_steps == 0
    connection.close()


def test_a_call_that_fails_leaves_no_counting_behind() -> None:
    def work() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        counted(work)

    assert counted(lambda: None).lines == 1


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (Work(115, 9200, 23), []),
        (Work(116, 8000, 20), ["lines: 100 -> 116 (+16%)"]),
        (Work(50, 12_096, 24), ["sql steps: 20 -> 24 (+20%)"]),
        (Work(50, 12_097, 20), ["array bytes: 8,000 -> 12,097 (+51%)"]),
    ],
)
def test_what_grew_by_more_than_15_percent_is_told(now: Work, told: list[str]) -> None:
    assert now.more_than(BEFORE) == told


def _loop(n: int) -> int:
    total = 0
    for number in range(n):
        total += number
    return total


@pytest.mark.parametrize(
    ("slowed", "what"),
    [
        (lambda numbers, connection: _loop(200), "lines"),
        (lambda numbers, connection: numbers.astype(np.float64), "array bytes"),
        (lambda numbers, connection: connection.execute("SELECT sum(n) FROM numbers").fetchall(), "sql steps"),
    ],
    ids=["more Python", "one more pass over all numbers", "one more statement"],
)
def test_a_planted_slow_down_of_each_kind_is_seen(
    slowed: Callable[[np.ndarray, sqlite3.Connection], object], what: str
) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE numbers (n)")
    connection.executemany("INSERT INTO numbers VALUES (?)", [(n,) for n in range(20)])
    numbers = np.arange(5000, dtype=np.float32)

    def work() -> None:
        _loop(900)
        for _ in range(4):
            np.sort(numbers)
            connection.execute("SELECT max(n) FROM numbers").fetchall()

    def slower() -> None:
        work()
        slowed(numbers, connection)

    before = counted(work, [connection])

    assert counted(work, [connection]).more_than(before, tolerance=0.05) == []
    assert [told.partition(":")[0] for told in counted(slower, [connection]).more_than(before)] == [what]
    connection.close()
