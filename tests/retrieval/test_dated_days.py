"""What each day is worth before the dates that a question names, as the mentions themselves tell it."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest

from memory_rag.retrieval.dated_days import values_of_days
from memory_rag.retrieval.local_days import UNKNOWN_DAY
from memory_rag.text.date_mentions import DateMention
from memory_rag.text.dates import find_dates

EPOCH = date(1970, 1, 1)
TODAY = date(2026, 5, 3)


def days_from(first: date, n: int) -> list[int]:
    return [(first - EPOCH).days + number for number in range(n)]


DAYS = np.array(
    [
        UNKNOWN_DAY,
        *days_from(date(1896, 2, 26), 6),
        *days_from(date(1900, 2, 26), 5),
        *days_from(date(2019, 11, 1), 3000),
    ]
)


def worth(mention: DateMention, day: date) -> float:
    """What a day is worth, told one day at a time by the mention."""
    named = mention.day is not None
    if not named and mention.start is not None and mention.end is not None:
        named = mention.end - mention.start <= timedelta(days=1)
    away = mention.distance_days(day) if named else None
    if away is not None and away <= 1:
        return 2.0
    in_month = mention.kind in ("day", "month") and day.month == mention.month and mention.year in (None, day.year)
    return 1.0 if mention.covers(day) or in_month else 0.0


@pytest.mark.parametrize(
    "text",
    [
        "on Monday",
        "in March",
        "on March 5",
        "on 5 May 2023",
        "from 3-5 May 2023",
        "between 3 and 25 May",
        "from 28 December to 3 January",
        "from 29 February to 2 March",
        "from March to September",
        "from November 2021 to May",
        "on Christmas Eve and on Thanksgiving",
        "in Q2",
        "in Q2 2021",
        "in May 2022",
        "in winter",
        "in the autumn",
        "in summer 2020",
        "last winter",
        "in 2021",
        "last week",
        "yesterday",
        "on 29 February",
        "on February 29, 2024",
        "on 1 January",
        "on 31 December",
        "on Friday or on 24 December",
    ],
)
@pytest.mark.parametrize("reference", [TODAY, None])
def test_each_day_is_worth_what_the_mentions_tell_of_it(text: str, reference: date | None) -> None:
    mentions = find_dates(text, reference=reference)
    assert mentions

    values = values_of_days(mentions, DAYS)

    assert values[0] == 0.0
    known = [EPOCH + timedelta(days=day) for day in DAYS[1:].tolist()]
    assert values[1:].tolist() == [max(worth(mention, day) for mention in mentions) for day in known]


def test_an_unknown_day_is_no_day_that_is_named() -> None:
    mentions = find_dates("in March")

    assert values_of_days(mentions, np.array([UNKNOWN_DAY])).tolist() == [0.0]
    assert values_of_days(mentions, np.zeros(0, np.int64)).tolist() == []
