"""What only a fresh process shows: how long opening takes, what it holds, and how often an add waits for the disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memory_rag.evaluation.speed_peer import PeerProcess
from memory_rag.evaluation.speed_peers import Often
from memory_rag.evaluation.speed_shared import Question


def opened_cold(
    openings: Mapping[str, Callable[[], PeerProcess]], question: Question, often: Often, *, our_way: str = "search"
) -> dict[str, dict[str, Any]]:
    """Start each in a fresh process, in turns, and time its way from its start to its first answer.

    The most memory that it held until then stands beside; the first of each kind fills the caches and doesn't count.
    """
    seconds: dict[str, list[float]] = {name: [] for name in openings}
    cpu: dict[str, list[float]] = {name: [] for name in openings}
    opening: dict[str, list[float]] = {name: [] for name in openings}
    peak: dict[str, list[float]] = {name: [] for name in openings}
    spent: dict[str, float] = dict.fromkeys(openings, 0.0)
    for _ in range(often.openings + 1):
        for name, start in openings.items():
            if spent[name] > often.opening_budget_s:
                continue
            with start() as process:
                opened = process.ask("open")
                way = our_way if name == "us" else "search"
                answered = process.ask(way, text=question.text, vector=question.vector)
                seconds[name].append(time.perf_counter() - process.began)
                spent[name] += seconds[name][-1]
                cpu[name].append(answered.process_cpu_s)
                opening[name].append(opened.s + answered.s)
                peak[name].append(answered.peak_mib or 0.0)
    return {
        name: {
            "s": float(np.median(counted(seconds[name]))),
            "rounds_s": counted(seconds[name]),
            "cpu_s": float(np.median(counted(cpu[name]))),
            "of_it_opening_s": float(np.median(counted(opening[name]))),
            "peak_mib": max(peak[name]),
        }
        for name in openings
    }


def counted(values: Sequence[float]) -> list[float]:
    """Return the values without the first, or all where there is but one."""
    return list(values[1:] or values)


def waits_for_disk(
    start: Callable[[tuple[str, ...]], PeerProcess],
    side_turns: Iterator[tuple[Any, Any]],
    trace: Path,
    *,
    strace: str,
    n: int = 3,
) -> float:
    """Return how often an add waits for the disk: fsync, fdatasync or msync a turn, as strace counts them."""
    command = (strace, "-f", "-qq", "-e", "trace=fsync,fdatasync,msync,sync_file_range", "-o", str(trace))
    with start(command) as process:
        process.ask("open")
        turns = [next(side_turns) for _ in range(n + 1)]
        # The first one may make what the next ones find made.
        process.ask("add", turn=turns[0][0], vector=turns[0][1])
        before = _calls(trace)
        for turn, vector in turns[1:]:
            process.ask("add", turn=turn, vector=vector)
        after = _calls(trace)
        for turn, _vector in turns:
            process.ask("delete", turn_id=turn["id"])
    return (after - before) / n


def _calls(trace: Path) -> int:
    return sum("sync(" in line for line in trace.read_text(encoding="utf-8", errors="replace").splitlines())
