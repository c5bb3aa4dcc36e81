"""Work on several cores comes back in the order in which it was given."""

from __future__ import annotations

import threading

import pytest

from memory_rag.embedding.parallel import in_parallel, thread_count, usable_cores
from memory_rag.errors import SettingsError


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_results_come_in_the_order_of_the_jobs(threads: int) -> None:
    assert list(in_parallel(lambda job: job * 2, list(range(20)), threads=threads)) == list(range(0, 40, 2))


def test_two_threads_work_at_a_time() -> None:
    both = threading.Barrier(2, timeout=10)

    assert list(in_parallel(lambda job: both.wait() >= 0, [1, 2], threads=2)) == [True, True]


def test_an_error_in_the_work_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        list(in_parallel(lambda job: 1 // job, [1, 0, 2], threads=2))


def test_zero_threads_mean_one_a_core_and_a_negative_number_means_nothing() -> None:
    assert thread_count(0) == usable_cores() >= 1
    assert thread_count(3) == 3
    with pytest.raises(SettingsError, match="threads must be at least 0"):
        thread_count(-1)
