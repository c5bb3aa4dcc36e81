"""Where in a long turn the words of a query stand closest together."""

from __future__ import annotations

from collections.abc import Collection

from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Span

_WINDOW = 400
"""Code points of a passage; a turn up to this length is its own passage."""


def keyword_span(text: str, terms: Collection[str], *, analyzer: Analyzer) -> Span:
    """Return the stretch of about 400 code points that holds most of the distinct terms, the earliest of several.

    A short text, or one without any of the terms, is returned whole.
    """
    if len(text) <= _WINDOW:
        return Span(0, len(text))
    found = sorted(analyzer.located_terms(text, wanted=set(terms)))
    if not found:
        return Span(0, len(text))
    best, best_count, first = (0, 0), 0, 0
    for last in range(len(found)):
        while first < last and found[last][1] - found[first][0] > _WINDOW:
            first += 1
        distinct = len({term for _, _, term in found[first : last + 1]})
        if distinct > best_count:
            best, best_count = (found[first][0], found[last][1]), distinct
    slack = max(0, _WINDOW - (best[1] - best[0])) // 2
    return Span(max(0, best[0] - slack), min(len(text), best[1] + slack))
