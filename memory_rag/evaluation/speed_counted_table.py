"""The table of counted work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_rag.evaluation.markdown import markdown_table


def counted_table(found: Mapping[str, Any]) -> str:
    """Return what each operation does, as a table: the counts of one operation, on average."""
    settings = found["provenance"]["settings"]
    rows = [
        (
            operation,
            *(f"{work[count] / settings['times']:,.0f}" for count in ("lines", "array_bytes", "sql_steps")),
        )
        for operation, work in found["result"]["work"].items()
    ]
    head = ("one of them", "lines of Python", "bytes taken for arrays", "steps of SQLite")
    note = f"On {settings['n_turns']:,} turns, Python {found['provenance']['python']}."
    return f"{markdown_table(head, rows)}\n\n{note}"
