"""The instant a message was sent, from the many ways in which exports write it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Any, NamedTuple

from memory_rag.importers.json_stream import WrittenFloat

# Seconds reach this in the year 5138, milliseconds had it in 1973.
_MILLISECONDS_FROM = Decimal(100_000_000_000)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER = re.compile(r"[+-]?\d{9,}(\.\d*)?")  # fewer digits are a year or a date
# Most times of most exports: seconds of this half century, with microseconds at most.
_PLAIN_SECONDS = re.compile(r"([0-9]{9,10})(?:\.([0-9]{1,6}))?")
_NO_TIME = frozenset({"0", "0.0", "0.000000"})
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]


class Moment(NamedTuple):
    """An instant, the way it was written, and what is wrong with it.

    All three are empty when the source gives no time; ``problem`` is set when what it gives can't be
    understood.
    """

    said_at: datetime | None = None
    written: str | None = None
    problem: str = ""


def moment(value: Any, *, tz: tzinfo) -> Moment:
    """Understand a time as JSON holds it: Unix seconds (or milliseconds), or ISO 8601, in ``tz`` if zoneless.

    A 0 is what programs write that have no time, and not the beginning of 1970.
    Microseconds are exact: they come from the digits as written, not from their binary float.
    """
    if value is None or value == "":
        return Moment()
    if isinstance(value, str) and value[4:5] == "-":
        return _from_iso(value, tz)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return Moment(written=str(value), problem="time not understood")
    written = value.written if isinstance(value, WrittenFloat) else str(value)
    if value == 0 or written in _NO_TIME:
        return Moment(written=written, problem="time 0, taken for unknown")
    plain = _PLAIN_SECONDS.fullmatch(written)
    if plain is not None:
        return Moment(_EPOCH + timedelta(0, int(plain[1]), int((plain[2] or "").ljust(6, "0"))), written)
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        return _from_iso(value, tz)
    try:
        return Moment(_from_unix(Decimal(written.strip())), written)
    except (ArithmeticError, ValueError) as error:
        return Moment(written=written, problem=_why(error))


def month_number(name: str) -> int | None:
    """Return 1 to 12 for an English month's full name, None for anything else."""
    try:
        return _MONTHS.index(name.casefold()) + 1
    except ValueError:
        return None


def at_local_time(
    year: int, month: int | None, day: int, *, hour: int = 0, minute: int = 0, second: int = 0, tz: tzinfo
) -> Moment:
    """Return the instant that a wall clock in ``tz`` shows; a day that doesn't exist is a problem."""
    try:
        return Moment(datetime(year, month or 0, day, hour, minute, second, tzinfo=tz).astimezone(UTC))
    except (ValueError, OverflowError):
        return Moment(problem="time not understood")


def _from_unix(number: Decimal) -> datetime:
    if not number.is_finite():
        raise ValueError("time not finite")
    seconds = number / 1000 if abs(number) >= _MILLISECONDS_FROM else number
    micros = (seconds * 1_000_000).quantize(Decimal(1), rounding=ROUND_HALF_EVEN)
    return _EPOCH + timedelta(microseconds=int(micros))


def _from_iso(written: str, tz: tzinfo) -> Moment:
    try:
        parsed = datetime.fromisoformat(written.strip())
        if parsed.tzinfo is not UTC:
            parsed = (parsed if parsed.tzinfo else parsed.replace(tzinfo=tz)).astimezone(UTC)
        return Moment(parsed, written)
    except (ValueError, OverflowError):
        finite = written.strip().casefold().lstrip("+-") not in {"nan", "inf", "infinity"}
        return Moment(written=written, problem="time not understood" if finite else "time not finite")


def _why(error: Exception) -> str:
    if isinstance(error, InvalidOperation | OverflowError):
        return "time out of range"
    return str(error)
