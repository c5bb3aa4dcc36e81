"""Stretches of a text that are taken: what comes later may not lie over one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from memory_rag.turns import Span


class Taken:
    """Spans that don't lie over each other, asked in the logarithm of their number."""

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self._spans = sorted(spans)

    def take(self, spans: Iterable[Span]) -> list[Span]:
        """Take of some spans those that lie over nothing taken, nor over an earlier or longer one of themselves.

        They are returned in order.
        """
        fresh: list[Span] = []
        for span in sorted(spans, key=lambda span: (span.start, -span.end)):
            if (not fresh or span.start >= fresh[-1].end) and not self._meets(span):
                fresh.append(span)
        self._spans = sorted([*self._spans, *fresh])
        return fresh

    def _meets(self, span: Span) -> bool:
        after = bisect_right(self._spans, span)
        before = self._spans[after - 1] if after else None
        follows = self._spans[after] if after < len(self._spans) else None
        return (before is not None and before.end > span.start) or (follows is not None and follows.start < span.end)
