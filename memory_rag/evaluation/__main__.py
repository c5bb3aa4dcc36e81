"""Run a trial and write its result: ``python -m memory_rag.evaluation recall --data PATH --out FILE``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from memory_rag.evaluation.not_found import not_found_trial
from memory_rag.evaluation.provenance import provenance, write_result
from memory_rag.evaluation.questions import QuestionSet, beam_questions, locomo_questions
from memory_rag.evaluation.recall import Search, recall_trial
from memory_rag.memory import Memory
from memory_rag.retrieval.signals import WEIGHTS

_MODES = ("hybrid", "keyword", "dense", "rrf", "overlap", "rank-bm25")
_CONSOLE = Console(stderr=True)
"""Progress only; the results go to the file and standard output."""


def main() -> int:
    """Import a data set into a memory, embed it, run the trials, write the JSON."""
    parser = argparse.ArgumentParser(prog="python -m memory_rag.evaluation", description=main.__doc__)
    parser.add_argument("trial", choices=("recall", "not-found"))
    parser.add_argument("--data", type=Path, required=True, help="folder with locomo10.json and beam/100K")
    parser.add_argument("--out", type=Path, required=True, help="folder for <trial>-<data set>.json")
    parser.add_argument("--sets", default="locomo,beam")
    parser.add_argument("--modes", default=",".join(_MODES))
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--memories", type=Path, help="keep the memories here and use them again")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for name in given.sets.split(","):
            where = (given.memories or Path(scratch)) / f"{name}-{given.embedder.replace(':', '-')}"
            with Memory.open(where, embedder=given.embedder, language="en") as memory:
                asked = _filled(memory, name, given.data)
                result = _run(given.trial, memory, asked, given.modes.split(","))
            suffix = "" if given.embedder == "minilm" else f"-{given.embedder.replace(':', '-')}"
            write_result(given.out / f"{given.trial}-{name}{suffix}.json", result)
    return 0


def _filled(memory: Memory, name: str, data: Path) -> QuestionSet:
    path = data / "locomo10.json" if name == "locomo" else data / "beam" / "100K"
    memory.import_path(path)
    with _progress() as shown:
        memory.embed(progress=_told(shown))
    return locomo_questions(path) if name == "locomo" else beam_questions(path)


def _run(trial: str, memory: Memory, asked: QuestionSet, modes: list[str]) -> dict[str, Any]:
    embedder = memory.indexes.embedder
    result: dict[str, Any] = {
        "dataset": {
            "name": asked.name,
            "sha256": asked.sha256,
            "n_questions": len(asked.questions),
            "n_turns": len(memory),
            "dropped": dict(asked.dropped),
        },
        "provenance": provenance(
            embedder=embedder.fingerprint if embedder else None, weights=dict(WEIGHTS), k=10, language="en"
        ),
    }
    with _progress() as shown:
        tell = _told(shown)
        if trial == "not-found":
            ids = {
                (turn.conversation_id, turn.source.native_id): turn.turn_id for turn in memory.turns() if turn.source
            }
            search = _searching(memory, "hybrid")
            result["result"] = not_found_trial(
                search, asked, turn_ids=ids, progress=lambda done, total: tell("not found", done, total)
            )
            return result
        result["result"] = {
            pool: {
                mode: recall_trial(
                    _searching(memory, mode),
                    asked.answerable(),
                    pool=pool,
                    progress=lambda done, total, m=mode, p=pool: tell(f"{m}, {p}", done, total),  # type: ignore[misc]
                )
                # The plain baselines rank every text anew for each question: minutes over a whole memory.
                for mode in (modes if pool == "conversation" else [m for m in modes if m not in ("overlap", "rank-bm25")])
            }
            for pool in ("conversation", "memory")
        }
    return result


def _searching(memory: Memory, mode: str) -> Search:
    return lambda text, within: memory.search(text, k=10, mode=mode, within=within, floor=False)


def _progress() -> Progress:
    columns = (TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=_CONSOLE, disable=not sys.stderr.isatty())


def _told(shown: Progress) -> Callable[[str, int, int], None]:
    tasks: dict[str, Any] = {}

    def tell(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = shown.add_task(what, total=total)
        shown.update(tasks[what], completed=done, total=total)

    return tell


if __name__ == "__main__":
    sys.exit(main())
