"""A text in pieces for a reader: which of them are marked, and how much of a long one is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memory_rag.turns import Span

SHOWN: Final = 420
"""Characters of a text that a list shows."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text, marked or not."""

    text: str
    is_marked: bool = False


def pieces_of(text: str, marks: Iterable[Span], *, within: Span | None = None) -> list[Piece]:
    """Return a text (or a span of it) in pieces, in order; overlapping marks are one."""
    shown = within or Span(0, len(text))
    found: list[Piece] = []
    at = shown.start
    for mark in _joined(marks):
        start, end = max(mark.start, shown.start), min(mark.end, shown.end)
        if start >= end:
            continue
        if start > at:
            found.append(Piece(text[at:start]))
        found.append(Piece(text[start:end], is_marked=True))
        at = end
    if at < shown.end:
        found.append(Piece(text[at : shown.end]))
    return [piece for piece in found if piece.text]


def at_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Move the ends of a span outwards to white space."""
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return start, end


def part_around(text: str, of: Span) -> Span:
    """Return the part of a text that a list shows of it: all of a short one, else what lies around a span."""
    if len(text) <= SHOWN:
        return Span(0, len(text))
    end = min(of.end, of.start + SHOWN)
    spare = (SHOWN - (end - of.start)) // 2
    start, end = at_words(text, max(0, of.start - spare), min(len(text), end + spare))
    # A text without white space has no end to move to.
    return Span(max(start, of.start - SHOWN), min(end, of.start + 2 * SHOWN))


def _joined(marks: Iterable[Span]) -> list[Span]:
    """Return marks in order, those that overlap as one."""
    joined: list[Span] = []
    for mark in sorted(marks):
        if joined and mark.start < joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, mark.end))
        else:
            joined.append(mark)
    return joined
