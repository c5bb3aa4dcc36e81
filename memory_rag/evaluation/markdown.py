"""Tables and numbers as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, n_words: int = 1) -> str:
    """Return a table; its first ``n_words`` columns hold words, to the left, the others numbers, to the right."""
    lines = ["| " + " | ".join(head) + " |", "|---" * n_words + "|---:" * (len(head) - n_words) + "|"]
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"a row has {len(row)} cells, but the table has {len(head)} columns: {list(row)}")
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def amount(value: float) -> str:
    """Return a number with three digits that count: ``0.0621``, ``1.24``, ``12.4``, ``1,240``."""
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:#.3g}".rstrip(".")


def share(value: float) -> str:
    """Return a share of 1 with three decimals and no leading zero: ``.838``, ``1.000``, ``-.020``."""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.removeprefix("-").startswith("0.") else text


def interval(found: Mapping[str, Any]) -> str:
    """Return a mean with its interval: ``.838 [.824, .852]``."""
    return f"{share(found['mean'])} [{share(found['low'])}, {share(found['high'])}]"
