"""An import of many small files: stored together, each whole or not at all, and gone on with after it was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_rag.importers.report import FileReport
from memory_rag.memory import Memory

Made = Callable[[str, Any], Path]

N_FILES = 250
KILLED = """
import os, signal, sys
from memory_rag.memory import Memory

files = []

def killed_at_the_last(report):
    files.append(report.file)
    if len(files) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

with Memory.open(sys.argv[1], embedder="none") as memory:
    memory.import_path(sys.argv[2], before_write=killed_at_the_last)
"""


def days(made: Made, n_files: int = N_FILES) -> None:
    for day in range(n_files):
        stamps = [f"{1_700_000_000 + day * 86_400}.{number:06}" for number in range(3)]
        made(f"x/a/{day:04}.json", [{"type": "message", "user": "U1", "text": "hej", "ts": stamp} for stamp in stamps])


def stored_by_day(memory: Memory) -> Counter[str]:
    return Counter(turn.source.native_id.partition(".")[0] for _row, turn in memory.store.scan() if turn.source)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_import_leaves_whole_files_and_is_gone_on_with(made: Made, tmp_path: Path) -> None:
    days(made)
    given = [str(tmp_path / "memory"), str(tmp_path / "x"), "180"]
    ended = subprocess.run([sys.executable, "-c", KILLED, *given], check=False, env=os.environ)
    assert ended.returncode == -signal.SIGKILL

    with Memory.open(tmp_path / "memory", embedder="none") as memory:
        left = stored_by_day(memory)
        assert 0 < len(left) < 180
        assert set(left.values()) == {3}
        report = memory.import_path(tmp_path / "x")
        assert (report.read, report.already_there) == (3 * N_FILES, 3 * len(left))
        assert set(stored_by_day(memory).values()) == {3}
        assert len(memory.store) == 3 * N_FILES


def test_an_import_that_is_stopped_keeps_the_files_it_has_read_whole(made: Made, tmp_path: Path) -> None:
    days(made, 5)

    def stopped(report: FileReport) -> None:
        if report.file.endswith("0002.json"):
            raise KeyboardInterrupt

    with Memory.open(tmp_path / "memory", embedder="none") as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.import_path(tmp_path / "x", before_write=stopped)
        assert set(stored_by_day(memory).values()) == {3}
        assert len(memory.store) == 6


def test_a_broken_file_among_many_costs_only_itself(made: Made, tmp_path: Path) -> None:
    days(made, 5)
    made("x/a/0002.json", (tmp_path / "x/a/0002.json").read_text()[:-20])
    with Memory.open(tmp_path / "memory", embedder="none") as memory:
        report = memory.import_path(tmp_path / "x")
        assert [bool(file.error) for file in report.files] == [False, False, True, False, False]
        assert (report.read, report.kept, len(memory.store)) == (12, 12, 12)


@pytest.mark.parametrize("name", ["x/0/memory.jsonl", "x/b/memory.jsonl"])
def test_a_whole_memory_among_other_files_is_taken_in(made: Made, tmp_path: Path, name: str) -> None:
    with Memory.open(tmp_path / "other", embedder="none") as other:
        other.add("ett", role="user")
        made(name, "".join(other.export()))
    days(made, 2)
    with Memory.open(tmp_path / "memory", embedder="none") as memory:
        report = memory.import_path(tmp_path / "x")
        assert (report.kept, len(memory.store)) == (7, 7)
