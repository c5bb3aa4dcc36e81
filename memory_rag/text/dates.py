"""The dates that a question or a turn mentions, in English, Swedish, Norwegian, Danish and German.

In other languages dates in figures are found. Words that only look like dates are left alone: "may I",
"march on", 2000 people, version 2.4.10, 24/7. Abbreviated weekdays aren't read (sun, mon).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import chain

from memory_rag.text.date_mentions import DateMention, Kind, is_day, named
from memory_rag.text.date_patterns import (
    DATE_WORDS,
    DAY_AND_MONTH,
    DIGIT,
    ISO,
    ISO_RANGE,
    ISO_WEEK,
    NUMERIC,
    SLASHED,
    WITH_UNITS,
    WORD,
    full_year,
    patterns_for,
)
from memory_rag.text.date_ranges import joined
from memory_rag.text.date_reader import DateReader
from memory_rag.text.folding import Folded, fold
from memory_rag.text.language import parse_language
from memory_rag.text.periods import day_period, weeks_period

__all__ = ["DateMention", "find_dates"]


def find_dates(
    text: str, *, language: str | tuple[str, ...] = "en", reference: date | None = None
) -> tuple[DateMention, ...]:
    """Return the dates that a text mentions, in its order; where readings overlap the longest wins.

    ``language`` is one code or several, searched together. ``reference`` is the day from which "yesterday",
    "last May" and "on Monday" are seen; without it they have no ``start``. A week is Monday to Sunday, "two
    weeks ago" that whole week, "two months ago" the whole month; a weekday or a season alone is the latest
    that has begun. 7/5/2023 is read in the order of the first language (July 5th in English, the 7th of May
    in the others), unless only the other order is a date. A bare number is a year only after a word such as
    "in", and from 1900 to 2099. "From March to May", "between 3 and 5 May" are one mention. Holidays that don't hang on
    Easter are days; after "in" a quarter without year is read as a season is.

    Raises:
        SettingsError: ``language`` is none that is known.
    """
    languages = _languages(language)
    if isinstance(reference, datetime):
        reference = reference.date()
    folded = fold(text)
    found = set(WORD.findall(folded.text))
    has_digit = DIGIT.search(folded.text) is not None
    mentions: list[DateMention] = []
    if has_digit:
        mentions.extend(_in_figures(folded, day_first=_is_day_first(languages[0]) if languages else True))
        mentions.extend(_by_units_and_weeks(folded))
    for code in languages:
        patterns = patterns_for(code)
        if patterns is not None:
            reader = DateReader(text, folded, patterns=patterns, reference=reference)
            for pattern in patterns.forms:
                if (has_digit or not pattern.needs_digit) and (
                    pattern.triggers is None or not pattern.triggers.isdisjoint(found)
                ):
                    mentions.extend(reader.read(pattern.form, pattern.regex))
    return joined(text, _apart(mentions, length=len(text))) if mentions else ()


@lru_cache(maxsize=64)
def _languages(language: str | tuple[str, ...]) -> tuple[str, ...]:
    names = (language,) if isinstance(language, str) else language
    return tuple(dict.fromkeys(parse_language(name) for name in names))


def _is_day_first(code: str) -> bool:
    return code not in DATE_WORDS or DATE_WORDS[code].day_first


def _apart(mentions: list[DateMention], *, length: int) -> tuple[DateMention, ...]:
    taken = bytearray(length)
    kept = []
    for mention in sorted(mentions, key=lambda m: (m.span.start - m.span.end, m.span.start)):
        start, end = mention.span.start, mention.span.end
        if not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            kept.append(mention)
    return tuple(sorted(kept, key=lambda m: m.span))


def _in_figures(folded: Folded, *, day_first: bool) -> Iterator[DateMention]:
    for match in ISO.finditer(folded.text):
        year, month, day = (int(match[name]) for name in ("year", "month", "day"))
        if year >= 1000 and is_day(month, day, year=year):
            yield named(folded.span(*match.span()), "day", month=month, day=day, year=year)
    for match in ISO_RANGE.finditer(folded.text):
        begun, over = _iso_day(match["first"]), _iso_day(match["last"])
        if begun is not None and over is not None and begun < over < date.max:
            span, end = folded.span(*match.span()), over + timedelta(days=1)
            yield DateMention(span, begun, end, month=begun.month, day=begun.day, year=begun.year, kind="day")
    for match in chain(NUMERIC.finditer(folded.text), SLASHED.finditer(folded.text)):
        year = full_year(match["year"])
        first, second = int(match["first"]), int(match["second"])
        orders = ((second, first), (first, second)) if day_first else ((first, second), (second, first))
        for month, day in orders:
            if year >= 1000 and is_day(month, day, year=year):
                yield named(folded.span(*match.span()), "day", month=month, day=day, year=year)
                break
    for match in DAY_AND_MONTH.finditer(folded.text):
        day, month = int(match["first"]), int(match["second"])
        if is_day(month, day, year=None):
            yield named(folded.span(*match.span()), "day", month=month, day=day, year=None)


def _iso_day(written: str) -> date | None:
    try:
        return date.fromisoformat(written)
    except ValueError:
        return None


def _by_units_and_weeks(folded: Folded) -> Iterator[DateMention]:
    for match in ISO_WEEK.finditer(folded.text):
        period = weeks_period(int(match["year"]), int(match["week"]), int(match["week"]))
        if period is not None and match["day"]:
            period = day_period(period.start + timedelta(days=int(match["day"]) - 1))
        if period is not None:
            span = folded.span(*match.span())
            yield DateMention(span, *period, month=None, day=None, year=None, kind="relative")
    for match in WITH_UNITS.finditer(folded.text):
        year, month, day = (int(match[name] or 0) for name in ("year", "month", "day"))
        if year >= 1000 and is_day(month, day or 1, year=year):
            kind: Kind = "day" if day else "month"
            yield named(folded.span(*match.span()), kind, month=month, day=day or None, year=year)
