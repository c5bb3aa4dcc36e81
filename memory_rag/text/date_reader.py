"""Turns what a language's patterns match into mentions, or leaves it when the words mean something else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta

from memory_rag.text.date_mentions import DateMention, Kind, is_day, named, on_feast
from memory_rag.text.date_patterns import Form, Patterns, full_year
from memory_rag.text.date_words import Unit, Which
from memory_rag.text.folding import Folded
from memory_rag.text.periods import (
    WINTER,
    Period,
    chosen,
    day_period,
    feast_period,
    month_period,
    season_period,
    shifted,
    weeks_period,
)
from memory_rag.turns import Span

_STEPS: dict[Which, int] = {"last": -1, "this": 0, "nearest": 0, "next": 1}
_WORD_BEFORE = re.compile(r"([^\W\d_]+)[ -]\Z")
_WORD_AFTER = re.compile(r" ([^\W\d_]+)")
_DIGITS = re.compile("[0-9]+")
_LISTED = re.compile(r"(?<![\w.,:/$€£#])(?:[0-3]?[0-9][^\W\d]{0,2}\.?, ){1,8}")
BETWEEN = frozenset(("between", "mellan", "mellom", "millom", "mellem", "zwischen"))
_LOOK_BACK = 40
_FEW = (2, 5)
_SENTENCE_ENDS = frozenset(".!?:;…\n\r-–—•*>|")
_OPENERS = " \t\"'“”„‘’«»([{_"


class DateReader:
    """Reads the dates of one text in one language, seen from ``reference`` if it is given."""

    def __init__(self, text: str, folded: Folded, *, patterns: Patterns, reference: date | None) -> None:
        self._text = text
        self._folded = folded
        self._patterns = patterns
        self._words = patterns.words
        self._reference = reference
        self._readers: dict[Form, Callable[[re.Match[str]], DateMention | None]] = {
            "month_year": self._month_year,
            "month": self._month,
            "weekday": self._weekday,
            "phrase": self._phrase,
            "unit": self._unit,
            "ago": lambda match: self._amount(match, sign=-1),
            "later": lambda match: self._amount(match, sign=1),
            "season": self._season,
            "week": self._week,
            "quarter": self._quarter,
            "holiday": self._holiday,
        }

    def read(self, form: Form, regex: re.Pattern[str]) -> Iterator[DateMention]:
        """Yield the mentions of one form, in the order of the text."""
        for match in regex.finditer(self._folded.text):
            if form == "year":
                yield from self._years(match)
            elif form in ("day", "month_day"):
                yield from self._days(match)
            elif (mention := self._readers[form](match)) is not None:
                yield mention

    def _days(self, match: re.Match[str]) -> Iterator[DateMention]:
        """Yield one mention, of "3-5 May" too; of "3, 4 and 5 May" one for each day."""
        month, year = self._patterns.month_numbers[match["month"]], self._year(match)
        day = int(match["day"]) if match["day"].isdigit() else self._words.ordinals[match["day"]]
        first = int(match["first"] or day)
        if not is_day(month, day, year=year) or not self._is_dated(match):
            return
        last = self._folded.span(match.start("day"), match.end())
        if first == day:
            yield named(self._span(match), "day", month=month, day=day, year=year)
        elif not 1 <= first < day:
            yield named(last, "day", month=month, day=day, year=year)
        elif not match["and"] or self._word_before(match.start()) in BETWEEN:
            stretch = DateMention(
                self._span(match), None, None, month, first, None, "day", last_month=month, last_day=day
            )
            yield stretch if year is None else stretch.in_year(year)
        else:
            for at in _LISTED.finditer(self._folded.text, max(0, match.start() - _LOOK_BACK), match.start()):
                if at.end() == match.start():
                    for one in _DIGITS.finditer(self._folded.text, *at.span()):
                        if is_day(month, int(one[0]), year=year):
                            span = self._folded.span(*one.span())
                            yield named(span, "day", month=month, day=int(one[0]), year=year)
            span = self._folded.span(match.start(), match.end("first"))
            yield named(span, "day", month=month, day=first, year=year)
            yield named(last, "day", month=month, day=day, year=year)

    def _month_year(self, match: re.Match[str]) -> DateMention | None:
        name = match["month"]
        shortened = name not in self._words.months and name in self._words.other_meanings
        if shortened or self._is_amount(match.end()):
            return None
        return named(
            self._span(match),
            "month",
            month=self._patterns.month_numbers[name],
            day=None,
            year=self._year(match),
        )

    def _month(self, match: re.Match[str]) -> DateMention | None:
        if not self._is_month(match):
            return None
        month, year = self._words.months[match["month"]], self._year(match)
        if match["which"]:
            which = self._words.which[match["which"]]
            period = self._seen(
                lambda day: chosen(which, (month_period(day.year + n, month) for n in range(-2, 3)), reference=day)
            )
            year = None if period is None else period.start.year
        return named(self._span(match), "month", month=month, day=None, year=year)

    def _years(self, match: re.Match[str]) -> Iterator[DateMention]:
        if not self._is_amount(match.end()):
            for group in ("year", "second"):
                if match[group]:
                    span = self._folded.span(*match.span(group))
                    yield named(span, "year", month=None, day=None, year=int(match[group]))

    def _weekday(self, match: re.Match[str]) -> DateMention:
        which = self._words.which[match["which"]] if match["which"] else None
        return self._on_weekday(match, self._words.weekdays[match["weekday"]], which=which)

    def _phrase(self, match: re.Match[str]) -> DateMention | None:
        phrase, words = match["phrase"], self._words
        if phrase in words.weekday_phrases:
            weekday, meant = words.weekday_phrases[phrase]
            return self._on_weekday(match, weekday, which=meant)
        if phrase in words.season_phrases:
            allowed = words.open_phrases.get(phrase)
            if allowed is not None and not self._is_followed_by(allowed, at=match.end()):
                return None
            month, meant = words.season_phrases[phrase]
            return self._in_season(self._span(match), month, which=meant)
        unit, count = words.phrases[phrase]
        if unit == "week" and self._word_before(match.start()) in words.counted | words.plurals.keys():
            return None  # "två gånger i veckan": twice a week
        position = self._span(match).start
        if phrase in words.small_phrases and self._is_capital(position) and not self._opens(position):
            return None
        if count == "nearest":
            weeks = (-1, 0, 1)
            period = self._seen(
                lambda day: chosen("nearest", (shifted(day, unit, count=week) for week in weeks), reference=day)
            )
            return self._mention(match, "relative", period=period)
        return self._shifted(match, unit, count=count if isinstance(count, int) else _STEPS[count])

    def _unit(self, match: re.Match[str]) -> DateMention | None:
        unit = self._words.units[match["unit"]]
        if unit == "quarter" and self._is_followed_by(frozenset(self._words.of), at=match.end(), needed=True):
            return None  # the last quarter of a game
        return self._shifted(match, unit, count=_STEPS[self._words.which[match["which"]]])

    def _amount(self, match: re.Match[str], *, sign: int) -> DateMention | None:
        if self._word_before(match.start()) in self._words.not_number_before:
            return None
        number, unit = match["number"], {**self._words.units, **self._words.plurals}[match["unit"]]
        if number not in self._words.few:
            count = int(number) if number.isdigit() else self._words.numbers[number]
            return self._shifted(match, unit, count=sign * count)
        near, far = (sign * count for count in _FEW)
        first, last = min(near, far), max(near, far)
        period = self._seen(
            lambda day: Period(shifted(day, unit, count=first).start, shifted(day, unit, count=last).end)
        )
        return self._mention(match, "relative", period=period)

    def _season(self, match: re.Match[str]) -> DateMention | None:
        month = self._words.seasons[match["season"]]
        span = self._folded.span(match.end("lead") if match["lead"] else match.start(), match.end())
        year = self._year(match)
        if match["year"] and match["second"] and month == WINTER:
            year = int(match["year"]) + 1
        if year is not None:
            return DateMention(span, *season_period(year, month), month=month, day=None, year=year, kind="season")
        if match["which"]:
            return self._in_season(span, month, which=self._words.which[match["which"]])
        if match["before"] or match["relative"]:
            return DateMention(span, None, None, month=month, day=None, year=None, kind="season")
        if match["lead"] or match["season"] in self._words.sure_seasons:
            return self._in_season(span, month, which=None)
        return None

    def _quarter(self, match: re.Match[str]) -> DateMention | None:
        """Return a quarter as a season is read: by its year, or after a word such as "in" the latest that has begun."""
        ordinal = match["ordinal"] or ""
        number = int(match["q"] or match["number"] or (ordinal if ordinal.isdigit() else self._words.ordinals[ordinal]))
        month = 3 * number - 2
        span = self._folded.span(match.end("lead") if match["lead"] else match.start(), match.end())
        year = int(match["ahead"]) if match["ahead"] else self._year(match)
        if year is not None:
            return DateMention(span, *season_period(year, month), month=month, day=None, year=year, kind="season")
        if match["lead"] or match["relative"] or match["name"] in self._words.sure_quarters:
            return self._in_season(span, month, which=None)
        return None

    def _holiday(self, match: re.Match[str]) -> DateMention | None:
        name, year = match["holiday"], self._year(match)
        feast = self._words.holidays[name]
        has_lead = self._word_before(match.start()) in self._words.holiday_lead | BETWEEN
        has_more = match["which"] or match["year"] or match["relative"]
        if name in self._words.led_holidays and not (has_lead or has_more):
            return None
        if match["which"]:
            which = self._words.which[match["which"]]
            period = self._seen(
                lambda day: chosen(which, (feast_period(day.year + n, feast) for n in range(-2, 3)), reference=day)
            )
            year = None if period is None else period.start.year
        return on_feast(self._span(match), feast, year=year)

    def _week(self, match: re.Match[str]) -> DateMention | None:
        """Return a week, or weeks, of the calendar; without year the nearest that are called so."""
        year = self._year(match)
        first, last = int(match["week"]), int(match["last"] or match["week"])
        if first > last or not 1 <= first <= 53 or (self._words.week_needs_year and year is None):
            return None
        if year is not None:
            period = weeks_period(year, first, last)
            return None if period is None else self._mention(match, "relative", period=period)
        years = (-1, 0, 1)
        period = self._seen(
            lambda day: chosen(
                "nearest", filter(None, (weeks_period(day.year + n, first, last) for n in years)), reference=day
            )
        )
        return self._mention(match, "relative", period=period)

    def _in_season(self, span: Span, month: int, *, which: Which | None) -> DateMention:
        period = self._seen(
            lambda day: chosen(which, (season_period(day.year + n, month) for n in range(-2, 3)), reference=day)
        )
        if period is None:
            return DateMention(span, None, None, month=month, day=None, year=None, kind="season")
        return DateMention(
            span,
            *period,
            month=month,
            day=None,
            year=(period.end - timedelta(days=1)).year,
            kind="season",
        )

    def _on_weekday(self, match: re.Match[str], weekday: int, *, which: Which | None) -> DateMention:
        def meant(day: date) -> Period | None:
            monday = day - timedelta(days=day.weekday())
            near = [day_period(monday + timedelta(days=weekday + 7 * week)) for week in (-1, 0, 1)]
            return near[1] if which == "this" else chosen(which, near, reference=day)

        return self._mention(match, "weekday", period=self._seen(meant), weekday=weekday)

    def _shifted(self, match: re.Match[str], unit: Unit, *, count: int) -> DateMention:
        return self._mention(match, "relative", period=self._seen(lambda day: shifted(day, unit, count=count)))

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
        if self._patterns.joined_month.search(self._folded.text[max(0, start - _LOOK_BACK) : start]):
            return True
        if name not in words.titled_months or self._opens(position):
            return False
        follower = _WORD_AFTER.match(self._folded.text, match.end())
        return follower is None or follower[1] not in words.not_after_month

    def _is_amount(self, at: int) -> bool:
        follower = _WORD_AFTER.match(self._folded.text, at)
        return follower is not None and follower[1] in self._words.counted

    def _is_followed_by(self, allowed: frozenset[str], *, at: int, needed: bool = False) -> bool:
        """Tell whether one of these words follows, or none at all unless one is ``needed``."""
        follower = _WORD_AFTER.match(self._folded.text, at)
        return not needed if follower is None else follower[1] in allowed

    def _word_before(self, at: int) -> str:
        word = _WORD_BEFORE.search(self._folded.text[max(0, at - _LOOK_BACK) : at])
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
        before = self._text[max(0, position - _LOOK_BACK) : position].rstrip(_OPENERS)
        return not before or before[-1] in _SENTENCE_ENDS
