"""Quotations in paragraphs that follow each other: within one, over several, and marks without a partner.

One over several begins in one paragraph and ends in a later one. By custom each paragraph of it may begin with the
opening mark again. No other quotation in the same marks lies between: it would show that the first mark stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from memory_rag.text.quotation_marks import AMBIGUOUS, belong_together, escapes, marks_of, may_close
from memory_rag.turns import Span

_BODY: Final = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+)?[\s*_]*")
_INTRODUCED: Final = re.compile(r"[:,，：][*_]*\s+\Z")
_ENDED: Final = re.compile(r"[\s.,;:!?…*_)\]]*\Z")
_NOTHING_QUOTED: Final = "|)]},;:!?"
_AGAIN: Final = ("«»", "‹›")
_INCH: Final = re.compile(r"(?<=\d).(?:\s*[-–—x×]|\s+\w)")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph's place in its text; ``is_item`` for one that begins with a list's mark, a heading's or a table's."""

    span: Span
    is_item: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """What stands between two marks, or behind or before a mark alone.

    ``inner`` is without the marks, ``place`` with them. ``left_out`` are the places of marks inside that only say
    that the quotation goes on.
    """

    inner: Span
    place: Span
    marks: tuple[str, str]
    left_out: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        return all(self.marks)


@dataclass(slots=True)
class _Waiting:
    at: int
    reach: int
    """Where the next mark stands, or its paragraph ends."""
    left_out: list[int] = field(default_factory=list)


def quoted_runs(text: str, paragraphs: Sequence[Paragraph]) -> Iterator[Run]:
    """Yield what is quoted in these paragraphs of a text; those that end in a paragraph before those that go on."""
    return _Reader(text).read(paragraphs)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._waiting: list[_Waiting] = []

    def read(self, paragraphs: Sequence[Paragraph]) -> Iterator[Run]:
        for paragraph in paragraphs:
            yield from self._in(paragraph)
        yield from self._alone(self._waiting)

    def _in(self, paragraph: Paragraph) -> Iterator[Run]:
        low, high = paragraph.span.start, paragraph.span.end
        found = marks_of(self._text, paragraph.span)
        pairs, opening, closing = dict(found.pairs), set(found.opening), set(found.closing)
        body = _body(self._text, low, high)
        if self._waiting and not paragraph.is_item:
            going_on = self._going_on(body, {*pairs, *opening, *closing})
            opening.difference_update(going_on.values())
            closing.difference_update(going_on.values())
            for depth, at in reversed(going_on.items()):
                if at in pairs:
                    yield self._ended(depth, pairs.pop(at))
        for start, end in pairs.items():
            yield self._pair(start, end)
        events = sorted([*pairs, *opening, *closing])
        behind = low
        for i, at in enumerate(events):
            following = events[i + 1] if i + 1 < len(events) else high
            if at in pairs:
                yield from self._alone(self._without(self._text[at]))
                behind = max(behind, pairs[at] + 1)
            elif at in opening and not self._ends_one(at):
                yield from self._opened(at, following, is_first=at == body)
                behind = at + 1
            else:
                yield from self._closed(at, max(behind, body), high)
                behind = at + 1

    def _going_on(self, at: int, marks: set[int]) -> dict[int, int]:
        """Take the marks at a paragraph's beginning for those that wait, where they are the same; French may close.

        Returns which of those that wait go on where.
        """
        going_on: dict[int, int] = {}
        for depth, one in enumerate(self._waiting):
            mark, same = self._text[at : at + 1], self._text[one.at]
            if at in marks and (mark == same or same + mark in _AGAIN):
                going_on[depth] = at
                one.left_out.append(at)
                at += 1
        return going_on

    def _opened(self, at: int, following: int, *, is_first: bool) -> Iterator[Run]:
        mark = self._text[at]
        if mark in AMBIGUOUS and not (is_first or _INTRODUCED.search(self._text, max(0, at - 8), at)):
            return
        yield from self._alone(self._without(mark))
        self._waiting.append(_Waiting(at, following))

    def _closed(self, at: int, behind: int, high: int) -> Iterator[Run]:
        text, mark = self._text, self._text[at]
        is_last = _ENDED.match(text, at + 1, high) is not None
        is_inch = not is_last and _INCH.match(text, at, high) is not None
        for depth in range(len(self._waiting) - 1, -1, -1):
            opening = self._waiting[depth].at
            is_sure = is_last or mark not in AMBIGUOUS or text[opening] + mark == "‚‘"
            if belong_together(text, opening, at) and is_sure and (not is_inch or text[opening] in "“„"):
                yield self._ended(depth, at)
                return
        # Within two marks that belong together, it is a part of what they quote.
        stands_alone = behind <= at and mark not in AMBIGUOUS and not is_inch and not escapes(text, at)
        if stands_alone and may_close(text, at):
            yield Run(Span(behind, at), Span(behind, at + 1), ("", mark))

    def _ends_one(self, at: int) -> bool:
        """Tell whether a mark that may open rather ends what waits: German „…“, »…«."""
        waits = any(belong_together(self._text, one.at, at) for one in self._waiting)
        return waits and may_close(self._text, at)

    def _ended(self, depth: int, at: int) -> Run:
        """Return what the mark at this place ends; what was opened within it and not closed is a part of it."""
        one = self._waiting[depth]
        left_out = sorted(place for each in self._waiting for place in each.left_out if one.at < place < at)
        del self._waiting[depth:]
        for outer in self._waiting:
            outer.left_out = sorted({*outer.left_out, *left_out})
        return self._pair(one.at, at, left_out=tuple(left_out))

    def _pair(self, start: int, end: int, *, left_out: tuple[int, ...] = ()) -> Run:
        inner = Span(start + 1, max(start + 1, end - escapes(self._text, end)))
        return Run(inner, Span(start, end + 1), (self._text[start], self._text[end]), left_out)

    def _without(self, mark: str) -> list[_Waiting]:
        """Take out those that wait with this mark: it is opened anew."""
        taken = [one for one in self._waiting if self._text[one.at] == mark]
        self._waiting = [one for one in self._waiting if self._text[one.at] != mark]
        return taken

    def _alone(self, several: Sequence[_Waiting]) -> Iterator[Run]:
        for one in several:
            if not escapes(self._text, one.at) and self._text[one.at + 1] not in _NOTHING_QUOTED:
                yield Run(Span(one.at + 1, one.reach), Span(one.at, one.reach), (self._text[one.at], ""))


def _body(text: str, low: int, high: int) -> int:
    match = _BODY.match(text, low, high)
    return match.end() if match else low
