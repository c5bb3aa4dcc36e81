"""Where in a long turn the words of a query stand closest together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import islice

from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Span

_WINDOW = 400
"""Code points of a passage; a turn up to this length is its own passage."""
_MOST_PLACES = 50_000
"""Twenty megabytes of a few words would take every search for one of them ten seconds."""


def keyword_span(text: str, terms: Collection[str], *, analyzer: Analyzer) -> Span:
    """Return the stretch of about 400 code points that holds most of the distinct terms, the earliest of several.

    A short text, or one without any of the terms, is returned whole; of a very long one the first 50,000 places where
    a term stands are compared.
    """
    if len(text) <= _WINDOW:
        return Span(0, len(text))
    wanted = set(terms)
    found: list[tuple[int, int, str]] = []
    best, best_count, first = (0, len(text)), 0, 0
    # Counted as the window moves: a megabyte of one word has hundreds of thousands of places.
    inside: Counter[str] = Counter()
    for start, end, term in islice(analyzer.located_terms(text, wanted=wanted), _MOST_PLACES):
        found.append((start, end, term))
        inside[term] += 1
        while end - found[first][0] > _WINDOW and found[first][0] < start:
            inside[found[first][2]] -= 1
            first += 1
        distinct = sum(n > 0 for n in inside.values())
        if distinct > best_count:
            best, best_count = (found[first][0], end), distinct
            if distinct == len(wanted):
                break  # No later stretch holds more, and a megabyte takes .3 s.
    if not found:
        return Span(*best)
    slack = max(0, _WINDOW - (best[1] - best[0])) // 2
    return Span(max(0, best[0] - slack), min(len(text), best[1] + slack))
