"""The calendar day on which each turn was said, where the asker lives."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.local_days import UNKNOWN_DAY, local_days
from memory_rag.retrieval.turn_table import UNKNOWN_TIME
from memory_rag.turns import to_microseconds

ZONES = ["UTC", "Europe/Stockholm", "America/New_York", "Pacific/Auckland", "Asia/Kathmandu", "Pacific/Apia"]
EPOCH = date(1970, 1, 1)


def naive(instant: datetime, zone: str) -> int:
    return (instant.astimezone(ZoneInfo(zone)).date() - EPOCH).days


@given(
    st.lists(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)), max_size=12),
    st.sampled_from(ZONES),
)
def test_days_are_those_of_the_zones_calendar(instants: list[datetime], zone: str) -> None:
    said_at = np.array([*map(to_microseconds, instants), UNKNOWN_TIME], np.int64)

    days = local_days(said_at, zone=ZoneInfo(zone))

    assert days.tolist() == [*(naive(instant, zone) for instant in instants), UNKNOWN_DAY]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    "change", [datetime(2026, 3, 8), datetime(2026, 3, 29), datetime(2026, 10, 25), datetime(2026, 11, 1)]
)
def test_the_hours_around_a_change_of_clocks_are_on_their_own_days(zone: str, change: datetime) -> None:
    instants = [change.replace(tzinfo=UTC) + timedelta(minutes=30 * half) for half in range(-60, 60)]

    days = local_days(np.array([to_microseconds(one) for one in instants], np.int64), zone=ZoneInfo(zone))

    assert days.tolist() == [naive(one, zone) for one in instants]


@pytest.mark.parametrize("edge", [datetime.min, datetime.max])
def test_the_edges_of_the_calendar_have_a_day(edge: datetime) -> None:
    said_at = np.array([to_microseconds(edge.replace(tzinfo=UTC))], np.int64)

    for zone in ZONES:
        days = local_days(said_at, zone=ZoneInfo(zone))
        assert abs(int(days[0]) - (edge.date() - EPOCH).days) <= 1


def test_no_turns_have_no_days() -> None:
    assert local_days(np.zeros(0, np.int64), zone=UTC).tolist() == []
