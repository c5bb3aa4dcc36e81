"""How fast other programs' histories are read and stored: every format, the same invented words, in CPU time."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from memory_rag.evaluation.markdown import amount, markdown_table
from memory_rag.evaluation.speed_corpus import Corpus
from memory_rag.evaluation.speed_histories import WRITERS, write_history
from memory_rag.importers import open_import
from memory_rag.turns import Turn

TURNS: Final = 4000
ROUNDS: Final = 4
GOAL: Final = 15_000
"""Turns parsed and stored in a second, embedding apart."""
Store = Callable[[Path, Path], int]
"""Stores what lies at a path (the second) in a new memory in a folder (the first); returns how many turns it has."""


def import_trial(
    store: Store,
    *,
    scratch: Path,
    seed: int,
    n_turns: int = TURNS,
    rounds: int = ROUNDS,
    tell: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> dict[str, Any]:
    """Return, for every format, how many turns are read in a CPU second, and how many are read and stored.

    The rounds go through all formats, one after the other, so that all meet the same load.
    """
    load_before = os.getloadavg()[0]
    paths = {
        name: write_history(name, scratch / "histories" / name, corpus=Corpus(seed=seed), n_turns=n_turns)
        for name in WRITERS
    }
    read: dict[str, list[float]] = {name: [] for name in paths}
    stored: dict[str, list[float]] = {name: [] for name in paths}
    n_stored: dict[str, int] = {}
    for repetition in range(rounds):
        for number, (name, path) in enumerate(paths.items(), 1):
            began = time.process_time()
            n_read = _read(path)
            read[name].append(n_read / (time.process_time() - began))
            memory = scratch / "memory"
            began = time.process_time()
            n_stored[name] = store(memory, path)
            stored[name].append(n_stored[name] / (time.process_time() - began))
            shutil.rmtree(memory)
            tell("importing", repetition * len(paths) + number, rounds * len(paths))
    return {
        "load_average": [load_before, os.getloadavg()[0]],
        "formats": {
            name: {
                "n_turns": n_stored[name],
                "n_bytes": sum(file.stat().st_size for file in path.rglob("*") if file.is_file()),
                "read_per_cpu_s": _of_rounds(read[name]),
                "stored_per_cpu_s": _of_rounds(stored[name]),
            }
            for name, path in paths.items()
        },
    }


def import_table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of a result of importing, by its name."""
    (found,) = results.values()
    result, made = found["result"], found["provenance"]
    rows = []
    for name, measured in sorted(result["formats"].items()):
        read, stored = measured["read_per_cpu_s"], measured["stored_per_cpu_s"]
        rows.append(
            (
                f"`{name}`",
                f"{measured['n_bytes'] / measured['n_turns']:,.0f}",
                f"{read['best']:,.0f}",
                f"{stored['best']:,.0f}",
                f"{stored['median']:,.0f}",
                f"{stored['best'] / read['best']:.2f}",
                "met" if stored["best"] >= GOAL else "**not met**",
            )
        )
    head = (
        "format",
        "bytes a turn",
        "read, turns per CPU s",
        "read and stored",
        "its median",
        "reading's share",
        f"≥ {GOAL:,}",
    )
    machine = made["machine"]
    before, after = result["load_average"]
    note = (
        f"{machine['processor']}, {machine['cores']} cores, load average {amount(before)} before and {amount(after)} "
        f"after, commit {made['commit']}. Best of {len(stored['rounds'])} rounds of {measured['n_turns']:,} turns."
    )
    return f"{markdown_table(head, rows)}\n\n{note}"


def _read(path: Path) -> int:
    with open_import(path) as opened:
        return sum(isinstance(item, Turn) for file in opened for item in file)


def _of_rounds(values: list[float]) -> dict[str, Any]:
    return {"median": float(np.median(values)), "best": max(values), "rounds": values}
