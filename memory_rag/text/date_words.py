"""What a language has to tell for its dates to be found: one value of :class:`DateWords`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Unit = Literal["day", "week", "weekend", "month", "quarter", "year"]
Which = Literal["last", "this", "next", "nearest"]

MONEY_AND_MEASURE = "eur euro euros usd dollar dollars kr sek nok dkk km kg kcal mb gb"


class Feast(NamedTuple):
    """The days of a holiday, first and last in one month; with ``weekday`` the one of them that is that day."""

    month: int
    first: int
    last: int
    weekday: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DateWords:
    """How one language speaks of dates.

    Every string is folded as :func:`memory_rag.text.folding.fold` does it: lower case, composed, one space.
    """

    day_first: bool = True
    """7/5/2023 is 7 May, not July 5th."""
    months: Mapping[str, int]
    short_months: Mapping[str, int]
    """Abbreviations; they need a day or a year beside them."""
    other_meanings: frozenset[str]
    """Month names that are also other words or people's names: alone they need one of ``month_before``."""
    month_before: frozenset[str]
    titled_month_before: frozenset[str] = frozenset()
    """Words before a month that count only if it has a capital letter: "this may be", "this May"."""
    titled_months: frozenset[str] = frozenset()
    """Months that a capital letter in mid-sentence is enough for, unless a ``not_after_month`` follows."""
    not_after_month: frozenset[str] = frozenset()
    day_before: frozenset[str] = frozenset()
    """Words that make one of ``titled_months`` in lower case a month with its day: "on may 7"."""
    small_months: bool = False
    """Months are written in lower case, so that a capital letter means a name (Maj, August, Mars)."""
    month_day: bool = False
    """May 7 as well as 7 May."""
    day_lead: tuple[str, ...]
    day_marks: tuple[str, ...]
    ordinals: Mapping[str, int]
    """Days in words: "the fourth of July", "första maj", "syttende mai"."""
    of: tuple[str, ...]
    weekdays: Mapping[str, int]
    weekday_phrases: Mapping[str, tuple[int, Which]] = field(default_factory=dict)
    seasons: Mapping[str, int]
    """Each form of a season's name, with its first month."""
    sure_seasons: frozenset[str] = frozenset()
    """Forms that need nothing beside them: Swedish "sommaren"."""
    season_lead: tuple[str, ...] = ()
    season_phrases: Mapping[str, tuple[int, Which]] = field(default_factory=dict)
    open_phrases: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Season phrases that may mean something else ("i vår", in our), with the words that may follow."""
    units: Mapping[str, Unit]
    plurals: Mapping[str, Unit]
    which: Mapping[str, Which]
    phrases: Mapping[str, tuple[Unit, int | Which]]
    """Whole phrases for a period, by its distance from the reference."""
    small_phrases: frozenset[str] = frozenset()
    """Phrases that a capital letter in mid-sentence makes something else: German "am Morgen"."""
    week_lead: tuple[str, ...] = ()
    """Words that make the number after them a week of the calendar (ISO 8601)."""
    week_needs_year: bool = False
    """"Week 14" alone may be a course's or a child's."""
    numbers: Mapping[str, int]
    few: frozenset[str]
    """Words for two to five."""
    not_number_before: frozenset[str]
    """Words before a number that change it: "half a year ago"."""
    ago: tuple[tuple[str, ...], tuple[str, ...]]
    """What stands before and after "two weeks" to put it in the past; an empty string: nothing has to."""
    later: tuple[tuple[str, ...], tuple[str, ...]]
    quarters: tuple[str, ...] = ()
    """Words for a quarter of a year."""
    quarter_lead: tuple[str, ...] = ()
    """Words that make a quarter without year one of a year: "in Q2", not "Q2: what is it?"."""
    sure_quarters: frozenset[str] = frozenset()
    holidays: Mapping[str, Feast] = field(default_factory=dict)
    led_holidays: frozenset[str] = frozenset()
    """Holidays that need a year or a ``holiday_lead`` to be a day: a Christmas tree, traditions of Halloween."""
    holiday_lead: frozenset[str] = frozenset()
    year_lead: tuple[str, ...]
    """Words that make a bare number after them a year."""
    year_joins: tuple[str, ...]
    counted: frozenset[str]
    """Nouns that make the number before them an amount: "from 2000 people"."""


def numbered(names: str, first: int = 1) -> dict[str, int]:
    """Number names in order; the spellings of one name are joined by ``/``."""
    return {
        spelling: number
        for number, spellings in enumerate(names.split(), start=first)
        for spelling in spellings.split("/")
    }


def words(names: str) -> frozenset[str]:
    """Return the words of a line."""
    return frozenset(names.split())


def phrases(names: str) -> tuple[str, ...]:
    """Return the phrases of a line, which are separated by commas."""
    return tuple(name.strip() for name in names.split(",") if name.strip())


def units(
    *, day: str = "", week: str = "", weekend: str = "", month: str = "", quarter: str = "", year: str = ""
) -> dict[str, Unit]:
    """Return the unit that each word names."""
    named: dict[Unit, str] = {
        "day": day,
        "week": week,
        "weekend": weekend,
        "month": month,
        "quarter": quarter,
        "year": year,
    }
    return {word: unit for unit, spellings in named.items() for word in spellings.split()}


def which(*, last: str, this: str, next: str) -> dict[str, Which]:  # noqa: A002
    """Return which period each phrase means."""
    meant: dict[Which, str] = {"last": last, "this": this, "next": next}
    return {phrase: one for one, spellings in meant.items() for phrase in phrases(spellings)}


def at(unit: Unit, distances: Mapping[int | Which, str]) -> dict[str, tuple[Unit, int | Which]]:
    """Return how far from the reference each phrase for a period lies, in its unit."""
    return {phrase: (unit, distance) for distance, spellings in distances.items() for phrase in phrases(spellings)}


def seasonal(
    meant: Which, *, spring: str = "", summer: str = "", autumn: str = "", winter: str = ""
) -> dict[str, tuple[int, Which]]:
    """Return the season that each phrase means."""
    first_months = {3: spring, 6: summer, 9: autumn, 12: winter}
    return {phrase: (month, meant) for month, named in first_months.items() for phrase in phrases(named)}


def season_names(*, spring: str, summer: str, autumn: str, winter: str) -> dict[str, int]:
    """Return the first month of the season that each word names."""
    first_months = {3: spring, 6: summer, 9: autumn, 12: winter}
    return {word: month for month, spellings in first_months.items() for word in spellings.split()}
