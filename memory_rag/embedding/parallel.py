"""Work on several cores with one engine thread each.

Threads of our own instead of the engines': OpenMP's and ONNX Runtime's wait for each other by spinning, and
on a busy machine one query took 1.2 s with two of them against 18 ms with one. An engine with one thread
leaves none behind, so a forked process can go on with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from memory_rag.errors import SettingsError

Job = TypeVar("Job")
Done = TypeVar("Done")


def usable_cores() -> int:
    """Return how many cores this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(threads: int) -> int:
    """Return how many threads a setting means: itself, and for 0 one a core.

    Raises:
        SettingsError: a negative number.
    """
    if threads < 0:
        raise SettingsError(f"threads must be at least 0 (one a core), got {threads}")
    return threads or usable_cores()


def in_parallel(work: Callable[[Job], Done], jobs: Sequence[Job], *, threads: int) -> Iterator[Done]:
    """Yield what ``work`` makes of each job, in the order of the jobs."""
    if threads == 1 or len(jobs) < 2:
        yield from map(work, jobs)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(threads, len(jobs)), thread_name_prefix="embed") as pool:
        results: Iterable[Done] = pool.map(work, jobs)
        yield from results
