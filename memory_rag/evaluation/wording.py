"""Numbers of a report as people read them."""

from __future__ import annotations

from typing import Final

from memory_rag.evaluation.markdown import amount, share

POOLS: Final = {"conversation": "own conversation", "memory": "whole memory"}
MISSING: Final = "–"


def in_brackets(low: float | None, high: float | None) -> str:
    """Return an interval of shares: ``[.824, .852]``; nothing where there is none."""
    return "" if low is None or high is None else f"[{share(low)}, {share(high)}]"


def points(difference: float) -> str:
    """Return a difference of shares in points, with its sign: ``+4.1``, ``−0.3``, ``0.0``."""
    text = f"{100 * difference:+.1f}".replace("-", "−")
    return "0.0" if text[1:] == "0.0" else text


def points_between(low: float | None, high: float | None) -> str:
    """Return an interval of a difference in points: ``[+2.9, +5.2]``; nothing where there is none."""
    return "" if low is None or high is None else f"[{points(low)}, {points(high)}]"


def p_value(p: float) -> str:
    """Return a p with what digits it deserves: ``0.62``, ``0.003``, ``< 0.001``."""
    if p < 0.001:
        return "< 0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def milliseconds(value: float) -> str:
    return f"{amount(value)} ms"


def counted(n: int, one: str) -> str:
    """Return a count with its noun: ``1 question``, ``1,982 questions``."""
    return f"{n:,} {one}{'' if n == 1 else 's'}"
