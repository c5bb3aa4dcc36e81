"""The command line, ``memory-rag``: data on stdout, notes and progress on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``memory-rag`` and leave with its exit code.

    0: done. 1: failed, with ``error: …`` on stderr. 2: wrong usage. 130: stopped with Ctrl-C. 141: whoever read the
    output went away.
    """
    try:
        # Here and not above: typer costs 60 ms, and Ctrl-C in them shall not show a traceback either.
        from memory_rag.interfaces.cli.app import run

        code = run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        code = 130
    sys.exit(code)
