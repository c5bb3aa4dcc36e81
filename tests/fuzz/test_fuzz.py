"""Bad input at every door: no traceback, no hang, no changed byte of what is stored."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path, PurePath

import pytest

from memory_rag.importers import ImportOptions, importers
from memory_rag.importers.source import SourceFile
from memory_rag.turns import Turn
from tests.fuzz.seeds import FILES

ROOT = Path(__file__).parents[2]
CASES = {
    "importers": 40_000,
    "paths": 10_000,
    "imports": 3_000,
    "analyzer": 15_000,
    "dates": 15_000,
    "quotes": 4_000,
    "verify": 4_000,
    "search": 3_000,
    "settings": 6_000,
}


def assert_survived(door: str, folder: Path, *, first: int, n_cases: int) -> None:
    command = [sys.executable, "-m", "tests.fuzz.run", door, str(first), str(n_cases), str(folder)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3000, check=False)
    case = folder / "case"
    last = case.read_text(encoding="ascii").strip() if case.exists() else "none"
    assert ended.returncode >= 0, f"case {last} of {door} ended the process with signal {-ended.returncode}"
    assert (ended.returncode, ended.stdout[-8000:], ended.stderr[-4000:]) == (0, "0 failed\n", "")


def test_a_hundred_thousand_cases_are_tried_in_all() -> None:
    assert sum(CASES.values()) == 100_000


@pytest.mark.parametrize("name", FILES)
def test_every_format_has_a_file_that_its_importer_reads(name: str) -> None:
    file_name, data = FILES[name]
    source = SourceFile(file_name, PurePath(file_name), len(data), lambda: io.BytesIO(data))

    read = list(importers(others=())[name].read(source, ImportOptions()))

    assert [item for item in read if isinstance(item, Turn)]
    assert FILES.keys() == importers(others=()).keys()


@pytest.mark.parametrize("door", CASES)
def test_spoiled_input_is_refused_or_taken_and_changes_nothing_else(tmp_path: Path, door: str) -> None:
    assert_survived(door, tmp_path, first=0, n_cases=max(150, CASES[door] // 250))


@pytest.mark.slow
@pytest.mark.parametrize("door", CASES)
def test_much_spoiled_input_is_refused_or_taken_and_changes_nothing_else(tmp_path: Path, door: str) -> None:
    assert_survived(door, tmp_path, first=1_000_000, n_cases=CASES[door])
