"""Fresh processes: how long one takes from its start to its end, and how much memory it takes at most."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_PACKAGE_FOLDER: Final = Path(__file__).resolve().parents[2]
_STATEMENT: Final = """
import time
began = time.perf_counter()
import memory_rag
print(time.perf_counter() - began)
"""
# The child reads its own peak: what a parent is told (ru_maxrss) includes the parent's own size at the fork.
_PEAK: Final = """
import sys
from memory_rag.interfaces.cli.app import run
code = run(sys.argv[1:])
sys.stdout.flush()
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
sys.exit(code)
"""


def process_s(*arguments: str) -> float:
    """Return the seconds that this Python takes for some arguments, from start to end.

    Raises:
        RuntimeError: the process failed; its words are in the message.
    """
    began = time.perf_counter()
    _run(arguments)
    return time.perf_counter() - began


def output_of(*arguments: str) -> str:
    """Return what this Python prints for some arguments.

    Raises:
        RuntimeError: the process failed; its words are in the message.
    """
    return _run(arguments)


def import_s() -> float:
    """Return the seconds that ``import memory_rag`` takes in a fresh process, the start of Python left out."""
    return float(_run(("-c", _STATEMENT)))


def peak_mib(*command: str) -> float | None:
    """Return the most memory that a ``memory-rag`` command holds, in MiB; None where the system doesn't tell."""
    if not Path("/proc/self/status").exists():
        return None
    return int(_run(("-c", _PEAK, *command)).split()[-1]) / 1024


def _run(arguments: Sequence[str]) -> str:
    path = os.pathsep.join(filter(None, [str(_PACKAGE_FOLDER), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    # As on any machine where nobody forbids it: without bytecode, each process compiles our modules anew, for .15 s.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if done.returncode != 0:
        raise RuntimeError(f"python {' '.join(arguments)[:200]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout
