"""Times typed as filters: an instant, or the bound of a search's window.

A bare date, week (ISO 8601), month or year is a period of the asker's zone: as ``since`` it is the period's first
instant, as ``until`` the first instant after it. A clock time is one exact instant. Everything returned
is in UTC, because Python compares two times of one zone by their clocks and so puts a repeated hour in
the wrong order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from difflib import get_close_matches
from zoneinfo import ZoneInfo, available_timezones

from memory_rag.errors import QueryError

ACCEPTED = (
    "2026, 2026-04, 2026-04-10, 2026-04-10 09:30 or 2026-04-10T09:30:00.5, "
    "with Z or an offset such as +02:00 after the clock time if it isn't local; a week is 2026-W15"
)

_WRITTEN = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:(?:[Tt]|\s{1,3})(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
    r"\s{0,3}(?P<zone>[Zz]|UTC|GMT|(?P<sign>[+−-])(?P<off_h>[0-9]{2})"
    r"(?::?(?P<off_m>[0-9]{2})(?::?(?P<off_s>[0-9]{2}))?)?)?)?)?)?"
)
_WEEK = re.compile(r"(?P<year>[0-9]{4})-?[Ww](?P<week>[0-9]{2})(?:-?(?P<day>[1-7]))?")
_LATEST = datetime.max.replace(tzinfo=UTC)
_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Bound:
    """One side of a window: an instant in UTC, and whether a turn at exactly that instant is inside.

    As ``since`` it admits what is at or after ``instant`` (always inclusive); as ``until`` what is before it,
    or at it if ``inclusive``.
    """

    instant: datetime
    inclusive: bool


@dataclass(frozen=True, slots=True)
class _Written:
    """A time as written: its first moment by the clock, what it names, and its own zone if it has one."""

    wall: datetime
    period: str
    own_zone: tzinfo | None


def zone(name: str) -> ZoneInfo:
    """Return the time zone of this name, such as ``Europe/Stockholm`` or ``UTC``.

    Raises:
        QueryError: there is no zone of this name; the message says which one may be meant.
    """
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise QueryError(_unknown_zone(name)) from None


def parse_instant(text: str, *, tz: tzinfo = UTC) -> datetime:
    """Return the instant that is written here, in UTC.

    A date, week, month or year stands for its first instant; fractions may have 1 to 9 digits, of which six are
    kept, as in a stored turn. A time without zone is read in ``tz``. A time that happens twice there, when
    clocks go back, is the first of the two; a time that is skipped, when clocks go forward, is the instant
    of the skip.

    Raises:
        QueryError: this is no time in an accepted form, or no day of the calendar.
    """
    written = _read(text)
    instant, _ = _instant(written.wall, written.own_zone or tz, later=False)
    if instant is None:
        raise QueryError(f"{_shown(text)} lies outside the years 1 to 9999 in UTC; give a later or earlier time")
    return instant


def parse_bound(text: str, *, tz: tzinfo = UTC, end: bool) -> Bound:
    """Return one side of a window: with ``end`` its ``until``, without its ``since``.

    A bare date, week, month or year: the first instant of the period (inclusive), or with ``end`` the first
    instant after it (exclusive), both by the calendar of ``tz``: a day has 23 or 25 hours when clocks
    change, and one period ends where the next begins. A time with a clock is that exact instant, inclusive
    on both sides; six digits of a fraction are kept, as in a stored turn. A time that happens twice in
    ``tz`` is the first of the two as ``since`` and the second with ``end``, so that the window holds both;
    a skipped time is the instant of the skip, exclusive with ``end``. Bounds beyond the calendar are its
    first or last instant.

    Raises:
        QueryError: this is no time in an accepted form, or no day of the calendar.
    """
    written = _read(text)
    place = written.own_zone or tz
    if written.period == "instant":
        instant, skipped = _instant(written.wall, place, later=end)
        return _within_calendar(instant, written, inclusive=not (skipped and end))
    wall = _following(written) if end else written.wall
    instant = None if wall is None else _instant(wall, place, later=False)[0]
    return _within_calendar(instant, written, inclusive=not end)


def _within_calendar(instant: datetime | None, written: _Written, *, inclusive: bool) -> Bound:
    if instant is None:
        return Bound(_EARLIEST if written.wall.year == 1 else _LATEST, True)
    return Bound(instant, inclusive)


def _read(text: str) -> _Written:
    if not isinstance(text, str):
        raise QueryError(f"a time is given as a text, got {type(text).__name__} ({text!r:.60}); accepted: {ACCEPTED}")
    if week := _WEEK.fullmatch(text.strip()):
        return _of_week(week)
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise QueryError(f"can't read {_shown(text)} as a date or time; accepted: {ACCEPTED}")
    year, month, day, hour, minute, second = (
        int(match[name] or fallback)
        for name, fallback in (
            ("year", 0),
            ("month", 1),
            ("day", 1),
            ("hour", 0),
            ("minute", 0),
            ("second", 0),
        )
    )
    microsecond = int((match["fraction"] or "").ljust(6, "0")[:6])
    midnight_after = (hour, minute, second, microsecond) == (24, 0, 0, 0)
    try:
        wall = datetime(year, month, day, 0 if midnight_after else hour, minute, second, microsecond)
        wall += timedelta(days=1 if midnight_after else 0)
        own_zone = _own_zone(match)
    except (ValueError, OverflowError) as error:
        raise _no_time(text, error) from None
    period = "instant" if match["hour"] else "day" if match["day"] else "month" if match["month"] else "year"
    return _Written(wall, period, own_zone)


def _of_week(match: re.Match[str]) -> _Written:
    try:
        wall = datetime.fromisocalendar(int(match["year"]), int(match["week"]), int(match["day"] or 1))
    except ValueError as error:
        raise _no_time(match[0], error) from None
    return _Written(wall, "day" if match["day"] else "week", None)


def _no_time(text: str, error: Exception) -> QueryError:
    return QueryError(f"{_shown(text)} is no time of the calendar: {error}; accepted: {ACCEPTED}")


def _own_zone(match: re.Match[str]) -> tzinfo | None:
    if match["zone"] is None:
        return None
    if match["sign"] is None:
        return UTC
    hours, minutes, seconds = (int(match[name] or 0) for name in ("off_h", "off_m", "off_s"))
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(f"the offset {match['zone']} is not below 24 hours")
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return timezone(offset if match["sign"] == "+" else -offset)


def _following(written: _Written) -> datetime | None:
    """The first clock time after the period; None beyond the year 9999."""
    wall = written.wall
    try:
        if written.period in ("day", "week"):
            return wall + timedelta(days=1 if written.period == "day" else 7)
        if written.period == "month" and wall.month < 12:
            return wall.replace(month=wall.month + 1)
        return wall.replace(year=wall.year + 1, month=1)
    except (OverflowError, ValueError):
        return None


def _instant(wall: datetime, place: tzinfo, *, later: bool) -> tuple[datetime | None, bool]:
    """The UTC instant of a clock time, None outside the years 1 to 9999; and whether the zone skips it."""
    try:
        first = wall.replace(tzinfo=place, fold=0).astimezone(UTC)
        second = wall.replace(tzinfo=place, fold=1).astimezone(UTC)
        if first <= second:
            return (second if later else first), False
        return _skip(second, first, place), True
    except OverflowError:
        return None, False


def _skip(before: datetime, after: datetime, place: tzinfo) -> datetime:
    """The instant between these two at which the zone's clock jumps, to the second."""
    offset = before.astimezone(place).utcoffset()
    low, high = 0, int((after - before).total_seconds()) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if (before + timedelta(seconds=middle)).astimezone(place).utcoffset() == offset:
            low = middle
        else:
            high = middle
    return (before + timedelta(seconds=high)).replace(microsecond=0)


def _unknown_zone(name: str) -> str:
    known = sorted(available_timezones())
    if not known:
        return f"no data to look up time zone {_shown(name)}; install it with: pip install tzdata"
    wanted = name.strip().lower().replace(" ", "_")
    near = [zone for zone in known if wanted and wanted in (zone.lower(), zone.lower().rpartition("/")[2])]
    near = near or get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(near[:3])}?" if near else "give a name such as Europe/Stockholm or UTC"
    return f"unknown time zone {_shown(name)}; {hint}"


def _shown(text: str) -> str:
    return repr(text) if len(text) <= 60 else repr(text[:60]) + "..."
