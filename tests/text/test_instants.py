from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import QueryError
from memory_rag.text.instants import Bound, parse_bound, parse_instant, zone
from memory_rag.turns import to_microseconds

STOCKHOLM = ZoneInfo("Europe/Stockholm")


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


def admitted(times: dict[str, str], *, since: str | None = None, until: str | None = None) -> list[str]:
    """The ids in the window of Stockholm's clock, oldest first, compared as a store compares them."""
    instants = {name: to_microseconds(parse_instant(text)) for name, text in times.items()}
    inside = dict(instants)
    if since is not None:
        low = parse_bound(since, tz=STOCKHOLM, end=False)
        inside = {name: at for name, at in inside.items() if at >= to_microseconds(low.instant)}
    if until is not None:
        high = parse_bound(until, tz=STOCKHOLM, end=True)
        edge = to_microseconds(high.instant)
        inside = {name: at for name, at in inside.items() if at < edge or (high.inclusive and at == edge)}
    return sorted(inside, key=lambda name: (inside[name], name))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-02T10:30:00+02:00", utc(2026, 5, 2, 8, 30)),
        ("2026-05-02T09:30:00Z", utc(2026, 5, 2, 9, 30)),
        ("2026-05-02t09:30:00z", utc(2026, 5, 2, 9, 30)),
        ("2026-05-02 09:30 UTC", utc(2026, 5, 2, 9, 30)),
        ("2026-05-02T09:30:00.002Z", utc(2026, 5, 2, 9, 30, 0, 2000)),
        ("2026-05-02T09:30:00,5Z", utc(2026, 5, 2, 9, 30, 0, 500_000)),
        ("2026-05-02T09:30:00.123456789Z", utc(2026, 5, 2, 9, 30, 0, 123_456)),
        ("2026-05-02T09:30:00.000000999Z", utc(2026, 5, 2, 9, 30)),
        ("2026-05-02T09:30:00.1234567Z", utc(2026, 5, 2, 9, 30, 0, 123_456)),
        ("2026-05-02 10:00:00", utc(2026, 5, 2, 10)),
        ("2026-05-02 10:00", utc(2026, 5, 2, 10)),
        ("2026-05-02T11:30:00+02:00", utc(2026, 5, 2, 9, 30)),
        ("2026-05-02T11:30:00 +0200", utc(2026, 5, 2, 9, 30)),
        ("2026-05-02T11:30:00+02", utc(2026, 5, 2, 9, 30)),
        ("2026-05-01T23:00:00-10:30", utc(2026, 5, 2, 9, 30)),
        ("2026-05-01T23:00:00−10:30", utc(2026, 5, 2, 9, 30)),
        ("1879-01-01T01:12:12+01:12:12", utc(1879, 1, 1)),
        ("2026-05-02T24:00Z", utc(2026, 5, 3)),
        ("  2026-05-02 \n", utc(2026, 5, 2)),
        ("2026-05", utc(2026, 5, 1)),
        ("2026", utc(2026, 1, 1)),
    ],
)
def test_every_accepted_form_is_one_instant_in_utc(text: str, expected: datetime) -> None:
    instant = parse_instant(text)
    assert instant == expected
    assert instant.tzinfo is UTC


def test_a_clock_time_without_zone_is_read_in_the_zone_given() -> None:
    assert parse_instant("2026-05-02 10:00", tz=STOCKHOLM) == utc(2026, 5, 2, 8)
    assert parse_instant("2026-12-02 10:00", tz=STOCKHOLM) == utc(2026, 12, 2, 9)
    assert parse_instant("2026-12-02 10:00Z", tz=STOCKHOLM) == utc(2026, 12, 2, 10)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "10:30",
        "2026-5-2",
        "20260502",
        "1764460800",
        "2026-05-02T10",
        "2026-05-02T10:30:00.",
        "2026-05-02T10:30:00.1234567890Z",
        "2026-05-02T10:30+02:00[Europe/Stockholm]",
        "2026-05-02Z",
        "2026-05-02 10:30 CET",
        "2026-05-02T10:30Z2026-05-02T10:30Z",
        "٢٠٢٦-٠٥-٠٢",
        "2026-05-02\0",
        "\ud800",
        "2026-W5",
        "2026-W18-8",
        "2026-W18T10:00",
    ],
)
def test_another_form_is_refused_with_the_value_and_the_accepted_forms(text: str) -> None:
    for read in (parse_instant, lambda text: parse_bound(text, end=True)):
        with pytest.raises(QueryError) as caught:
            read(text)
        assert repr(text) in str(caught.value)
        assert "accepted: 2026, 2026-04, 2026-04-10, 2026-04-10 09:30" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-29",
        "2026-04-31",
        "2026-13",
        "2026-00",
        "0000",
        "2026-05-02 24:01",
        "2026-05-02 23:60",
        "2026-12-31 23:59:60Z",
        "2026-05-02 10:00+24:00",
        "2026-05-02 10:00+02:60",
        "2026-W00",
        "2025-W53",
    ],
)
def test_a_time_that_no_calendar_has_is_refused_with_the_value_and_the_reason(text: str) -> None:
    with pytest.raises(QueryError, match="is no time of the calendar") as caught:
        parse_instant(text)
    assert repr(text) in str(caught.value)


def test_a_very_long_value_is_not_repeated_in_full_in_the_error() -> None:
    with pytest.raises(QueryError) as caught:
        parse_instant("2" * 100_000)
    assert len(str(caught.value)) < 400


def test_an_instant_outside_the_years_1_to_9999_is_refused() -> None:
    for text in ("0001-01-01T00:00+02:00", "9999-12-31T23:00-02:00"):
        with pytest.raises(QueryError, match="outside the years 1 to 9999"):
            parse_instant(text)


def test_times_are_compared_as_instants_and_never_as_text() -> None:
    times = {
        "1": "2026-05-02T10:30:00+02:00",
        "2": "2026-05-02T09:30:00Z",
        "3": "2026-05-02T09:30:00.002Z",
        "4": "2026-05-02 10:00:00",
        "5": "2026-05-02T11:30:00+02:00",
    }
    assert admitted(times, since="2026-05-02T09:30:00Z") == ["2", "5", "3", "4"]


def test_a_turn_before_a_window_of_30_minutes_is_outside() -> None:
    since = parse_instant("2026-05-02T18:20Z") - timedelta(minutes=30)
    assert parse_instant("2026-05-02T17:10Z") < since


def test_until_a_day_holds_that_whole_day() -> None:
    times = {
        "t1": "2026-04-10T00:00:00+02:00",
        "t2": "2026-04-10T23:59:59.999+02:00",
        "t3": "2026-04-11T00:00:00+02:00",
    }
    assert admitted(times, since="2026-04-10", until="2026-04-10") == ["t1", "t2"]
    assert parse_bound("2026-04-10", tz=STOCKHOLM, end=False) == Bound(utc(2026, 4, 9, 22), True)
    assert parse_bound("2026-04-10", tz=STOCKHOLM, end=True) == Bound(utc(2026, 4, 10, 22), False)


def test_until_a_clock_time_is_that_exact_instant_and_holds_it() -> None:
    times = {
        "before": "2026-04-10T07:29:59.999999Z",
        "at": "2026-04-10T07:30:00Z",
        "after": "2026-04-10T07:30:00.000001Z",
    }
    assert admitted(times, until="2026-04-10 09:30") == ["before", "at"]
    assert admitted(times, since="2026-04-10 09:30") == ["at", "after"]
    assert admitted(times, since="2026-04-10 00:00", until="2026-04-10 00:00") == []


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("2026-04", utc(2026, 3, 31, 22), utc(2026, 4, 30, 22)),
        ("2026-12", utc(2026, 11, 30, 23), utc(2026, 12, 31, 23)),
        ("2024-02", utc(2024, 1, 31, 23), utc(2024, 2, 29, 23)),
        ("2026", utc(2025, 12, 31, 23), utc(2026, 12, 31, 23)),
        ("2026-12-31", utc(2026, 12, 30, 23), utc(2026, 12, 31, 23)),
    ],
)
def test_a_month_or_a_year_as_bound_is_the_whole_period_in_the_zone(
    text: str, since: datetime, until: datetime
) -> None:
    assert parse_bound(text, tz=STOCKHOLM, end=False) == Bound(since, True)
    assert parse_bound(text, tz=STOCKHOLM, end=True) == Bound(until, False)


@pytest.mark.parametrize(
    ("place", "day", "hours"),
    [
        ("Europe/Stockholm", "2026-03-29", 23),
        ("Europe/Stockholm", "2026-10-25", 25),
        ("Europe/Stockholm", "2026-10-26", 24),
        ("Africa/Cairo", "2023-04-28", 23),  # midnight itself is skipped
        ("America/Havana", "2023-11-05", 25),  # midnight comes twice
        ("America/Sao_Paulo", "2018-02-17", 25),  # the day's last hour comes twice
        ("Australia/Lord_Howe", "2026-04-05", 24.5),
        ("Pacific/Apia", "2011-12-30", 0),  # the day was left out of the calendar
        ("UTC", "2026-03-29", 24),
    ],
)
def test_a_day_is_as_long_as_the_zone_makes_it(place: str, day: str, hours: float) -> None:
    since = parse_bound(day, tz=zone(place), end=False)
    until = parse_bound(day, tz=zone(place), end=True)
    assert until.instant - since.instant == timedelta(hours=hours)


def test_a_clock_time_that_comes_twice_opens_at_the_first_and_closes_at_the_second() -> None:
    twice = "2026-10-25 02:30"
    assert parse_instant(twice, tz=STOCKHOLM) == utc(2026, 10, 25, 0, 30)
    assert parse_bound(twice, tz=STOCKHOLM, end=False) == Bound(utc(2026, 10, 25, 0, 30), True)
    assert parse_bound(twice, tz=STOCKHOLM, end=True) == Bound(utc(2026, 10, 25, 1, 30), True)


def test_a_skipped_clock_time_is_the_instant_of_the_skip() -> None:
    skip = utc(2026, 3, 29, 1)
    for text in ("2026-03-29 02:00", "2026-03-29 02:30:00.5", "2026-03-29 02:59:59.999999"):
        assert parse_instant(text, tz=STOCKHOLM) == skip
        assert parse_bound(text, tz=STOCKHOLM, end=False) == Bound(skip, True)
        assert parse_bound(text, tz=STOCKHOLM, end=True) == Bound(skip, False)
    assert parse_bound("2026-03-29 03:00", tz=STOCKHOLM, end=True) == Bound(skip, True)
    assert parse_bound("2026-03-29 02:30+01:00", tz=STOCKHOLM, end=True) == Bound(utc(2026, 3, 29, 1, 30), True)


def test_a_bound_beyond_the_calendar_is_its_first_or_last_instant() -> None:
    last = datetime.max.replace(tzinfo=UTC)
    for text in ("9999", "9999-12", "9999-12-31", "9999-12-31T23:30-02:00"):
        assert parse_bound(text, end=True) == Bound(last, True)
    assert parse_bound("9999-11", end=True) == Bound(utc(9999, 12, 1), False)
    assert parse_bound("0001", tz=STOCKHOLM, end=False) == Bound(datetime.min.replace(tzinfo=UTC), True)


@pytest.mark.parametrize(
    ("week", "first", "after"),
    [
        ("2026-W18", utc(2026, 4, 26, 22), utc(2026, 5, 3, 22)),
        ("2026w18", utc(2026, 4, 26, 22), utc(2026, 5, 3, 22)),
        # The first week of 2026 begins in 2025, the last ends in 2027.
        ("2026-W01", utc(2025, 12, 28, 23), utc(2026, 1, 4, 23)),
        ("2026-W53", utc(2026, 12, 27, 23), utc(2027, 1, 3, 23)),
        # Clocks go back: a week of 169 hours.
        ("2026-W43", utc(2026, 10, 18, 22), utc(2026, 10, 25, 23)),
        ("2026-W18-3", utc(2026, 4, 28, 22), utc(2026, 4, 29, 22)),
    ],
)
def test_a_week_of_the_calendar_is_a_period(week: str, first: datetime, after: datetime) -> None:
    assert parse_bound(week, tz=STOCKHOLM, end=False) == Bound(first, True)
    assert parse_bound(week, tz=STOCKHOLM, end=True) == Bound(after, False)


def test_what_is_no_text_is_refused_with_our_own_error() -> None:
    with pytest.raises(QueryError, match="a time is given as a text, got datetime"):
        parse_bound(datetime(2026, 5, 2, tzinfo=UTC), end=True)  # type: ignore[arg-type]


def test_a_zone_is_found_by_its_name() -> None:
    assert zone("Europe/Oslo").key == "Europe/Oslo"
    assert zone("UTC").key == "UTC"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Stockholm", "did you mean Europe/Stockholm?"),
        ("europe/oslo", "did you mean Europe/Oslo?"),
        ("new york", "did you mean America/New_York?"),
        ("Europe/Stokholm", "did you mean Europe/Stockholm"),
        ("+02:00", "give a name such as Europe/Stockholm or UTC"),
        ("", "give a name such as Europe/Stockholm or UTC"),
        ("../etc/passwd", "give a name such as Europe/Stockholm or UTC"),
        ("Europe", "unknown time zone 'Europe'"),
        ("Mars/Olympus\0", "unknown time zone"),
    ],
)
def test_an_unknown_zone_is_refused_with_a_near_name(name: str, hint: str) -> None:
    with pytest.raises(QueryError) as caught:
        zone(name)
    assert repr(name) in str(caught.value)
    assert hint in str(caught.value)


ZONES = st.sampled_from(["UTC", "Europe/Stockholm", "America/Havana", "America/Sao_Paulo", "Africa/Cairo"])


@given(st.datetimes(min_value=datetime(1950, 1, 1), max_value=datetime(2100, 1, 1)), st.integers(-1439, 1439))
def test_an_instant_written_with_its_offset_is_read_back(wall: datetime, offset: int) -> None:
    instant = wall.replace(tzinfo=timezone(timedelta(minutes=offset)))
    assert parse_instant(instant.isoformat()) == instant


@given(st.dates(min_value=date(1950, 1, 1), max_value=date(2100, 1, 1)), ZONES)
def test_each_day_ends_where_the_next_begins(day: date, place: str) -> None:
    following = day + timedelta(days=1)
    until = parse_bound(day.isoformat(), tz=ZoneInfo(place), end=True)
    since = parse_bound(following.isoformat(), tz=ZoneInfo(place), end=False)
    assert until.instant == since.instant


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_with_our_own_error(text: str) -> None:
    for read in (parse_instant, zone):
        with suppress(QueryError):
            read(text)
