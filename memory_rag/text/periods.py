"""Stretches of the calendar: days, ISO weeks, weekends, months, years and seasons, half-open.

Seasons are those of the north, three whole months each. A winter belongs to the year in which it ends: winter
2023 is December 2022 to February 2023.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import NamedTuple

from memory_rag.text.date_words import Feast, Unit, Which

WINTER = 12


class Period(NamedTuple):
    """The days from ``start`` up to, and without, ``end``."""

    start: date
    end: date


def day_period(day: date) -> Period:
    """Return the period of one day."""
    return Period(day, day + timedelta(days=1))


def month_period(year: int, month: int) -> Period:
    """Return a calendar month."""
    return Period(date(year, month, 1), _first_of_month(year * 12 + month))


def year_period(year: int) -> Period:
    """Return a calendar year."""
    return Period(date(year, 1, 1), date(year + 1, 1, 1))


def season_period(year: int, first_month: int) -> Period:
    """Return the season of this year that begins with this month; winter begins in the December before."""
    months = (year - 1 if first_month == WINTER else year) * 12 + first_month - 1
    return Period(_first_of_month(months), _first_of_month(months + 3))


def feast_period(year: int, feast: Feast) -> Period:
    """Return the days of a holiday in a year."""
    days = [date(year, feast.month, day) for day in range(feast.first, feast.last + 1)]
    if feast.weekday is not None:
        days = [day for day in days if day.weekday() == feast.weekday]
    return Period(days[0], days[-1] + timedelta(days=1))


def weekend_period(day: date) -> Period:
    """Return the Saturday and Sunday of the ISO week that the day lies in."""
    monday = day - timedelta(days=day.weekday())
    return Period(monday + timedelta(days=5), monday + timedelta(days=7))


def weeks_period(year: int, first: int, last: int) -> Period | None:
    """Return the ISO weeks of a year from the first to the last; None if the year hasn't got them."""
    try:
        start, end = (date.fromisocalendar(year, week, 1) for week in (first, last))
        return Period(start, end + timedelta(weeks=1))
    except (ValueError, OverflowError):
        return None


def shifted(reference: date, unit: Unit, *, count: int) -> Period:
    """Return the whole day, week, weekend, month, quarter or year that lies ``count`` of them after the reference's.

    Raises:
        ValueError, OverflowError: it lies outside the calendar.
    """
    if unit == "day":
        return day_period(reference + timedelta(days=count))
    if unit == "week":
        monday = reference - timedelta(days=reference.weekday()) + timedelta(weeks=count)
        return Period(monday, monday + timedelta(weeks=1))
    if unit == "weekend":
        return weekend_period(reference + timedelta(weeks=count))
    if unit == "month":
        months = reference.year * 12 + reference.month - 1 + count
        return Period(_first_of_month(months), _first_of_month(months + 1))
    if unit == "quarter":
        months = reference.year * 12 + (reference.month - 1) // 3 * 3 + 3 * count
        return Period(_first_of_month(months), _first_of_month(months + 3))
    return year_period(reference.year + count)


def chosen(which: Which | None, candidates: Iterable[Period], *, reference: date) -> Period | None:
    """Return the period that is meant, seen from the reference; None if no candidate is.

    ``last`` is the latest one that is over, ``next`` the first that has not begun, ``this`` and ``nearest``
    the nearest (of two equally near the earlier), None the latest that has begun.
    """
    known = sorted(candidates)
    if which == "last":
        return max((period for period in known if period.end <= reference), default=None)
    if which == "next":
        return min((period for period in known if period.start > reference), default=None)
    if which is None:
        return max((period for period in known if period.start <= reference), default=None)
    return min(known, key=lambda period: distance(period, reference), default=None)


def distance(period: Period, day: date) -> int:
    """Return how many days a day lies from a period; 0 inside."""
    if day < period.start:
        return (period.start - day).days
    return max(0, (day - period.end).days + 1)


def _first_of_month(months: int) -> date:
    return date(months // 12, months % 12 + 1, 1)
