"""A benchmark of one's own memory does work in proportion to what was said, however long single turns are."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from memory_rag.memory import Memory
from memory_rag.trials.benchmarking import run_benchmark

LETTERS = "abcdefghijklmnopqrstuvwxyz"
N_LONG = 4
N_SHORT = 40


def words_of(rng: random.Random, n: int) -> str:
    """Return words that hardly any other turn has."""
    return " ".join("".join(rng.choices(LETTERS, k=rng.randint(4, 9))) for _ in range(n))


def calls_of_a_run(folder: Path, *, n_words: int) -> int:
    """Return how many calls, of Python and of C, the benchmark of a memory takes; its long turns have so many words."""
    rng = random.Random(1)
    with Memory.open(folder / "memory", embedder="none", language="en") as memory:
        for place in range(N_SHORT + N_LONG):
            memory.add(
                words_of(rng, n_words if place % (N_SHORT // N_LONG) == 5 else 30),
                conversation_id=f"talk {place % 20 // 10}",
            )
        counted = 0

        def count(_frame: FrameType, event: str, _argument: Any) -> None:
            nonlocal counted
            counted += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            report = run_benchmark("own", memory=memory, n=12, work=folder / "work").of("memory")
        finally:
            sys.setprofile(None)
    assert report["dataset"]["n_queries"] == 12
    assert {"overlap", "rank-bm25", "keyword", "hybrid"} <= set(report["retrievers"])
    return counted


def test_turns_four_times_as_long_take_four_times_the_work_at_most(tmp_path: Path) -> None:
    calls_of_a_run(tmp_path / "first", n_words=30)  # What is loaded once is loaded.
    # What questions, rankings and statistics take whatever was said.
    least = calls_of_a_run(tmp_path / "none", n_words=30)
    long = calls_of_a_run(tmp_path / "long", n_words=6_000)
    longer = calls_of_a_run(tmp_path / "longer", n_words=24_000)

    assert long > 2 * least
    assert longer - least <= 4 * (long - least) * 1.05
