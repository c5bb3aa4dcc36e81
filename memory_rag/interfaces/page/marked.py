"""A turn's words for a reader: which of them to mark, and how much of a long one to show."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from memory_rag.html.pieces import SHOWN, Piece, at_words, pieces_of
from memory_rag.turns import Span

if TYPE_CHECKING:
    from memory_rag.memory import Memory
    from memory_rag.retrieval.ranking import Hit
    from memory_rag.text.analyzer import Analyzer


def words_asked(memory: Memory, query: str, text: str, *, within: Span | None = None) -> list[Span]:
    """Return where the words of a question stand in a text (or a span of it), whatever their endings."""
    if not query.strip():
        return []
    looked = within or Span(0, len(text))
    analyzer = memory.indexes.keyword.analyzer
    return [
        Span(looked.start + start, looked.start + end)
        for start, end, _term in analyzer.located_terms(looked.of(text), wanted=_terms(analyzer, query))
    ]


def best_span(memory: Memory, hit: Hit, query: str) -> Span:
    """Return where in its turn a hit says what was asked: the closest that the question's words come together."""
    from memory_rag.retrieval.passage_span import keyword_span

    analyzer = memory.indexes.keyword.analyzer
    inner = keyword_span(hit.span.of(hit.turn.text), _terms(analyzer, query), analyzer=analyzer)
    return Span(hit.span.start + inner.start, hit.span.start + inner.end)


@lru_cache(maxsize=16)
def _terms(analyzer: Analyzer, query: str) -> frozenset[str]:
    """Return a question's terms, which each of its hits is looked through for twice."""
    return frozenset(analyzer.query_terms(query))


def passage(memory: Memory, hit: Hit, query: str, *, most: int = SHOWN) -> tuple[list[Piece], bool, bool]:
    """Return the part of a hit that a list shows, and whether words before it and after it are left out."""
    text, best = hit.turn.text, best_span(memory, hit, query)
    spare = max(0, most - (best.end - best.start)) // 2
    # A text without white space has no end to move to.
    first, last = at_words(text, max(0, best.start - spare), min(len(text), max(best.end, best.start + 1) + spare))
    shown = Span(max(first, best.start - 2 * most), min(last, best.start + 2 * most))
    marks = words_asked(memory, query, text, within=shown)
    return pieces_of(text, marks, within=shown), shown.start > 0, shown.end < len(text)


def first_words(text: str, *, most: int = 160) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: most * 2].split())
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0] + " …"
