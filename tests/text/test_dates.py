from __future__ import annotations

import sys
import unicodedata
from datetime import UTC, date, datetime
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import SettingsError
from memory_rag.text.date_patterns import DATE_WORDS
from memory_rag.text.dates import DateMention, find_dates
from memory_rag.text.folding import fold
from memory_rag.turns import Span
from tests.linear import grows_with_its_length

# A Wednesday.
TODAY = date(2023, 5, 17)
MOST_CALLS = 100
"""Of Python or C, for a question without a date."""
SCANDINAVIAN_AND_MORE = ("sv", "nb", "da", "de", "en")


def found(text: str, language: str | tuple[str, ...]) -> list[tuple[str, str, int | None, int | None, int | None]]:
    """What is named in a text: the words, the kind, year, month and day."""
    return [
        (mention.span.of(text), mention.kind, mention.year, mention.month, mention.day)
        for mention in find_dates(text, language=language)
    ]


def days(text: str, language: str | tuple[str, ...], reference: date = TODAY) -> list[tuple[str, str, str]]:
    """What is meant, seen from the reference: the words, the first day and the last."""
    return [
        (
            mention.span.of(text),
            str(mention.start),
            str(None if mention.end is None else date.fromordinal(mention.end.toordinal() - 1)),
        )
        for mention in find_dates(text, language=language, reference=reference)
    ]


ABSOLUTE = [
    # English
    ("en", "on 2023-05-07 we met", ("2023-05-07", "day", 2023, 5, 7)),
    ("en", "2023-05-07T10:30:00Z", ("2023-05-07", "day", 2023, 5, 7)),
    ("en", "2023/05/07.", ("2023/05/07", "day", 2023, 5, 7)),
    ("en", "on 7 May 2023", ("7 May 2023", "day", 2023, 5, 7)),
    ("en", "at 1:56 pm on 8 May, 2023", ("8 May, 2023", "day", 2023, 5, 8)),
    ("en", "on May 7th, 2023.", ("May 7th, 2023", "day", 2023, 5, 7)),
    ("en", "on May 7, 2023, we", ("May 7, 2023", "day", 2023, 5, 7)),
    ("en", "December 1,2023", ("December 1,2023", "day", 2023, 12, 1)),
    ("en", "MAY 7 2023", ("MAY 7 2023", "day", 2023, 5, 7)),
    ("en", "the 7th of May", ("the 7th of May", "day", None, 5, 7)),
    ("en", "the fourth of July 1999", ("the fourth of July 1999", "day", 1999, 7, 4)),
    ("en", "on the 7th of\nMay", ("the 7th of\nMay", "day", None, 5, 7)),
    ("en", "on May 7 she", ("May 7", "day", None, 5, 7)),
    ("en", "on may 7 she", ("may 7", "day", None, 5, 7)),
    ("en", "may 7th", ("may 7th", "day", None, 5, 7)),
    ("en", "We met on 7 May. Then", ("7 May", "day", None, 5, 7)),
    ("en", "7 Sept. 2022", ("7 Sept. 2022", "day", 2022, 9, 7)),
    ("en", "7-May-2023", ("7-May-2023", "day", 2023, 5, 7)),
    ("en", "Aug 15th", ("Aug 15th", "day", None, 8, 15)),
    ("en", "Sept. 3, 2022", ("Sept. 3, 2022", "day", 2022, 9, 3)),
    ("en", "Sunday, May 7, 2023", ("Sunday, May 7, 2023", "day", 2023, 5, 7)),
    ("en", "Sunday the 7th of May", ("Sunday the 7th of May", "day", None, 5, 7)),
    ("en", "on 29 February 2024", ("29 February 2024", "day", 2024, 2, 29)),
    ("en", "on 29 February", ("29 February", "day", None, 2, 29)),
    ("en", "on 14 July 1789", ("14 July 1789", "day", 1789, 7, 14)),
    ("en", "on 7/5/2023", ("7/5/2023", "day", 2023, 7, 5)),
    ("en", "on 5/7/23", ("5/7/23", "day", 2023, 5, 7)),
    ("en", "on 25/12/2023", ("25/12/2023", "day", 2023, 12, 25)),
    ("en", "on 12/25/99", ("12/25/99", "day", 1999, 12, 25)),
    ("en", "on April 6-7, 2024", ("April 6-7, 2024", "day", 2024, 4, 6)),
    ("en", "in May 2023", ("May 2023", "month", 2023, 5, None)),
    ("en", "may 2023", ("may 2023", "month", 2023, 5, None)),
    ("en", "May of 2023", ("May of 2023", "month", 2023, 5, None)),
    ("en", "in May, 2023", ("May, 2023", "month", 2023, 5, None)),
    ("en", "Jan 2024", ("Jan 2024", "month", 2024, 1, None)),
    ("en", "May '23", ("May '23", "month", 2023, 5, None)),
    ("en", "May ’23", ("May ’23", "month", 2023, 5, None)),
    ("en", "what I did in May", ("May", "month", None, 5, None)),
    ("en", "what i did in may", ("may", "month", None, 5, None)),
    ("en", "in march we", ("march", "month", None, 3, None)),
    ("en", "mid-May", ("May", "month", None, 5, None)),
    ("en", "the May trip", ("May", "month", None, 5, None)),
    ("en", "How busy May became", ("May", "month", None, 5, None)),
    ("en", "january was cold", ("january", "month", None, 1, None)),
    ("en", "December", ("December", "month", None, 12, None)),
    ("en", "in 2023", ("2023", "year", 2023, None, None)),
    ("en", "since 2019?", ("2019", "year", 2019, None, None)),
    ("en", "the year 1984", ("1984", "year", 1984, None, None)),
    ("en", "at the end of 2024", ("2024", "year", 2024, None, None)),
    ("en", "mid-2021", ("2021", "year", 2021, None, None)),
    ("en", "the summer of 2022", ("summer of 2022", "season", 2022, 6, None)),
    ("en", "Fall 2021", ("Fall 2021", "season", 2021, 9, None)),
    ("en", "over the summer", ("summer", "season", None, 6, None)),
    # Swedish
    ("sv", "den 7 maj 2023", ("den 7 maj 2023", "day", 2023, 5, 7)),
    ("sv", "7:e maj", ("7:e maj", "day", None, 5, 7)),
    ("sv", "den 1:a juni", ("den 1:a juni", "day", None, 6, 1)),
    ("sv", "7 maj", ("7 maj", "day", None, 5, 7)),
    ("sv", "tisdagen den 9 maj 2023", ("tisdagen den 9 maj 2023", "day", 2023, 5, 9)),
    ("sv", "första maj", ("första maj", "day", None, 5, 1)),
    ("sv", "den sjätte juni", ("den sjätte juni", "day", None, 6, 6)),
    ("sv", "den 7/5", ("den 7/5", "day", None, 5, 7)),
    ("sv", "7/5/2023", ("7/5/2023", "day", 2023, 5, 7)),
    ("sv", "5/23/2023", ("5/23/2023", "day", 2023, 5, 23)),
    ("sv", "2023-05-07", ("2023-05-07", "day", 2023, 5, 7)),
    ("sv", "12 okt", ("12 okt", "day", None, 10, 12)),
    ("sv", "i maj 2023", ("maj 2023", "month", 2023, 5, None)),
    ("sv", "i maj månad 2023", ("maj månad 2023", "month", 2023, 5, None)),
    ("sv", "i maj", ("maj", "month", None, 5, None)),
    ("sv", "I Maj åkte vi", ("Maj", "month", None, 5, None)),
    ("sv", "hela mars var grå", ("mars", "month", None, 3, None)),
    ("sv", "i slutet av augusti", ("augusti", "month", None, 8, None)),
    ("sv", "år 2023", ("2023", "year", 2023, None, None)),
    ("sv", "sedan 2019", ("2019", "year", 2019, None, None)),
    ("sv", "i början av 2024", ("2024", "year", 2024, None, None)),
    ("sv", "sommaren 2022", ("sommaren 2022", "season", 2022, 6, None)),
    ("sv", "under hösten", ("hösten", "season", None, 9, None)),
    ("sv", "senast 7/5-2023", ("7/5-2023", "day", 2023, 5, 7)),
    ("sv", "den 7/5 2023", ("7/5 2023", "day", 2023, 5, 7)),
    # Norwegian
    ("nb", "den 7. mai 2023", ("den 7. mai 2023", "day", 2023, 5, 7)),
    ("nb", "7. mai", ("7. mai", "day", None, 5, 7)),
    ("nb", "17. mai 2024", ("17. mai 2024", "day", 2024, 5, 17)),
    ("nb", "syttende mai", ("syttende mai", "day", None, 5, 17)),
    ("nb", "lørdag 3. juni", ("lørdag 3. juni", "day", None, 6, 3)),
    ("nb", "laurdag 3. juni", ("laurdag 3. juni", "day", None, 6, 3)),
    ("nb", "07.05.2023", ("07.05.2023", "day", 2023, 5, 7)),
    ("nb", "i mai", ("mai", "month", None, 5, None)),
    ("nb", "mai 2023", ("mai 2023", "month", 2023, 5, None)),
    ("nb", "i mars", ("mars", "month", None, 3, None)),
    ("nb", "i desember", ("desember", "month", None, 12, None)),
    ("nb", "siden 2019", ("2019", "year", 2019, None, None)),
    ("nb", "i 2023", ("2023", "year", 2023, None, None)),
    ("nb", "sommeren 2022", ("sommeren 2022", "season", 2022, 6, None)),
    # Danish
    ("da", "den 7. maj 2023", ("den 7. maj 2023", "day", 2023, 5, 7)),
    ("da", "femte juni", ("femte juni", "day", None, 6, 5)),
    ("da", "i marts", ("marts", "month", None, 3, None)),
    ("da", "foråret 2021", ("foråret 2021", "season", 2021, 3, None)),
    # German
    ("de", "am 7. Mai 2023", ("am 7. Mai 2023", "day", 2023, 5, 7)),
    ("de", "am Sonntag, den 7. Mai", ("Sonntag, den 7. Mai", "day", None, 5, 7)),
    ("de", "am dritten Oktober", ("am dritten Oktober", "day", None, 10, 3)),
    ("de", "07.05.2023", ("07.05.2023", "day", 2023, 5, 7)),
    ("de", "im März", ("März", "month", None, 3, None)),
    ("de", "im August", ("August", "month", None, 8, None)),
    ("de", "Ende 2022", ("2022", "year", 2022, None, None)),
    ("de", "im Sommer 2022", ("Sommer 2022", "season", 2022, 6, None)),
    # a language whose words aren't known
    ("fr", "le 7/5/2023", ("7/5/2023", "day", 2023, 5, 7)),
    ("zh", "我们在2023-05-07见面", None),
    ("zh", "我们在2023年5月7日见面", ("2023年5月7日", "day", 2023, 5, 7)),
    ("zh", "2023 年 5 月 7 号", ("2023 年 5 月 7 号", "day", 2023, 5, 7)),
    ("ja", "2023年5月に", ("2023年5月", "month", 2023, 5, None)),
    ("ko", "2023년 5월 7일에", ("2023년 5월 7일", "day", 2023, 5, 7)),
    ("zh", "我们在 2023-05-07 见面", ("2023-05-07", "day", 2023, 5, 7)),
]


@pytest.mark.parametrize(("language", "text", "expected"), ABSOLUTE)
def test_a_date_is_found_with_its_place_and_its_parts(
    language: str, text: str, expected: tuple[str, str, int | None, int | None, int | None] | None
) -> None:
    assert found(text, language) == ([] if expected is None else [expected])


@pytest.mark.parametrize(("language", "text", "expected"), ABSOLUTE)
def test_a_decomposed_text_has_the_same_dates(
    language: str, text: str, expected: tuple[str, str, int | None, int | None, int | None] | None
) -> None:
    decomposed = unicodedata.normalize("NFD", text)
    composed = [(unicodedata.normalize("NFC", words), *rest) for words, *rest in found(decomposed, language)]
    assert composed == ([] if expected is None else [expected])


RELATIVE = [
    # English
    ("en", "today", "2023-05-17", "2023-05-17"),
    ("en", "this morning", "2023-05-17", "2023-05-17"),
    ("en", "yesterday", "2023-05-16", "2023-05-16"),
    ("en", "last night", "2023-05-16", "2023-05-16"),
    ("en", "the day before yesterday", "2023-05-15", "2023-05-15"),
    ("en", "tomorrow", "2023-05-18", "2023-05-18"),
    ("en", "the day after tomorrow", "2023-05-19", "2023-05-19"),
    ("en", "three days ago", "2023-05-14", "2023-05-14"),
    ("en", "12 days ago", "2023-05-05", "2023-05-05"),
    ("en", "a week ago", "2023-05-08", "2023-05-14"),
    ("en", "two weeks ago", "2023-05-01", "2023-05-07"),
    ("en", "two weekends ago", "2023-05-06", "2023-05-07"),
    ("en", "a month ago", "2023-04-01", "2023-04-30"),
    ("en", "six months ago", "2022-11-01", "2022-11-30"),
    ("en", "an year ago", "2022-01-01", "2022-12-31"),
    ("en", "twelve years ago", "2011-01-01", "2011-12-31"),
    ("en", "a couple of days ago", "2023-05-15", "2023-05-15"),
    ("en", "a few days ago", "2023-05-12", "2023-05-15"),
    ("en", "a few weeks ago", "2023-04-10", "2023-05-07"),
    ("en", "two weeks from now", "2023-05-29", "2023-06-04"),
    ("en", "last week", "2023-05-08", "2023-05-14"),
    ("en", "this week", "2023-05-15", "2023-05-21"),
    ("en", "next week", "2023-05-22", "2023-05-28"),
    ("en", "last weekend", "2023-05-13", "2023-05-14"),
    ("en", "this past weekend", "2023-05-13", "2023-05-14"),
    ("en", "this weekend", "2023-05-20", "2023-05-21"),
    ("en", "last month", "2023-04-01", "2023-04-30"),
    ("en", "next month", "2023-06-01", "2023-06-30"),
    ("en", "last year", "2022-01-01", "2022-12-31"),
    ("en", "this year", "2023-01-01", "2023-12-31"),
    ("en", "last Monday", "2023-05-15", "2023-05-15"),
    ("en", "last Wednesday", "2023-05-10", "2023-05-10"),
    ("en", "last Friday", "2023-05-12", "2023-05-12"),
    ("en", "next Friday", "2023-05-19", "2023-05-19"),
    ("en", "next wednesday", "2023-05-24", "2023-05-24"),
    ("en", "this Sunday", "2023-05-21", "2023-05-21"),
    ("en", "Thursday", "2023-05-11", "2023-05-11"),
    ("en", "Wednesday", "2023-05-17", "2023-05-17"),
    ("en", "last May", "2022-05-01", "2022-05-31"),
    ("en", "last april", "2023-04-01", "2023-04-30"),
    ("en", "this June", "2023-06-01", "2023-06-30"),
    ("en", "next May", "2024-05-01", "2024-05-31"),
    ("en", "May last year", "2022-05-01", "2022-05-31"),
    ("en", "7 May last year", "2022-05-07", "2022-05-07"),
    ("en", "May 7 of this year", "2023-05-07", "2023-05-07"),
    ("en", "last summer", "2022-06-01", "2022-08-31"),
    ("en", "last winter", "2022-12-01", "2023-02-28"),
    ("en", "last spring", "2022-03-01", "2022-05-31"),
    ("en", "this summer", "2023-06-01", "2023-08-31"),
    ("en", "next fall", "2023-09-01", "2023-11-30"),
    ("en", "summer last year", "2022-06-01", "2022-08-31"),
    ("en", "winter 2022/23", "2022-12-01", "2023-02-28"),
    ("en", "winter 2023", "2022-12-01", "2023-02-28"),
    ("en", "March 11-17, 2024", "2024-03-11", "2024-03-17"),
    ("en", "3 to 5 May 2023", "2023-05-03", "2023-05-05"),
    ("en", "week 21 of 2023", "2023-05-22", "2023-05-28"),
    ("en", "week 1, 2023", "2023-01-02", "2023-01-08"),
    ("en", "2023-W01", "2023-01-02", "2023-01-08"),
    ("en", "2020W53", "2020-12-28", "2021-01-03"),
    ("en", "2023-W21-7", "2023-05-28", "2023-05-28"),
    # Swedish
    ("sv", "vecka 21", "2023-05-22", "2023-05-28"),
    ("sv", "v. 28-31", "2023-07-10", "2023-08-06"),
    ("sv", "v.1", "2023-01-02", "2023-01-08"),
    ("sv", "vecka 53 2020", "2020-12-28", "2021-01-03"),
    ("sv", "Vecka 2/2024", "2024-01-08", "2024-01-14"),
    ("sv", "idag", "2023-05-17", "2023-05-17"),
    ("sv", "i kväll", "2023-05-17", "2023-05-17"),
    ("sv", "igår", "2023-05-16", "2023-05-16"),
    ("sv", "i går", "2023-05-16", "2023-05-16"),
    ("sv", "I förrgår", "2023-05-15", "2023-05-15"),
    ("sv", "imorgon", "2023-05-18", "2023-05-18"),
    ("sv", "i övermorgon", "2023-05-19", "2023-05-19"),
    ("sv", "förra veckan", "2023-05-08", "2023-05-14"),
    ("sv", "den här veckan", "2023-05-15", "2023-05-21"),
    ("sv", "nästa vecka", "2023-05-22", "2023-05-28"),
    ("sv", "i veckan", "2023-05-15", "2023-05-21"),
    ("sv", "förra helgen", "2023-05-13", "2023-05-14"),
    ("sv", "i helgen", "2023-05-13", "2023-05-14"),
    ("sv", "förra månaden", "2023-04-01", "2023-04-30"),
    ("sv", "förra året", "2022-01-01", "2022-12-31"),
    ("sv", "i fjol", "2022-01-01", "2022-12-31"),
    ("sv", "i år", "2023-01-01", "2023-12-31"),
    ("sv", "för två veckor sedan", "2023-05-01", "2023-05-07"),
    ("sv", "för tre dagar sen", "2023-05-14", "2023-05-14"),
    ("sv", "för ett år sedan", "2022-01-01", "2022-12-31"),
    ("sv", "för ett par månader sedan", "2023-03-01", "2023-03-31"),
    ("sv", "för några dagar sedan", "2023-05-12", "2023-05-15"),
    ("sv", "om tolv dagar", "2023-05-29", "2023-05-29"),
    ("sv", "i måndags", "2023-05-15", "2023-05-15"),
    ("sv", "i lördags", "2023-05-13", "2023-05-13"),
    ("sv", "på fredag", "2023-05-19", "2023-05-19"),
    ("sv", "förra fredagen", "2023-05-12", "2023-05-12"),
    ("sv", "förra maj", "2022-05-01", "2022-05-31"),
    ("sv", "maj i fjol", "2022-05-01", "2022-05-31"),
    ("sv", "den 7 maj i år", "2023-05-07", "2023-05-07"),
    ("sv", "i somras", "2022-06-01", "2022-08-31"),
    ("sv", "i vintras", "2022-12-01", "2023-02-28"),
    ("sv", "i sommar", "2023-06-01", "2023-08-31"),
    ("sv", "i vår", "2023-03-01", "2023-05-31"),
    ("sv", "förra sommaren", "2022-06-01", "2022-08-31"),
    ("sv", "i fjol sommar", "2022-06-01", "2022-08-31"),
    ("sv", "sommaren i fjol", "2022-06-01", "2022-08-31"),
    ("sv", "hösten", "2022-09-01", "2022-11-30"),
    # Norwegian
    ("nb", "i dag", "2023-05-17", "2023-05-17"),
    ("nb", "i går", "2023-05-16", "2023-05-16"),
    ("nb", "i forgårs", "2023-05-15", "2023-05-15"),
    ("nb", "i morgen", "2023-05-18", "2023-05-18"),
    ("nb", "forrige uke", "2023-05-08", "2023-05-14"),
    ("nb", "uke 21", "2023-05-22", "2023-05-28"),
    ("nb", "veke 1 i 2024", "2024-01-01", "2024-01-07"),
    ("nb", "overimorgen", "2023-05-19", "2023-05-19"),
    ("nb", "førre veke", "2023-05-08", "2023-05-14"),
    ("nb", "neste måned", "2023-06-01", "2023-06-30"),
    ("nb", "sist helg", "2023-05-13", "2023-05-14"),
    ("nb", "i fjor", "2022-01-01", "2022-12-31"),
    ("nb", "i år", "2023-01-01", "2023-12-31"),
    ("nb", "for to uker siden", "2023-05-01", "2023-05-07"),
    ("nb", "for ei uke siden", "2023-05-08", "2023-05-14"),
    ("nb", "for et år siden", "2022-01-01", "2022-12-31"),
    ("nb", "for sju dagar sidan", "2023-05-10", "2023-05-10"),
    ("nb", "om en uke", "2023-05-22", "2023-05-28"),
    ("nb", "sist mandag", "2023-05-15", "2023-05-15"),
    ("nb", "i mandags", "2023-05-15", "2023-05-15"),
    ("nb", "forrige lørdag", "2023-05-13", "2023-05-13"),
    ("nb", "på torsdag", "2023-05-18", "2023-05-18"),
    ("nb", "i fjor sommer", "2022-06-01", "2022-08-31"),
    ("nb", "i sommer", "2023-06-01", "2023-08-31"),
    ("nb", "forrige mai", "2022-05-01", "2022-05-31"),
    # Danish
    ("da", "i går", "2023-05-16", "2023-05-16"),
    ("da", "i overmorgen", "2023-05-19", "2023-05-19"),
    ("da", "uge 21", "2023-05-22", "2023-05-28"),
    ("da", "sidste uge", "2023-05-08", "2023-05-14"),
    ("da", "for otte dage siden", "2023-05-09", "2023-05-09"),
    ("da", "i mandags", "2023-05-15", "2023-05-15"),
    ("da", "sidste år", "2022-01-01", "2022-12-31"),
    # German
    ("de", "gestern", "2023-05-16", "2023-05-16"),
    ("de", "vorgestern", "2023-05-15", "2023-05-15"),
    ("de", "Morgen", "2023-05-18", "2023-05-18"),
    ("de", "vor zwei Wochen", "2023-05-01", "2023-05-07"),
    ("de", "vor einem Jahr", "2022-01-01", "2022-12-31"),
    ("de", "in drei Tagen", "2023-05-20", "2023-05-20"),
    ("de", "KW 21", "2023-05-22", "2023-05-28"),
    ("de", "letzte Woche", "2023-05-08", "2023-05-14"),
    ("de", "nächstes Jahr", "2024-01-01", "2024-12-31"),
    ("de", "letzten Montag", "2023-05-15", "2023-05-15"),
    ("de", "letzten Sommer", "2022-06-01", "2022-08-31"),
]


@pytest.mark.parametrize(("language", "text", "first", "last"), RELATIVE)
def test_a_relative_date_is_seen_from_the_reference(language: str, text: str, first: str, last: str) -> None:
    assert days(text, language) == [(text, first, last)]


@pytest.mark.parametrize(
    ("language", "text"),
    [(language, text) for language, text, *_ in RELATIVE if not any(c in "123" for c in text)],
)
def test_without_reference_a_relative_date_has_no_days(language: str, text: str) -> None:
    [mention] = find_dates(text, language=language)
    assert (mention.start, mention.end, mention.year) == (None, None, None)


TRAPS = [
    ("en", "May I ask you something? may I?"),
    ("en", "It may rain, and this may be 5 or it may not"),
    ("en", "the other 7 may come"),
    ("en", "Thank you. May God help us. - May need tools"),
    ("en", "We march on, they march 10 miles"),
    ("en", "What did June say to April about August?"),
    ("en", "the sun rose, we sat down, second by second, mon ami, mar the view, dec the halls"),
    ("en", "on Mondays I run"),
    ("en", "Mars is red"),
    ("en", "spring rolls fall apart; a spring of a fall guy"),
    ("en", "version 2.4.10, id 4711-ZX, 10.4.2, 1.2.3.4, 192.168.1.20"),
    ("en", "at 10.30 and 10:30, 24/7, 1/2 cup, 3-5 of them, 555-1234, 12-34-56"),
    ("en", "it costs 49 euro, from 2000 people to 2000 dollars, in 2000 steps"),
    ("en", "2000 people, 1984, model 2023, 2023"),
    ("en", "in 2,023 cases, in 2023.5, in 2020%, in 20234, in 1850, in 2100"),
    ("en", "2023-02-30, 31/31/2023, 13/13/2023, April 31, 2023-13-01, the 32nd"),
    ("en", "half a year ago, 1.5 years ago, years ago, long ago, a while ago"),
    ("en", "week 21, week 3 of the course, 2023-W00, 2022-W53, x2023-W21, 2023-W21-8, week 54 of 2023"),
    ("en", "key-2023-05-07-x, /2023-05-07, v2023-05-07"),
    ("en", "Maj-Britt och jag på Mars"),
    ("en", "förra veckan, i går, den 7 maj"),
    ("sv", "man kan, tis och ons och sön, fre"),
    ("sv", "planeten Mars, på Mars, Mars-bars, till Mars"),
    ("sv", "Maj-Britt och Maj kom, Juli sa"),
    ("sv", "god jul 2023! jul"),
    ("sv", "i vår familj, i vår nya lägenhet"),
    ("sv", "två gånger i veckan, tre timmar i veckan"),
    ("sv", "vecka 0, vecka 54, vecka 2,5, graviditetsvecka 21, v2, v. 2.4.10, vecka 30-28, två veckor"),
    ("sv", "version 2.4.10, kl. 10.30, 24/7, 7/5, 49 euro, 2000 personer, i 2000 kronor"),
    ("sv", "March, may I, last week, yesterday"),
    ("sv", "för ett halvt år sedan, för länge sedan"),
    ("sv", "på måndagar"),
    ("nb", "i vår familie, August Strindberg, man kan, 3 ganger i uka"),
    ("nb", "i 2000 meter, fra 2000 kroner, 24/7"),
    ("de", "Guten Morgen! Am Morgen"),
    ("de", "August Macke malte"),
    ("fr", "le 7 mai, hier, en 2023"),
    ("en", ""),
    ("en", " \n\t"),
    ("en", "\ud800 \0 \u0301"),
]


@pytest.mark.parametrize(("language", "text"), TRAPS)
def test_words_and_numbers_that_only_look_like_dates_are_left_alone(language: str, text: str) -> None:
    assert [mention.span.of(text) for mention in find_dates(text, language=language, reference=TODAY)] == []


def test_the_longest_reading_wins_and_none_overlap() -> None:
    text = "the day before yesterday, 7 May 2023, in May 2023, the summer of 2020, last week"
    assert [words for words, *_ in found(text, "en")] == [
        "the day before yesterday",
        "7 May 2023",
        "May 2023",
        "summer of 2020",
        "last week",
    ]


def test_a_day_that_no_calendar_has_leaves_its_month() -> None:
    assert found("on 30 February 2023", "en") == [("February 2023", "month", 2023, 2, None)]
    assert found("den 31 november", "sv") == [("november", "month", None, 11, None)]


def test_the_last_week_of_may_is_not_last_week() -> None:
    assert found("the last week of May", "en") == [("May", "month", None, 5, None)]
    assert found("siste uke i mai", "nb") == [("mai", "month", None, 5, None)]


def test_a_number_before_a_day_is_not_always_a_range() -> None:
    assert found("table 12-7 May 2023", "en") == [("7 May 2023", "day", 2023, 5, 7)]


def test_ranges_next_to_each_other_are_apart() -> None:
    assert found("mellan 2019 och 2021, från 2015–2017", "sv") == [
        ("2019 och 2021", "year", 2019, None, None),
        ("2015–2017", "year", 2015, None, None),
    ]
    assert found("from March to June to August", "en") == [
        ("March to June", "month", None, 3, None),
        ("August", "month", None, 8, None),
    ]


def test_several_languages_are_searched_together_without_double_mentions() -> None:
    text = "Igår: last week, den 7 maj, May 7, 7 april 2023, on Friday"
    assert [words for words, *_ in found(text, ("sv", "en"))] == [
        "Igår",
        "last week",
        "den 7 maj",
        "May 7",
        "7 april 2023",
        "Friday",
    ]


def test_the_first_language_orders_day_and_month() -> None:
    assert found("7/5/2023", ("sv", "en")) == [("7/5/2023", "day", 2023, 5, 7)]
    assert found("7/5/2023", ("en", "sv")) == [("7/5/2023", "day", 2023, 7, 5)]


def test_mars_is_a_month_in_swedish_and_norwegian_only() -> None:
    for language in DATE_WORDS:
        expected = [("mars", "month", None, 3, None)] if language in ("sv", "nb") else []
        assert found("i mars", language) == expected


def test_a_language_may_go_by_its_english_name_or_another_code() -> None:
    assert found("i mai", "no") == found("i mai", "Norwegian") == [("mai", "month", None, 5, None)]


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(SettingsError, match="unknown language 'klingon'"):
        find_dates("7 May", language="klingon")


def test_a_weekday_without_reference_is_met_in_every_week() -> None:
    [mention] = find_dates("on Monday")
    assert mention.weekday == 0
    assert mention.covers(date(2023, 5, 15)) is True
    assert mention.covers(date(2023, 5, 16)) is False
    assert [mention.distance_days(date(2023, 5, day)) for day in range(15, 22)] == [0, 1, 2, 3, 3, 2, 1]


def test_in_may_covers_may_of_every_year() -> None:
    [mention] = find_dates("What did I do in May?")
    assert mention == DateMention(Span(17, 20), None, None, 5, None, None, "month")
    assert mention.covers(date(2021, 5, 31)) is True
    assert mention.covers(date(2023, 6, 1)) is False
    assert mention.distance_days(date(2023, 6, 1)) == 1
    assert mention.distance_days(date(2023, 4, 28)) == 3
    assert mention.distance_days(date(2024, 1, 1)) == 121


def test_a_day_without_year_is_as_far_as_in_the_nearest_year() -> None:
    [mention] = find_dates("on December 31")
    assert mention.covers(date(1999, 12, 31)) is True
    assert mention.distance_days(date(2023, 1, 2)) == 2
    assert mention.distance_days(date(2023, 12, 1)) == 30
    [leap] = find_dates("on 29 February")
    assert leap.covers(date(2024, 2, 29)) is True
    assert leap.distance_days(date(2022, 2, 28)) == 730
    assert leap.distance_days(date(1900, 3, 1)) == 1460


def test_a_season_without_year_covers_its_three_months() -> None:
    [winter] = find_dates("in the winter")
    assert [winter.covers(date(2023, month, 15)) for month in (11, 12, 1, 2, 3)] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert winter.distance_days(date(2023, 11, 29)) == 2
    assert winter.distance_days(date(2023, 3, 1)) == 1


def test_a_known_period_is_half_open() -> None:
    [mention] = find_dates("in May 2023")
    assert (mention.start, mention.end) == (date(2023, 5, 1), date(2023, 6, 1))
    assert mention.covers(date(2023, 5, 31)) is True
    assert mention.covers(date(2023, 6, 1)) is False
    assert mention.covers(date(2024, 5, 1)) is False
    assert mention.distance_days(date(2023, 6, 1)) == 1
    assert mention.distance_days(date(2023, 4, 30)) == 1


def test_last_week_without_reference_covers_nobody_knows_what() -> None:
    [mention] = find_dates("last week")
    assert mention.covers(TODAY) is None
    assert mention.distance_days(TODAY) is None


def test_a_datetime_counts_as_the_day_its_clock_shows() -> None:
    late = datetime(2023, 5, 17, 23, 59, tzinfo=UTC)
    [mention] = find_dates("today", reference=late)
    assert (mention.start, mention.end) == (date(2023, 5, 17), date(2023, 5, 18))
    assert mention.covers(late) is True
    assert mention.distance_days(late) == 0


def test_what_lies_beyond_the_calendar_has_no_days() -> None:
    for text, reference in (
        ("tomorrow", date.max),
        ("yesterday", date.min),
        ("999 years ago", date(500, 1, 1)),
        ("last week", date.min),
        ("next summer", date.max),
        ("May last year", date.min),
    ):
        for mention in find_dates(text, reference=reference):
            assert mention.start is None


def test_spans_are_code_points_of_the_text_as_written() -> None:
    text = "İ 👩‍👩‍👧 i fo\u0308rra  veckan,\u00a0den 7\u00a0maj"
    assert [mention.span.of(text) for mention in find_dates(text, language="sv")] == [
        "fo\u0308rra  veckan",
        "den 7\u00a0maj",
    ]


MONTH_NAMES = [(language, name) for language, words in DATE_WORDS.items() for name in words.months]


@given(st.dates(date(1500, 1, 1), date(2099, 12, 31)), st.sampled_from(MONTH_NAMES), st.booleans())
def test_every_date_written_out_is_read_back(day: date, named: tuple[str, str], title: bool) -> None:
    language, name = named
    day = day.replace(month=DATE_WORDS[language].months[name], day=min(day.day, 28))
    text = f"{day.day} {name.title() if title else name} {day.year}"
    [mention] = find_dates(f"x {text} y", language=language)
    assert (mention.span.of(f"x {text} y"), mention.start) == (text, day)


@given(st.dates(date(1000, 1, 1), date(9998, 12, 31)))
def test_every_iso_date_is_read_back_in_every_language(day: date) -> None:
    for language in ("en", "sv", "fr"):
        [mention] = find_dates(f"({day.isoformat()})", language=language)
        assert (mention.span, mention.start) == (Span(1, 11), day)


PIECES = (
    "May|may|7|2023|/|-|.|,| |'|of|the|last|week|ago|two|Monday|i|maj|för|sedan|vår|år|den|:e|på|winter"
    "|January|in|İ|\u0301|ſ|K|\u2028|😀|\ud800"
)


@given(
    st.lists(st.sampled_from(PIECES.split("|")), max_size=30).map("".join) | st.text(max_size=60),
    st.none() | st.dates(),
    st.sampled_from([*DATE_WORDS, "fr", SCANDINAVIAN_AND_MORE, ("en", "sv"), ()]),
)
def test_any_text_gives_mentions_in_order_that_do_not_overlap(
    text: str, reference: date | None, language: str | tuple[str, ...]
) -> None:
    mentions = find_dates(text, language=language, reference=reference)
    assert mentions == find_dates(text, language=language, reference=reference)
    end = 0
    for mention in mentions:
        assert end <= mention.span.start < mention.span.end <= len(text)
        end = mention.span.end
        assert (mention.start is None) == (mention.end is None)
        if mention.start is not None and mention.end is not None:
            assert mention.start < mention.end
            assert mention.covers(mention.start) is True
            assert mention.covers(mention.end) is False
            assert mention.distance_days(mention.end) == 1
        if reference is not None:
            covered, far = mention.covers(reference), mention.distance_days(reference)
            assert (far == 0) == (covered is True)
            assert (far is None) == (covered is None)


HOSTILE = [
    "7 ",
    "7-",
    "7/",
    "7.7.",
    "den ",
    " ",
    "may ",
    "May ",
    "monday, ",
    "in the last ",
    "in 2023-",
    "2023-05-",
    "7 of ",
    "'",
    "\u0301",
    "on Monday 7 May 2023 we met last week, two days ago, in the summer of 2020, 7/5/2023. ",
    "i måndags den 7 maj, för två veckor sedan, i fjol sommar ",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_text_of_100_kb_is_read_once_whatever_it_holds(piece: str) -> None:
    text = (piece * (100_000 // len(piece) + 1))[:100_000]

    assert grows_with_its_length(partial(find_dates, language=SCANDINAVIAN_AND_MORE, reference=TODAY), text)


def test_a_question_without_date_is_looked_through_in_a_few_calls() -> None:
    question = "What did Maria tell me about the bakery that she wants to open?"
    assert find_dates(question, language=SCANDINAVIAN_AND_MORE, reference=TODAY) == ()
    n_calls = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal n_calls
        n_calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        find_dates(question, language=SCANDINAVIAN_AND_MORE, reference=TODAY)
    finally:
        sys.setprofile(None)
    assert n_calls < MOST_CALLS


def test_every_word_is_written_as_folding_leaves_it() -> None:
    for words in DATE_WORDS.values():
        spelled = [*words.months, *words.short_months, *words.weekdays, *words.seasons, *words.units]
        spelled += [
            *words.which,
            *words.phrases,
            *words.weekday_phrases,
            *words.season_phrases,
            *words.numbers,
        ]
        spelled += [*words.ordinals, *words.year_lead, *words.month_before, *words.counted, *words.plurals]
        for word in spelled:
            assert fold(word).text == word
