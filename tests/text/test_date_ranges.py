"""Stretches of days, quarters and holidays are read from their first day to their last."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.text.dates import find_dates

TODAY = date(2024, 6, 12)


def stretches(text: str, language: str, reference: date | None = TODAY) -> list[tuple[str, str, str]]:
    """The words, and the first and the last day, as month-day where the year isn't told."""
    found = []
    for mention in find_dates(text, language=language, reference=reference):
        if mention.start is not None and mention.end is not None:
            last = date.fromordinal(mention.end.toordinal() - 1)
            ends = (str(mention.start), str(last))
        else:
            first = f"{mention.month}-{mention.day or '*'}"
            ends = (first, f"{mention.last_month}-{mention.last_day or '*'}" if mention.last_month else first)
        found.append((mention.span.of(text), *ends))
    return found


RANGES = [
    ("en", "between 3 and 5 May", "3 and 5 May", "5-3", "5-5"),
    ("en", "between the 3rd and the 5th of May 2023", "the 3rd and the 5th of May 2023", "2023-05-03", "2023-05-05"),
    ("en", "on 3-5 May", "3-5 May", "5-3", "5-5"),
    ("en", "on 3–5 May 2023", "3–5 May 2023", "2023-05-03", "2023-05-05"),
    ("en", "from 3 to 5 May", "3 to 5 May", "5-3", "5-5"),
    ("en", "from 3 until 5 May", "3 until 5 May", "5-3", "5-5"),
    ("en", "on May 3 to 5", "May 3 to 5", "5-3", "5-5"),
    ("en", "May 3rd through the 5th, 2023", "May 3rd through the 5th, 2023", "2023-05-03", "2023-05-05"),
    ("en", "between May 3 and 5", "May 3 and 5", "5-3", "5-5"),
    ("en", "between May 3 and May 15, 2023", "May 3 and May 15, 2023", "2023-05-03", "2023-05-15"),
    ("en", "between March and May 2023", "March and May 2023", "2023-03-01", "2023-05-31"),
    ("en", "from November to February 2023", "November to February 2023", "2022-11-01", "2023-02-28"),
    ("en", "from March 2022 to May", "March 2022 to May", "2022-03-01", "2022-05-31"),
    ("en", "from November to February", "November to February", "11-*", "2-*"),
    ("en", "from 28 April to 2 May", "28 April to 2 May", "4-28", "5-2"),
    ("en", "2023-05-03 to 2023-06-02", "2023-05-03 to 2023-06-02", "2023-05-03", "2023-06-02"),
    ("en", "between 2019 and 2021", "2019 and 2021", "2019-01-01", "2021-12-31"),
    ("en", "from summer 2022 to spring 2023", "summer 2022 to spring 2023", "2022-06-01", "2023-05-31"),
    ("en", "from last week until today", "last week until today", "2024-06-03", "2024-06-12"),
    ("en", "between the first and third of May", "the first and third of May", "5-1", "5-3"),
    ("en", "May–June 2023", "May–June 2023", "2023-05-01", "2023-06-30"),
    ("en", "Jan. to Mar. 2023", "Jan. to Mar. 2023", "2023-01-01", "2023-03-31"),
    ("en", "between Nov and Feb 2023", "Nov and Feb 2023", "2022-11-01", "2023-02-28"),
    ("en", "from mid-May to late June 2023", "May to late June 2023", "2023-05-01", "2023-06-30"),
    ("en", "since 3 May until today", "3 May until today", "2024-05-03", "2024-06-12"),
    ("en", "between 20 June and yesterday", "20 June and yesterday", "2023-06-20", "2024-06-11"),
    ("en", "2023-05-03–2023-05-05", "2023-05-03–2023-05-05", "2023-05-03", "2023-05-05"),
    ("en", "2023-05-03/2023-06-02", "2023-05-03/2023-06-02", "2023-05-03", "2023-06-02"),
    ("sv", "jan–mars 2023", "jan–mars 2023", "2023-01-01", "2023-03-31"),
    ("sv", "mellan 3 och 5 maj", "3 och 5 maj", "5-3", "5-5"),
    ("sv", "mellan den 3:e och 5:e maj 2023", "den 3:e och 5:e maj 2023", "2023-05-03", "2023-05-05"),
    ("sv", "från den 3 maj till den 5 juni", "den 3 maj till den 5 juni", "5-3", "6-5"),
    ("sv", "mellan mars och maj 2023", "mars och maj 2023", "2023-03-01", "2023-05-31"),
    ("nb", "fra 3. til 5. mai", "3. til 5. mai", "5-3", "5-5"),
    ("nb", "mellom 3. og 5. mai 2023", "3. og 5. mai 2023", "2023-05-03", "2023-05-05"),
    ("da", "mellem den 3. og den 5. maj", "den 3. og den 5. maj", "5-3", "5-5"),
    ("de", "zwischen dem 3. und 5. Mai", "dem 3. und 5. Mai", "5-3", "5-5"),
    ("de", "vom 3. bis zum 5. Mai 2023", "vom 3. bis zum 5. Mai 2023", "2023-05-03", "2023-05-05"),
    ("de", "zwischen März und Mai 2023", "März und Mai 2023", "2023-03-01", "2023-05-31"),
]


@pytest.mark.parametrize(("language", "text", "words", "first", "last"), RANGES)
def test_a_range_is_one_mention_from_its_first_day_to_its_last(
    language: str, text: str, words: str, first: str, last: str
) -> None:
    assert stretches(text, language) == [(words, first, last)]


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en", "on 3 and 5 May", ["3", "5 May"]),
        ("en", "on 3, 4 and 5 May 2023", ["3", "4", "5 May 2023"]),
        ("en", "on 3 or 5 May", ["3", "5 May"]),
        ("sv", "den 3 och 5 maj", ["den 3", "5 maj"]),
        ("en", "in March and May 2023", ["March", "May 2023"]),
        ("en", "in Jan and Mar 2023", ["Jan", "Mar 2023"]),
        ("en", "Q1 and Q3 2023", ["Q1", "Q3 2023"]),
        ("en", "from 2023-05-05/2023-05-03", []),
        ("en", "2023-05-03/9999-12-31, 0000-01-01/2023-05-03", []),
        ("en", "in 2019 and 2021", ["2019", "2021"]),
        ("en", "from 7 May 2023 to 3 May 2023", ["7 May 2023", "3 May 2023"]),
    ],
)
def test_days_that_are_only_listed_are_several(language: str, text: str, words: list[str]) -> None:
    assert [found for found, *_ in stretches(text, language)] == words


def test_days_in_a_list_have_the_year_of_the_last() -> None:
    assert stretches("on 3, 4 and 5 May 2023", "en") == [
        ("3", "2023-05-03", "2023-05-03"),
        ("4", "2023-05-04", "2023-05-04"),
        ("5 May 2023", "2023-05-05", "2023-05-05"),
    ]


def test_a_range_without_year_covers_its_days_in_every_year_and_over_new_year() -> None:
    [may] = find_dates("between 3 and 20 May")
    [winter] = find_dates("from 28 December to 3 January")

    assert [may.covers(date(year, 5, day)) for year in (1999, 2024) for day in (2, 3, 11, 20, 21)] == [
        False,
        True,
        True,
        True,
        False,
    ] * 2
    assert [winter.covers(date(2024, *day)) for day in ((12, 27), (12, 28), (12, 31), (1, 3), (1, 4))] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert [may.distance_days(date(2023, 5, day)) for day in (1, 3, 11, 22)] == [2, 0, 0, 2]
    assert [winter.distance_days(date(2024, *day)) for day in ((12, 26), (1, 1), (1, 5))] == [2, 0, 2]


QUARTERS = [
    ("en", "Q2 2023", "Q2 2023", "2023-04-01", "2023-06-30"),
    ("en", "in Q4 of 2023", "Q4 of 2023", "2023-10-01", "2023-12-31"),
    ("en", "2023-Q1 was", "2023-Q1", "2023-01-01", "2023-03-31"),
    ("en", "2023Q3", "2023Q3", "2023-07-01", "2023-09-30"),
    ("en", "Q2'23", "Q2'23", "2023-04-01", "2023-06-30"),
    ("en", "the second quarter of 2023", "second quarter of 2023", "2023-04-01", "2023-06-30"),
    ("en", "the 2nd quarter of last year", "2nd quarter of last year", "2023-04-01", "2023-06-30"),
    ("en", "in Q1", "Q1", "2024-01-01", "2024-03-31"),
    ("en", "in the third quarter", "third quarter", "2023-07-01", "2023-09-30"),
    ("en", "last quarter", "last quarter", "2024-01-01", "2024-03-31"),
    ("en", "two quarters ago", "two quarters ago", "2023-10-01", "2023-12-31"),
    ("en", "from Q1 to Q3 2023", "Q1 to Q3 2023", "2023-01-01", "2023-09-30"),
    ("en", "Q1-Q3 2023", "Q1-Q3 2023", "2023-01-01", "2023-09-30"),
    ("en", "the 1st to 3rd quarter of 2023", "1st to 3rd quarter of 2023", "2023-01-01", "2023-09-30"),
    (
        "en",
        "between the second and third quarter of 2023",
        "second and third quarter of 2023",
        "2023-04-01",
        "2023-09-30",
    ),
    ("sv", "andra kvartalet 2023", "andra kvartalet 2023", "2023-04-01", "2023-06-30"),
    ("sv", "kvartal 2 2023", "kvartal 2 2023", "2023-04-01", "2023-06-30"),
    ("sv", "förra kvartalet", "förra kvartalet", "2024-01-01", "2024-03-31"),
    ("nb", "2. kvartal 2023", "2. kvartal 2023", "2023-04-01", "2023-06-30"),
    ("nb", "andre kvartal 2023", "andre kvartal 2023", "2023-04-01", "2023-06-30"),
    ("da", "andet kvartal 2023", "andet kvartal 2023", "2023-04-01", "2023-06-30"),
    ("de", "im zweiten Quartal 2023", "zweiten Quartal 2023", "2023-04-01", "2023-06-30"),
    ("de", "2. Quartal 2023", "2. Quartal 2023", "2023-04-01", "2023-06-30"),
]


@pytest.mark.parametrize(("language", "text", "words", "first", "last"), QUARTERS)
def test_a_quarter_has_its_three_months(language: str, text: str, words: str, first: str, last: str) -> None:
    assert stretches(text, language) == [(words, first, last)]


HOLIDAYS = [
    ("en", "on Christmas Eve", "Christmas Eve", "12-24", "12-24"),
    ("en", "at Christmas", "Christmas", "12-25", "12-25"),
    ("en", "Christmas Day 2022", "Christmas Day 2022", "2022-12-25", "2022-12-25"),
    ("en", "last Christmas", "last Christmas", "2023-12-25", "2023-12-25"),
    ("en", "on New Year’s Eve", "New Year’s Eve", "12-31", "12-31"),
    ("en", "on New Year's Day of 2023", "New Year's Day of 2023", "2023-01-01", "2023-01-01"),
    ("en", "at Halloween last year", "Halloween last year", "2023-10-31", "2023-10-31"),
    ("en", "Valentine's Day", "Valentine's Day", "2-14", "2-14"),
    ("en", "on Thanksgiving 2023", "Thanksgiving 2023", "2023-11-23", "2023-11-23"),
    ("en", "between Christmas Eve and New Year's Day", "Christmas Eve and New Year's Day", "12-24", "1-1"),
    ("sv", "på julafton", "julafton", "12-24", "12-24"),
    ("sv", "juldagen 2022", "juldagen 2022", "2022-12-25", "2022-12-25"),
    ("sv", "förra nyårsafton", "förra nyårsafton", "2023-12-31", "2023-12-31"),
    ("sv", "midsommarafton 2023", "midsommarafton 2023", "2023-06-23", "2023-06-23"),
    ("sv", "midsommarafton 2026", "midsommarafton 2026", "2026-06-19", "2026-06-19"),
    ("sv", "på midsommarafton", "midsommarafton", "6-19", "6-25"),
    ("sv", "midsommardagen i fjol", "midsommardagen i fjol", "2023-06-24", "2023-06-24"),
    ("nb", "på julaften", "julaften", "12-24", "12-24"),
    ("nb", "17. mai", "17. mai", "5-17", "5-17"),
    ("nb", "nyttårsaften 2022", "nyttårsaften 2022", "2022-12-31", "2022-12-31"),
    ("da", "juleaften", "juleaften", "12-24", "12-24"),
    ("de", "an Heiligabend", "Heiligabend", "12-24", "12-24"),
    ("de", "Silvester 2022", "Silvester 2022", "2022-12-31", "2022-12-31"),
]


@pytest.mark.parametrize(("language", "text", "words", "first", "last"), HOLIDAYS)
def test_a_holiday_is_its_day(language: str, text: str, words: str, first: str, last: str) -> None:
    assert stretches(text, language) == [(words, first, last)]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "a Christmas tree, Christmas songs, what she loves during Halloween and every Thanksgiving"),
        ("en", "Q2: what is it? Q3. And Q5 2023x"),
        ("en", "a second quarter, three quarters, a quarter past nine, the last quarter of the game"),
        ("en", "Valentine came, the eve of it, happy new year"),
        ("en", "between 3 and 5 people, between 3 and 5 may be enough"),
        ("sv", "god jul 2023! jul, ett kvartal"),
    ],
)
def test_what_only_looks_like_it_is_left_alone(language: str, text: str) -> None:
    assert stretches(text, language) == []


WORDS = ["3", "and", "5", "May", "to", "-", "between", "2023", "March", "Q2", "Christmas", ",", "the", "last", "from"]


@given(st.lists(st.sampled_from(WORDS), max_size=9))
def test_mentions_of_any_words_are_apart_and_in_order(words: list[str]) -> None:
    found = find_dates(" ".join(words), reference=TODAY)

    assert all(one.span.end <= other.span.start for one, other in pairwise(found))
    assert all(one.start < one.end for one in found if one.start is not None and one.end is not None)
