"""Times are understood exactly, or not at all."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.importers.json_stream import WrittenFloat
from memory_rag.importers.moments import Moment, at_local_time, moment, month_number

STOCKHOLM = ZoneInfo("Europe/Stockholm")
NOON = datetime(2025, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "said_at"),
    [
        (1764504000, NOON),
        (1764504000000, NOON),
        (1764504000.25, NOON + timedelta(microseconds=250_000)),
        (WrittenFloat("1764504000.1234565"), NOON + timedelta(microseconds=123_456)),
        ("1764504000.000001", NOON + timedelta(microseconds=1)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("2025-11-30T12:00:00Z", NOON),
        ("2025-11-30T13:00:00+01:00", NOON),
        ("2025-11-30 13:00", NOON),
        ("2025-11-30", datetime(2025, 11, 29, 23, tzinfo=UTC)),
        ("20251130", datetime(2025, 11, 29, 23, tzinfo=UTC)),
    ],
)
def test_a_time_is_an_instant_in_utc_and_what_was_written(value: object, said_at: datetime) -> None:
    written = value.written if isinstance(value, WrittenFloat) else str(value)
    assert moment(value, tz=STOCKHOLM) == Moment(said_at, written)


@pytest.mark.parametrize("value", [None, ""])
def test_no_time_is_no_problem(value: object) -> None:
    assert moment(value, tz=UTC) == Moment()


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (float("nan"), "time not finite"),
        (float("inf"), "time not finite"),
        ("NaN", "time not finite"),
        ("-Infinity", "time not finite"),
        (WrittenFloat("1e999"), "time out of range"),
        (10**30, "time out of range"),
        (9e14, "time out of range"),
        ("yesterday", "time not understood"),
        ("2025-02-30", "time not understood"),
        ([], "time not understood"),
        (True, "time not understood"),
        ("0001-01-01T00:00:00+23:00", "time not understood"),
    ],
)
def test_a_time_that_cannot_be_is_unknown_and_says_why(value: object, problem: str) -> None:
    found = moment(value, tz=UTC)
    assert (found.said_at, found.problem) == (None, problem)
    assert found.written


@given(st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1)))
def test_microseconds_written_in_seconds_carry_no_binary_noise(when: datetime) -> None:
    said_at = when.replace(tzinfo=UTC)
    micros = (said_at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    written = f"{micros // 1_000_000}.{micros % 1_000_000:06}"
    assert moment(json.loads(written, parse_float=WrittenFloat), tz=UTC) == Moment(said_at, written)
    assert moment(json.loads(written), tz=UTC).said_at == said_at


def test_a_wall_clock_is_read_in_its_zone() -> None:
    plus_two = timezone(timedelta(hours=2))
    assert at_local_time(2023, 5, 8, hour=13, minute=56, tz=plus_two).said_at == datetime(
        2023, 5, 8, 11, 56, tzinfo=UTC
    )
    assert at_local_time(2023, 2, 30, tz=UTC).problem == "time not understood"
    assert at_local_time(2023, None, 3, tz=UTC).problem == "time not understood"


def test_months_have_their_english_names() -> None:
    assert [month_number("January"), month_number("MAY"), month_number("Mai")] == [1, 5, None]
