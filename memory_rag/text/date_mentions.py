"""A day, month, year or period that a text mentions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Literal

from memory_rag.text.date_words import Feast
from memory_rag.text.periods import (
    Period,
    day_period,
    distance,
    feast_period,
    month_period,
    season_period,
    year_period,
)
from memory_rag.turns import Span

Kind = Literal["day", "month", "year", "relative", "weekday", "season"]

# Years to look at on either side. There was no 29 February between those of 1896 and 1904.
_AROUND, _AROUND_LEAP_DAY = 1, 8


@dataclass(frozen=True, slots=True)
class DateMention:
    """One mention of a time and where it stands.

    ``span`` is in code points of the text. ``start`` and ``end`` (half-open) are the days that are meant,
    both None when the text alone doesn't tell: a day or month without year, a weekday, or "last week" with
    no reference. ``month``, ``day`` and ``year`` are what was named: a season or a quarter (their kind is the same)
    has its first month, "3-5 May 2023" its first day. Without year "3-5 May" has ``last_month`` and ``last_day``, too;
    over New Year the last month is the lower one. ``weekday`` is 0 for Monday.
    """

    span: Span
    start: date | None
    end: date | None
    month: int | None
    day: int | None
    year: int | None
    kind: Kind
    weekday: int | None = None
    last_month: int | None = None
    last_day: int | None = None

    def covers(self, day: date) -> bool | None:
        """Tell whether the day is meant; None when it can't be told.

        A month, a day or a season without year is met in every year, a weekday in every week. A datetime is
        the day that its own clock shows.
        """
        if isinstance(day, datetime):
            day = day.date()
        if self.start is not None and self.end is not None:
            return self.start <= day < self.end
        if self.weekday is not None:
            return day.weekday() == self.weekday
        if self.month is None:
            return None
        if self.last_month is not None:
            first, last = (self.month, self.day or 1), (self.last_month, self.last_day or 31)
            has_begun, is_not_over = (day.month, day.day) >= first, (day.month, day.day) <= last
            return (has_begun and is_not_over) if first <= last else (has_begun or is_not_over)
        if self.kind == "season":
            return (day.month - self.month) % 12 < 3
        return day.month == self.month and self.day in (None, day.day)

    def distance_days(self, day: date) -> int | None:
        """Return how many days the day lies from what is meant: 0 inside, None when it can't be told.

        Without year it is the distance to the nearest one, without week to the nearest weekday.
        """
        if isinstance(day, datetime):
            day = day.date()
        covered = self.covers(day)
        if covered is None or covered:
            return None if covered is None else 0
        if self.start is not None and self.end is not None:
            return distance(Period(self.start, self.end), day)
        if self.weekday is not None:
            ahead = (self.weekday - day.weekday()) % 7
            return min(ahead, 7 - ahead)
        around = _AROUND_LEAP_DAY if (self.month, self.day) == (2, 29) else _AROUND
        years = range(day.year - around, day.year + around + 1)
        return min(distance(period, day) for year in years if (period := self._in_year(year)) is not None)

    def in_year(self, year: int) -> DateMention:
        """Return the mention in this year; as it is if the year hasn't got it, or it is known when it is."""
        period = self._in_year(year) if self.start is None and self.month is not None else None
        if period is None:
            return self
        return replace(self, start=period.start, end=period.end, year=year, last_month=None, last_day=None)

    def _in_year(self, year: int) -> Period | None:
        month = self.month or 1
        try:
            if self.last_month is not None:
                last = (self.last_month, self.last_day)
                later = year + 1 if (last[0], last[1] or 31) < (month, self.day or 1) else year
                return Period(_named_period(year, month, self.day).start, _named_period(later, *last).end)
            if self.kind == "season":
                return season_period(year, month)
            if self.day is None:
                return month_period(year, month)
            return day_period(date(year, month, self.day))
        except (ValueError, OverflowError):
            return None


def _named_period(year: int, month: int, day: int | None) -> Period:
    """Return a month or a day of a year; a year without 29 February has no day of it, between the 28th and 1 March."""
    if day is None:
        return month_period(year, month)
    if (month, day) == (2, 29) and not is_day(month, day, year=year):
        return Period(date(year, 3, 1), date(year, 3, 1))
    return day_period(date(year, month, day))


def is_day(month: int, day: int, *, year: int | None) -> bool:
    """Tell whether a calendar has this day; without year 29 February is one."""
    try:
        date(year or 2000, month, day) + timedelta(days=1)
    except (ValueError, OverflowError):
        return False
    return True


def named(span: Span, kind: Kind, *, month: int | None, day: int | None, year: int | None) -> DateMention:
    """Return the mention of a day, month or year by its numbers; its days are known if the year is."""
    period: Period | None = None
    if year is not None:
        if month is None:
            period = year_period(year)
        else:
            period = month_period(year, month) if day is None else day_period(date(year, month, day))
    start, end = period or (None, None)
    return DateMention(span, start, end, month, day, year, kind)


def stretch(
    span: Span, kind: Kind, *, first: tuple[int, int | None], last: tuple[int, int | None], year: int | None
) -> DateMention:
    """Return the mention from a month, or a day of it, to another of this year; from the year before if it is over."""
    mention = DateMention(span, None, None, *first, None, kind, None, *last)
    if year is None:
        return mention
    goes_over = (last[0], last[1] or 31) < (first[0], first[1] or 1)
    return mention.in_year(year - 1 if goes_over else year)


def on_feast(span: Span, feast: Feast, *, year: int | None) -> DateMention:
    """Return the mention of a holiday; without year its day, or the days among which it is."""
    if year is not None and date.min.year < year < date.max.year:
        start, end = feast_period(year, feast)
        return DateMention(span, start, end, start.month, start.day, year, "day")
    last = (None, None) if feast.first == feast.last else (feast.month, feast.last)
    return DateMention(span, None, None, feast.month, feast.first, None, "day", None, *last)
