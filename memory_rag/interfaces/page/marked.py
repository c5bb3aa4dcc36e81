"""A turn's words for a reader: which of them to mark, and how much of a long one to show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memory_rag.turns import Span

if TYPE_CHECKING:
    from memory_rag.memory import Memory
    from memory_rag.retrieval.ranking import Hit

SHOWN: Final = 420
"""Characters of a hit that a list shows."""


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


def _joined(marks: Iterable[Span]) -> list[Span]:
    """Return marks in order, those that overlap as one."""
    joined: list[Span] = []
    for mark in sorted(marks):
        if joined and mark.start < joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, mark.end))
        else:
            joined.append(mark)
    return joined


def words_asked(memory: Memory, query: str, text: str) -> list[Span]:
    """Return where the words of a question stand in a text, whatever their endings."""
    if not query.strip():
        return []
    analyzer = memory.indexes.keyword.analyzer
    terms = set(analyzer.query_terms(query))
    return [Span(start, end) for start, end, _term in analyzer.located_terms(text, wanted=terms)]


def passage(memory: Memory, hit: Hit, query: str) -> tuple[list[Piece], bool, bool]:
    """Return the part of a hit that a list shows, and whether words before it and after it are left out."""
    from memory_rag.retrieval.passage_span import keyword_span

    text = hit.turn.text
    analyzer = memory.indexes.keyword.analyzer
    inner = keyword_span(hit.span.of(text), set(analyzer.query_terms(query)), analyzer=analyzer)
    start = hit.span.start + inner.start
    end = hit.span.start + inner.end
    spare = max(0, SHOWN - (end - start)) // 2
    start, end = at_words(text, max(0, start - spare), min(len(text), max(end, start + 1) + spare))
    end = min(end, start + 2 * SHOWN)
    return pieces_of(text, words_asked(memory, query, text), within=Span(start, end)), start > 0, end < len(text)


def at_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Move the ends of a span outwards to white space."""
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return start, end


def first_words(text: str, *, most: int = 160) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: most * 2].split())
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0] + " …"
