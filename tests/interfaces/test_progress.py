"""Progress: how much, how fast, how long still; and silence where nobody looks."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from memory_rag.interfaces.cli.progress import progress_bar, told
from tests.interfaces.command_line import CommandLine


@pytest.mark.parametrize(
    ("what", "done", "total", "seconds", "words"),
    [
        ("embedding", 0, 5882, 0.0, "0 of 5,882 turns"),
        ("embedding", 256, 5882, 2.56, "256 of 5,882 turns  100 turns/s  0:56 left"),
        ("embedding", 100, 800_000, 1.0, "100 of 800,000 turns  100 turns/s  2:13:19 left"),
        ("storing", 1200, 0, 0.1, "1,200 turns"),
        ("storing", 1200, 0, 0.4, "1,200 turns  3,000 turns/s"),
        ("reading", 1_000_000, 2_800_000, 1.0, "1.0 of 2.8 MB  1.0 MB/s  0:02 left"),
        ("copying vectors", 300, 0, 3.0, "300 vectors  100 vectors/s"),
    ],
)
def test_amount_rate_and_time_left(what: str, done: int, total: int, seconds: float, words: str) -> None:
    assert told(what, done, total, seconds=seconds) == words


def test_where_stderr_is_no_terminal_there_is_no_bar() -> None:
    with progress_bar() as progress:
        assert progress is None


def test_on_a_terminal_the_bar_goes_to_stderr_and_data_to_stdout(memory_rag: CommandLine, talk: Path) -> None:
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_rag", "reindex"],
        stdin=inner,
        stdout=subprocess.PIPE,
        stderr=inner,
        env=memory_rag.all_of_it(TERM="xterm"),
    )
    out, _ = process.communicate()
    os.close(inner)
    bar = os.read(terminal, 100_000).decode(errors="replace")
    os.close(terminal)

    assert process.returncode == 0
    assert out.startswith(b"indexed 5 turns in ")
    assert "indexing" in bar
    assert "5 of 5 turns" in bar
