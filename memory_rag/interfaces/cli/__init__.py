"""The command line, ``memory-rag``: data on stdout, notes and progress on stderr."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import Final

_ALLOCATIONS: Final = 50_000
"""Python looks for cycles after so many, not after 700: a start makes much that stays, and looking took 15 ms."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``memory-rag`` and leave with its exit code.

    0: done. 1: failed, with ``error: …`` on stderr. 2: wrong usage. 130: stopped with Ctrl-C. 141: whoever read the
    output went away.
    """
    gc.set_threshold(_ALLOCATIONS)
    # NumPy's OpenBLAS starts a thread for each further core, which spins for 50 ms; what we multiply is small.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        # Here and not above: typer costs 60 ms, and Ctrl-C in them shall not show a traceback either.
        from memory_rag.interfaces.cli.app import run

        code = run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        code = 130
    # The last look for cycles, when Python leaves, would take 25 ms and free what is freed anyway.
    gc.freeze()
    sys.exit(code)
