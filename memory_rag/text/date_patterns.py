"""The regular expressions by which dates are found, made from a language's words.

They read folded text: lower case, one space, plain dashes and apostrophes. None has a repetition inside
another, so that they take time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from memory_rag.text.date_words import DateWords
from memory_rag.text.date_words_nordic import DANISH, NORWEGIAN, SWEDISH
from memory_rag.text.date_words_west import ENGLISH, GERMAN

DATE_WORDS: Mapping[str, DateWords] = {
    "da": DANISH,
    "de": GERMAN,
    "en": ENGLISH,
    "nb": NORWEGIAN,
    "sv": SWEDISH,
}

Form = Literal[
    "day",
    "month_day",
    "month_year",
    "month",
    "year",
    "weekday",
    "phrase",
    "unit",
    "ago",
    "later",
    "season",
    "week",
    "quarter",
    "holiday",
]

ISO = re.compile(
    r"(?<![\w/.-])(?P<year>[0-9]{4})(?P<sep>[-/.])(?P<month>[0-9]{1,2})(?P=sep)(?P<day>[0-9]{1,2})"
    r"(?:(?=t[0-9])|(?![\w/-]|\.[0-9]))"
)
# "2023-05-03/2023-05-05"; with spaces around the dash they are two dates that are joined.
ISO_RANGE = re.compile(
    r"(?<![\w/.-])(?P<first>[0-9]{4}-[0-9]{2}-[0-9]{2})[-/](?P<last>[0-9]{4}-[0-9]{2}-[0-9]{2})(?![\w/-]|\.[0-9])"
)
NUMERIC = re.compile(
    r"(?<![\w/.-])(?P<first>[0-9]{1,2})(?P<sep>[-/.])(?P<second>[0-9]{1,2})(?P=sep)"
    r"(?P<year>[0-9]{4}|(?<=/)[0-9]{2})(?![\w/-]|\.[0-9])"
)
# "3/6-2026", "3/6 2026".
SLASHED = re.compile(
    r"(?<![\w/.-])(?P<first>[0-9]{1,2})/(?P<second>[0-9]{1,2})[- ](?P<year>(?:19|20)[0-9]{2})(?![\w/-]|[.,:][0-9])"
)
ISO_WEEK = re.compile(r"(?<![\w/.-])(?P<year>[0-9]{4})-?w(?P<week>[0-9]{2})(?:-?(?P<day>[1-7]))?(?![\w/-]|\.[0-9])")
# In Chinese, Japanese and Korean each number is followed by its unit.
WITH_UNITS = re.compile(
    r"(?<![0-9])(?P<year>[0-9]{4}) ?[年년] ?(?P<month>[0-9]{1,2}) ?[月월](?: ?(?P<day>[0-9]{1,2}) ?[日号號일])?"
)
# Without year only where the article tells it from a fraction: "den 7/5", never 24/7.
DAY_AND_MONTH = re.compile(r"(?<!\w)den (?P<first>[0-9]{1,2})/(?P<second>[0-9]{1,2})(?![\w/-]|[.,][0-9])")
DIGIT = re.compile(r"[0-9]")
WORD = re.compile(r"[^\W\d_]+")

_DAY = "[0-3]?[0-9]"
TO = r" ?(?:-|to|until|through|thru|til|till|bis) ?"
AND = " (?:and|or|och|eller|og|und|oder|&) "
_YEAR = r"(?:19|20)[0-9]{2}"
_NOT_AN_AMOUNT = r"(?![\w%‰°€$£]|[.,:/-][0-9]| ?[%€$£])"
_WORD_ENDS = r"(?!\w|-[^\W\d])"
_INSIDE = ("of", "in", "i", "af", "av", "im")


def full_year(digits: str) -> int:
    """Return the year of four digits, or of two: 1970 to 2069."""
    year = int(digits)
    return year if len(digits) > 2 else year + (1900 if year >= 70 else 2000)


@dataclass(frozen=True, slots=True)
class Pattern:
    """How one form of a date is found: tried if the text has one of ``triggers`` (None: always)."""

    form: Form
    expression: str
    triggers: frozenset[str] | None
    needs_digit: bool

    @property
    def regex(self) -> re.Pattern[str]:
        """The compiled expression; compiled when the form is first looked for, which takes about 1 ms."""
        return _compiled(self.expression)


@dataclass(frozen=True, slots=True)
class Patterns:
    """All forms of one language; ``year_offsets`` maps "last year" to -1."""

    words: DateWords
    forms: tuple[Pattern, ...]
    month_numbers: dict[str, int]
    year_offsets: dict[str, int]
    joined_month: re.Pattern[str]


@cache
def patterns_for(language: str) -> Patterns | None:
    """Return a language's patterns, made at the first call; None for one whose dates aren't known."""
    words = DATE_WORDS.get(language)
    return None if words is None else _patterns(words)


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def _patterns(words: DateWords) -> Patterns:
    offsets = _year_offsets(words)
    months = {**words.short_months, **words.months}
    month = _any(months)
    relative = rf"(?:{_maybe(words.of)}(?P<relative>{_any(offsets)}))"
    weekday = rf"(?:(?:{_any(words.weekdays)}),? )?"
    which = rf"(?P<which>{_any(words.which)})"
    marks = rf"(?P<mark>{_any(words.day_marks)})?"
    days, day_marks = rf"{_DAY}|{_any(words.ordinals)}", rf"(?:{_any(words.day_marks)})?"
    range_start = rf"(?:(?P<first>{days}){day_marks}(?:{TO}|(?P<and>{AND})){_maybe(words.day_lead)})?"
    after_day = (
        rf"(?:(?:,? ?|-){_maybe(words.of)}(?P<year>1[5-9][0-9]{{2}}|20[0-9]{{2}})(?!\w|[.,:][0-9])"
        rf"|,? {relative}| ?'(?P<short_year>[0-9]{{2}})(?!\w))?"
    )
    sure_year = rf"(?P<year>{_YEAR}){_NOT_AN_AMOUNT}|'(?P<short_year>[0-9]{{2}})(?!\w)"
    number = rf"[0-9]{{1,3}}|{_any((*words.numbers, *words.few))}"
    amount = rf"(?P<number>{number}) (?P<unit>{_any((*words.units, *words.plurals))})"
    spans = _any(name for name, unit in words.units.items() if unit != "day")
    texts: dict[Form, str] = {
        "day": rf"(?<![\w.,:/$€£#]){weekday}(?P<lead>(?:{_any(words.day_lead)}) )?{range_start}"
        rf"(?P<day>{_DAY}|{_any(words.ordinals)}){marks}(?: (?P<of>(?:{_any(words.of)}) )?|-)"
        rf"(?P<month>{month})(?:\.(?= ?[12']))?{_WORD_ENDS}{after_day}",
        "month_day": rf"(?<!\w){weekday}(?P<month>{month})\.? (?P<lead>the )?{range_start}"
        rf"(?P<day>{_DAY}){marks}(?!\w){after_day}(?!%|[.,:/][0-9])",
        "month_year": rf"(?<!\w)(?:(?P<first>{month})\.?(?:{TO}|(?P<and>{AND})))?"
        rf"(?P<month>{month})(?:[.,]? {_maybe(words.of)}|-)(?:{sure_year})",
        "month": rf"(?<!\w)(?:{which} )?(?P<month>{_any(words.months)})(?: {relative})?"
        rf"(?!\w|'\w|-(?!(?:{_any(words.months)})(?!\w))[^\W\d])",
        "year": rf"(?<!\w)(?:{_any(words.year_lead)})[ -](?P<year>{_YEAR})"
        rf"(?:(?: ?- ?| (?:{_any(words.year_joins)}) )(?P<second>{_YEAR}))?{_NOT_AN_AMOUNT}",
        "weekday": rf"(?<!\w)(?:{which} )?(?P<weekday>{_any(words.weekdays)}){_WORD_ENDS}",
        "phrase": rf"(?<!\w)(?P<phrase>{_any(_all_phrases(words))}){_WORD_ENDS}",
        "unit": rf"(?<!\w){which} (?P<unit>{spans})(?!\w)"
        rf"(?! (?:{_any(_INSIDE)}) (?:the )?(?:{month})(?!\w))",
        "ago": rf"(?<![\w.,:/]){_amount(amount, before=words.ago[0], after=words.ago[1])}(?!\w)",
        "later": rf"(?<![\w.,:/]){_amount(amount, before=words.later[0], after=words.later[1])}(?!\w)",
        "week": rf"(?<!\w)(?:{_any(words.week_lead)}) ?(?P<week>[0-9]{{1,2}})(?:{TO}(?P<last>[0-9]{{1,2}}))?(?!\w)"
        rf"(?:(?:[/,]? ?|-){_maybe(words.of)}(?P<year>{_YEAR}))?{_NOT_AN_AMOUNT}",
        "season": rf"(?<!\w)(?P<lead>(?:{_any(words.season_lead)}) )?"
        rf"(?:{which} |(?P<before>{_any(offsets)}) )?"
        rf"(?P<season>{_any(words.seasons)})(?:,? {_maybe(words.of)}(?P<year>{_YEAR})"
        rf"(?P<second>[/-](?:{_YEAR}|[0-9]{{2}})(?!\w))?{_NOT_AN_AMOUNT}| {relative})?{_WORD_ENDS}",
    }
    names, first_four = _any(words.quarters), _any(_first_four(words))
    quarter = rf"q(?P<q>[1-4])|(?P<ordinal>{first_four})(?:{_any(words.day_marks)})? (?P<name>{names})"
    begun = rf"(?:q(?P<first_q>[1-4])|(?P<first_ordinal>{first_four})(?:{_any(words.day_marks)})?)"
    texts["quarter"] = (
        rf"(?<![\w-])(?P<lead>(?:{_any(words.quarter_lead)}) )?(?:{begun}(?:{TO}|(?P<and>{AND})))?"
        rf"(?:(?P<ahead>{_YEAR})[ /-]?)?"
        rf"(?:{quarter}|(?:{names}) (?P<number>[1-4]))"
        rf"(?:(?:,? |[/-]){_maybe(words.of)}(?P<year>{_YEAR}){_NOT_AN_AMOUNT}"
        rf"| ?'(?P<short_year>[0-9]{{2}})| {relative})?{_WORD_ENDS}"
    )
    texts["holiday"] = (
        rf"(?<!\w)(?:{which} )?(?P<holiday>{_any(words.holidays)})"
        rf"(?:,? {_maybe(words.of)}(?P<year>{_YEAR}){_NOT_AN_AMOUNT}| {relative})?{_WORD_ENDS}"
    )
    if not words.month_day:
        del texts["month_day"]
    triggers = _triggers(words)
    return Patterns(
        words=words,
        forms=tuple(
            Pattern(form, text, triggers[form], form in ("month_day", "month_year", "year", "week"))
            for form, text in texts.items()
        ),
        month_numbers=months,
        year_offsets=offsets,
        joined_month=re.compile(rf"(?:{_any(words.months)})(?: (?:{_any(words.year_joins)}) | ?- ?)\Z"),
    )


def _triggers(words: DateWords) -> dict[Form, frozenset[str] | None]:
    months = frozenset((*words.months, *words.short_months))
    units = frozenset((*words.units, *words.plurals))
    return {
        "day": months,
        "month_day": months,
        "month_year": months,
        "month": months,
        "year": None,
        "weekday": frozenset(words.weekdays),
        "phrase": frozenset(phrase.rpartition(" ")[2] for phrase in _all_phrases(words)),
        "unit": units,
        "ago": units,
        "later": units,
        "season": frozenset(words.seasons),
        "quarter": frozenset(("q", *words.quarters)),
        "holiday": frozenset(max(WORD.findall(name), key=len) for name in words.holidays),
        "week": frozenset(lead.rstrip(".").rpartition(" ")[2] for lead in words.week_lead),
    }


def _first_four(words: DateWords) -> tuple[str, ...]:
    return ("1", "2", "3", "4", *(name for name, number in words.ordinals.items() if number <= 4))


def _all_phrases(words: DateWords) -> tuple[str, ...]:
    return (*words.phrases, *words.weekday_phrases, *words.season_phrases)


def _year_offsets(words: DateWords) -> dict[str, int]:
    """Phrases for a year by its distance: "last year", "i fjol"."""
    steps = {"last": -1, "this": 0, "next": 1}
    named = {
        f"{which} {name}": steps[step]
        for which, step in words.which.items()
        for name, unit in words.units.items()
        if unit == "year"
    }
    fixed = {
        phrase: count for phrase, (unit, count) in words.phrases.items() if unit == "year" and isinstance(count, int)
    }
    return named | fixed


def _amount(amount: str, *, before: Iterable[str], after: Iterable[str]) -> str:
    head, tail = [word for word in before if word], [word for word in after if word]
    start = (rf"(?:(?:{_any(head)}) )" + ("?" if "" in before else "")) if head else ""
    end = (rf"(?: (?:{_any(tail)}))" + ("?" if "" in after else "")) if tail else ""
    return start + amount + end


def _maybe(words: Iterable[str]) -> str:
    return f"(?:(?:{_any(words)}) )?"


def _any(words: Iterable[str]) -> str:
    """Return an alternation of words, longest first; one that never matches if there are none."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(map(re.escape, ordered)) if ordered else r"(?!)"
