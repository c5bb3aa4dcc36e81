"""Two dates that a text joins to a stretch: from the first day of the one to the last of the other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from memory_rag.text.date_context import BETWEEN
from memory_rag.text.date_mentions import DateMention, Kind
from memory_rag.text.date_patterns import AND, TO
from memory_rag.text.folding import fold
from memory_rag.turns import Span

_DIGITS: Final = re.compile("[0-9]{2}")
_LONGEST_GAP: Final = 20
_LOOK_BACK: Final = 20
_ARTICLE: Final = "(?:(?:the|den|det|der|dem|zum) )?(?:early |late |mid[ -]|(?:end|beginning) of )?"
_FROM_TO: Final = re.compile(TO + _ARTICLE)
_AND: Final = re.compile(AND + _ARTICLE)
_AFTER_BETWEEN: Final = re.compile(rf"(?:{'|'.join(sorted(BETWEEN))}) {_ARTICLE}\Z")


def joined(text: str, mentions: Iterable[DateMention]) -> tuple[DateMention, ...]:
    """Return mentions in order, two of them as one where they are the ends of a stretch.

    They are after "between", with "and" between them, or anywhere with "to" or a dash. What has no year has that of the
    other end.
    """
    found: list[DateMention] = []
    is_open = False
    for mention in mentions:
        stretch = _stretch(text, found[-1], mention) if is_open else None
        if stretch is not None:
            found[-1] = stretch
        else:
            found.append(mention)
        is_open = stretch is None and mention.last_month is None
    return tuple(found)


def _stretch(text: str, first: DateMention, last: DateMention) -> DateMention | None:
    gap = Span(first.span.end, last.span.start)
    if last.last_month is not None or gap.end - gap.start > _LONGEST_GAP or not _joins(text, gap, first):
        return None
    span = Span(first.span.start, last.span.end)
    if "weekday" not in (first.kind, last.kind):
        if first.kind == "season" and _DIGITS.search(first.span.of(text)) is None:
            # Q1 alone was read as the latest one.
            first = replace(first, start=None, end=None, year=None)
        first, last = _with_years(first, last)
    elif "weekday" in (first.kind, last.kind) and first.kind != last.kind:
        return None
    if first.start is not None and last.start is not None and last.end is not None:
        if not first.start < last.start:
            return None
        return replace(first, span=span, end=last.end, weekday=None, kind=_kind(first))
    if first.start is not None or last.start is not None or first.month is None or last.month is None:
        return None
    ends = last.month if last.kind != "season" else (last.month + 1) % 12 + 1
    return replace(first, span=span, last_month=ends, last_day=last.day, kind=_kind(first))


def _joins(text: str, gap: Span, first: DateMention) -> bool:
    between = fold(gap.of(text)).text
    if _FROM_TO.fullmatch(between):
        return True
    before = fold(text[max(0, first.span.start - _LOOK_BACK) : first.span.start]).text
    return _AND.fullmatch(between) is not None and _AFTER_BETWEEN.search(before) is not None


def _with_years(first: DateMention, last: DateMention) -> tuple[DateMention, DateMention]:
    if first.start is None and last.start is not None and last.kind != "year":
        before = first.in_year(last.start.year)
        if before.start is not None and before.start >= last.start:
            before = first.in_year(last.start.year - 1)
        return before, last
    if last.start is None and first.start is not None:
        after = last.in_year(first.start.year)
        if after.start is not None and after.start <= first.start:
            after = last.in_year(first.start.year + 1)
        return first, after
    return first, last


def _kind(first: DateMention) -> Kind:
    return "relative" if first.kind == "weekday" else first.kind
