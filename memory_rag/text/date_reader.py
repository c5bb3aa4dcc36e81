"""Turns what a language's patterns match into mentions, or leaves it when the words mean something else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta

from memory_rag.text.date_context import LOOK_BACK, DateContext
from memory_rag.text.date_mentions import DateMention, Kind, is_day, named, on_feast, stretch
from memory_rag.text.date_patterns import Form, Patterns
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
_DIGITS = re.compile("[0-9]+")
_LISTED = re.compile(r"(?<![\w.,:/$€£#])(?:[0-3]?[0-9][^\W\d]{0,2}\.?, ){1,8}")
_FEW = (2, 5)


class DateReader(DateContext):
    """Reads the dates of one text in one language, seen from ``reference`` if it is given."""

    def __init__(self, text: str, folded: Folded, *, patterns: Patterns, reference: date | None) -> None:
        super().__init__(text, folded, patterns=patterns, reference=reference)
        self._lists: dict[Form, Callable[[re.Match[str]], Iterator[DateMention]]] = {
            "year": self._years,
            "day": self._days,
            "month_day": self._days,
            "month_year": self._months_of_year,
            "quarter": self._quarters,
        }
        self._readers: dict[Form, Callable[[re.Match[str]], DateMention | None]] = {
            "month": self._month,
            "weekday": self._weekday,
            "phrase": self._phrase,
            "unit": self._unit,
            "ago": lambda match: self._amount(match, sign=-1),
            "later": lambda match: self._amount(match, sign=1),
            "season": self._season,
            "week": self._week,
            "holiday": self._holiday,
        }

    def read(self, form: Form, regex: re.Pattern[str]) -> Iterator[DateMention]:
        """Yield the mentions of one form, in the order of the text."""
        for match in regex.finditer(self._folded.text):
            if form in self._lists:
                yield from self._lists[form](match)
            elif (mention := self._readers[form](match)) is not None:
                yield mention

    def _days(self, match: re.Match[str]) -> Iterator[DateMention]:
        """Yield one mention, of "3-5 May" too; of "3, 4 and 5 May" one for each day."""
        month, year = self._patterns.month_numbers[match["month"]], self._year(match)
        day = self._number(match["day"])
        first = self._number(match["first"]) if match["first"] else day
        if not is_day(month, day, year=year) or not self._is_dated(match):
            return
        last = self._folded.span(match.start("day"), match.end())
        if first == day:
            yield named(self._span(match), "day", month=month, day=day, year=year)
        elif not 1 <= first < day:
            yield named(last, "day", month=month, day=day, year=year)
        elif not match["and"] or self._is_between(match):
            yield stretch(self._span(match), "day", first=(month, first), last=(month, day), year=year)
        else:
            for at in _LISTED.finditer(self._folded.text, max(0, match.start() - LOOK_BACK), match.start()):
                if at.end() == match.start():
                    for one in _DIGITS.finditer(self._folded.text, *at.span()):
                        if is_day(month, int(one[0]), year=year):
                            span = self._folded.span(*one.span())
                            yield named(span, "day", month=month, day=int(one[0]), year=year)
            span = self._folded.span(match.start(), match.end("first"))
            yield named(span, "day", month=month, day=first, year=year)
            yield named(last, "day", month=month, day=day, year=year)

    def _months_of_year(self, match: re.Match[str]) -> Iterator[DateMention]:
        """Yield one mention, of "Jan-Mar 2023" too; of "Jan and Mar 2023" one for each month."""
        name, year = match["month"], self._year(match)
        shortened = name not in self._words.months and name in self._words.other_meanings
        if shortened or self._is_amount(match.end()):
            return
        last = self._patterns.month_numbers[name]
        if not match["first"]:
            yield named(self._span(match), "month", month=last, day=None, year=year)
            return
        first = self._patterns.month_numbers[match["first"]]
        if not match["and"] or self._is_between(match):
            yield stretch(self._span(match), "month", first=(first, None), last=(last, None), year=year)
            return
        yield named(self._folded.span(*match.span("first")), "month", month=first, day=None, year=year)
        yield named(self._folded.span(match.start("month"), match.end()), "month", month=last, day=None, year=year)

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

    def _quarters(self, match: re.Match[str]) -> Iterator[DateMention]:
        """Yield quarters as seasons are read: by their year, or after a word such as "in" the latest that has begun."""
        last = self._number(match["q"] or match["number"] or match["ordinal"])
        first = self._number(match["first_q"] or match["first_ordinal"] or str(last))
        year = int(match["ahead"]) if match["ahead"] else self._year(match)
        is_sure = match["lead"] or match["relative"] or match["name"] in self._words.sure_quarters
        if year is None and not is_sure:
            return
        span = self._folded.span(match.end("lead") if match["lead"] else match.start(), match.end())
        if first == last:
            yield self._quarter(span, last, year=year)
        elif not match["and"] or self._is_between(match):
            one, other = (self._quarter(span, number, year=year) for number in (first, last))
            yield replace(one, end=other.end)
        else:
            begun = self._folded.span(match.end("lead") if match["lead"] else match.start(), match.start("and"))
            yield self._quarter(begun, first, year=year)
            yield self._quarter(self._folded.span(match.end("and"), match.end()), last, year=year)

    def _quarter(self, span: Span, number: int, *, year: int | None) -> DateMention:
        month = 3 * number - 2
        if year is None:
            return self._in_season(span, month, which=None)
        return DateMention(span, *season_period(year, month), month=month, day=None, year=year, kind="season")

    def _number(self, written: str) -> int:
        return int(written) if written.isdigit() else self._words.ordinals[written]

    def _holiday(self, match: re.Match[str]) -> DateMention | None:
        name, year = match["holiday"], self._year(match)
        feast = self._words.holidays[name]
        has_lead = self._is_between(match) or self._word_before(match.start()) in self._words.holiday_lead
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

    def _mention(
        self, match: re.Match[str], kind: Kind, *, period: Period | None, weekday: int | None = None
    ) -> DateMention:
        start, end = period or (None, None)
        return DateMention(self._span(match), start, end, month=None, day=None, year=None, kind=kind, weekday=weekday)
