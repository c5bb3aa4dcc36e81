"""How fast other programs' histories are read and stored: every format, the same invented words, in CPU time."""

from __future__ import annotations

import os
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from memory_rag.evaluation.markdown import amount, markdown_table
from memory_rag.evaluation.speed_corpus import Corpus
from memory_rag.evaluation.speed_histories import WRITERS, write_history
from memory_rag.importers import open_import
from memory_rag.turns import Turn

TURNS: Final = 12_000
ROUNDS: Final = 4
GOAL: Final = 15_000
"""Turns parsed and stored in a second, embedding apart."""
Store = Callable[[Path, Path], int]
"""Stores what lies at a path (the second) in a new memory in a folder (the first); returns how many turns it has."""


def import_trial(
    store: Store,
    screened: Store,
    *,
    scratch: Path,
    seed: int,
    n_turns: int = TURNS,
    rounds: int = ROUNDS,
    tell: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> dict[str, Any]:
    """Return, for every format, how many turns are read in a CPU second, and how many are read and stored.

    ``screened`` stores them as well and looks for secrets meanwhile, which is what a memory does unless told otherwise.
    The rounds go through all formats, one after the other, so that all meet the same load.
    """
    load_before = os.getloadavg()[0]
    paths = {
        name: write_history(name, scratch / "histories" / name, corpus=Corpus(seed=seed), n_turns=n_turns)
        for name in WRITERS
    }
    rates: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in paths}
    n_stored: dict[str, int] = {}
    for repetition in range(rounds):
        for number, (name, path) in enumerate(paths.items(), 1):
            ways: dict[str, Callable[[Path], int]] = {
                "read": _read,
                "stored": partial(store, scratch / "a"),
                "screened": partial(screened, scratch / "b"),
            }
            for way, work in ways.items():
                began = time.process_time()
                n_stored[name] = work(path)
                rates[name][way].append(n_stored[name] / (time.process_time() - began))
            shutil.rmtree(scratch / "a")
            shutil.rmtree(scratch / "b")
            tell("importing", repetition * len(paths) + number, rounds * len(paths))
    return {
        "load_average": [load_before, os.getloadavg()[0]],
        "formats": {
            name: {
                "n_turns": n_stored[name],
                "n_bytes": sum(file.stat().st_size for file in path.rglob("*") if file.is_file()),
                **{f"{way}_per_cpu_s": _of_rounds(values) for way, values in rates[name].items()},
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
        read, stored, looked = (measured[f"{way}_per_cpu_s"] for way in ("read", "stored", "screened"))
        rows.append(
            (
                f"`{name}`",
                f"{measured['n_bytes'] / measured['n_turns']:,.0f}",
                f"{read['best']:,.0f}",
                f"{stored['best']:,.0f}",
                f"{stored['median']:,.0f}",
                f"{stored['best'] / read['best']:.2f}",
                "met" if stored["best"] >= GOAL else "**not met**",
                f"{looked['best']:,.0f}",
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
        "and secrets looked for",
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
