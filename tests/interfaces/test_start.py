"""A command loads what it needs and no more: the start is most of the time that a search takes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.command_line import CommandLine

MODELS = {"faiss", "onnxruntime", "tokenizers", "openai", "rank_bm25", "rapidfuzz", "torch"}
FOR_OTHER_TASKS = {"rich", "pydantic", "logging", "concurrent", "asyncio", "ssl", "http", "email"}
LOADED = re.compile(r"^import time:.*\|\s+(\S+)$", re.MULTILINE)


def loaded(memory_rag: CommandLine, *words: str) -> set[str]:
    """Return the packages that a process of its own loads for a command line."""
    ran = memory_rag.process(*words, PYTHONPROFILEIMPORTTIME="1")
    assert ran.code == 0, ran.err
    return {name.partition(".")[0] for name in LOADED.findall(ran.err)}


@pytest.mark.usefixtures("talk")
def test_a_keyword_search_loads_no_model_no_table_and_no_checker_of_types(memory_rag: CommandLine) -> None:
    modules = loaded(memory_rag, "search", "säsongen", "--mode", "keyword", "--json")

    assert {"memory_rag", "numpy", "typer"} <= modules
    assert modules & (MODELS | FOR_OTHER_TASKS) == set()


THREADS = """
import sys
from memory_rag.interfaces.cli import main
try:
    main(sys.argv[1:])
finally:
    print(next(line for line in open("/proc/self/status") if line.startswith("Threads:")))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system doesn't tell a process's threads")
@pytest.mark.usefixtures("talk")
def test_a_keyword_search_starts_no_thread(memory_rag: CommandLine) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", THREADS, "search", "säsongen", "--mode", "keyword"],
        env=memory_rag.all_of_it(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert (ran.returncode, ran.stdout.split()[-2:]) == (0, ["Threads:", "1"]), ran.stderr


def test_help_and_version_load_no_numbers(memory_rag: CommandLine) -> None:
    assert loaded(memory_rag, "--help") & (MODELS | FOR_OTHER_TASKS | {"numpy"}) == set()
    assert loaded(memory_rag, "--version") & (MODELS | FOR_OTHER_TASKS | {"numpy"}) == set()
