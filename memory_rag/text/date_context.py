"""What stands around a match of a text, and what a match's words mean seen from the reference."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Final

from memory_rag.text.date_mentions import DateMention, Kind
from memory_rag.text.date_patterns import Patterns, full_year
from memory_rag.text.folding import Folded
from memory_rag.text.periods import Period
from memory_rag.turns import Span

BETWEEN: Final = frozenset(("between", "mellan", "mellom", "millom", "mellem", "zwischen"))
LOOK_BACK: Final = 40
_WORD_BEFORE = re.compile(r"([^\W\d_]+)[ -]\Z")
_WORD_AFTER = re.compile(r" ([^\W\d_]+)")
_SENTENCE_ENDS = frozenset(".!?:;…\n\r-–—•*>|")
_OPENERS = " \t\"'“”„‘’«»([{_"


class DateContext:
    """One text in one language, seen from ``reference`` if it is given."""

    def __init__(self, text: str, folded: Folded, *, patterns: Patterns, reference: date | None) -> None:
        self._text = text
        self._folded = folded
        self._patterns = patterns
        self._words = patterns.words
        self._reference = reference

    def _seen(self, meant: Callable[[date], Period | None]) -> Period | None:
        """Return what is meant, seen from the reference; None without one, or beyond the calendar."""
        if self._reference is None:
            return None
        try:
            return meant(self._reference)
        except (ValueError, OverflowError):
            return None

    def _mention(
        self, match: re.Match[str], kind: Kind, *, period: Period | None, weekday: int | None = None
    ) -> DateMention:
        start, end = period or (None, None)
        return DateMention(self._span(match), start, end, month=None, day=None, year=None, kind=kind, weekday=weekday)

    def _year(self, match: re.Match[str]) -> int | None:
        """Return the year that a match names, by number or as "last year" seen from the reference."""
        groups = match.groupdict()
        if groups.get("year") or groups.get("short_year"):
            return full_year(groups.get("year") or match["short_year"])
        phrase = groups.get("relative") or groups.get("before")
        if phrase is None or self._reference is None:
            return None
        year = self._reference.year + self._patterns.year_offsets[phrase]
        return year if date.min.year < year < date.max.year else None

    def _is_dated(self, match: re.Match[str]) -> bool:
        """Tell "7 May" and "on 7 may" from "the other 7 may", and "first of May" from "our first May"."""
        groups = match.groupdict()
        if self._words.month_day and not match["day"].isdigit() and not groups["of"]:
            return False
        if match["month"] not in self._words.titled_months or self._is_capital(self._position(match, "month")):
            return True
        if any(groups.get(sign) for sign in ("mark", "of", "year", "short_year", "relative")):
            return True
        return self._word_before(match.start()) in self._words.day_before

    def _is_month(self, match: re.Match[str]) -> bool:
        """Tell a month's name from the other words and names that are written like it."""
        words, name = self._words, match["month"]
        if name not in words.other_meanings:
            return True
        start, position = match.start("month"), self._position(match, "month")
        before, capital = self._word_before(start), self._is_capital(position)
        if before in words.month_before or (not capital and words.small_months):
            return True
        if not capital:
            return False
        if before in words.titled_month_before or match["relative"]:
            return True
        if self._patterns.joined_month.search(self._folded.text[max(0, start - LOOK_BACK) : start]):
            return True
        if name not in words.titled_months or self._opens(position):
            return False
        follower = _WORD_AFTER.match(self._folded.text, match.end())
        return follower is None or follower[1] not in words.not_after_month

    def _is_between(self, match: re.Match[str]) -> bool:
        """Tell whether "between" stands before a match, also before its article."""
        return self._word_before(match.start()) in BETWEEN

    def _is_amount(self, at: int) -> bool:
        follower = _WORD_AFTER.match(self._folded.text, at)
        return follower is not None and follower[1] in self._words.counted

    def _is_followed_by(self, allowed: frozenset[str], *, at: int, needed: bool = False) -> bool:
        """Tell whether one of these words follows, or none at all unless one is ``needed``."""
        follower = _WORD_AFTER.match(self._folded.text, at)
        return not needed if follower is None else follower[1] in allowed

    def _word_before(self, at: int) -> str:
        word = _WORD_BEFORE.search(self._folded.text[max(0, at - LOOK_BACK) : at])
        return word[1] if word else ""

    def _position(self, match: re.Match[str], group: str) -> int:
        return self._folded.span(*match.span(group)).start

    def _span(self, match: re.Match[str]) -> Span:
        return self._folded.span(*match.span())

    def _is_capital(self, position: int) -> bool:
        """Tell whether a word begins with a capital and goes on in small letters."""
        return self._text[position].isupper() and not self._text[position + 1 : position + 2].isupper()

    def _opens(self, position: int) -> bool:
        """Tell whether a sentence begins here."""
        before = self._text[max(0, position - LOOK_BACK) : position].rstrip(_OPENERS)
        return not before or before[-1] in _SENTENCE_ENDS
