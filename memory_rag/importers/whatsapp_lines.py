"""The lines of a WhatsApp export: which begin a message, when it was sent, by whom, and its words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memory_rag.importers.date_order import Figures

_MARKS: Final = "\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069\ufeff"
_SPACE: Final = " \u00a0\u202f\u2009"
_DATE: Final = rf"(\d{{1,4}})([./-])[{_SPACE}]?(\d{{1,2}})[./-][{_SPACE}]?(\d{{1,4}})\.?"
_BETWEEN: Final = rf"(?:[,،]?[{_SPACE}]+(?:(?:klo|kl\.?|um|a las|à|às|o|v|в)[{_SPACE}])?)"
_BEFORE: Final = r"(上午|下午|午前|午後|오전|오후|凌晨|早上|中午|晚上)?"
_CLOCK: Final = r"(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?"
_AFTER: Final = rf"(?:[{_SPACE}]?([aApPصم])\.?[{_SPACE}]?[mM]?\.?)?"
_TIME: Final = rf"{_BEFORE}[{_SPACE}]?{_CLOCK}{_AFTER}"
_HEADER: Final = re.compile(
    rf"[{_MARKS}]*(?:\[({_DATE}{_BETWEEN}{_TIME})\][{_SPACE}]|({_DATE}{_BETWEEN}{_TIME})[{_SPACE}][-–—][{_SPACE}])(.*)\Z",
    re.DOTALL,
)
_N_GROUPS: Final = 10
_AFTERNOON: Final = frozenset({"p", "P", "م", "下午", "午後", "오후", "晚上", "中午"})
_MORNING: Final = frozenset({"a", "A", "ص", "上午", "午前", "오전", "凌晨", "早上"})
_QUOTES: Final = re.compile('["“”„«»]')


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a message, without its line feed: date, clock, and what follows them.

    ``hour`` is of 24; ``written`` is date and time as they stand there; ``line`` is the whole of it; ``in_brackets`` is
    how iPhones write date and time.
    """

    line: str

    date: Figures
    hour: int
    minute: int
    second: int
    written: str
    rest: str
    in_brackets: bool


def header_of(line: str) -> Header | None:
    """Return what a line begins, or None for one that goes on with the message above it."""
    found = _HEADER.match(line)
    if found is None:
        return None
    groups = found.groups()
    part = groups[:_N_GROUPS] if groups[0] is not None else groups[_N_GROUPS : 2 * _N_GROUPS]
    written, first, sign, second, third, before, hour, minute, seconds, after = part
    clock = _hour(int(hour), before or after)
    if clock is None or int(minute) > 59:
        return None
    figures = Figures(int(first), int(second), int(third), len(first), sign)
    return Header(line, figures, clock, int(minute), int(seconds or 0), written, groups[-1], groups[0] is not None)


def speaker_of(rest: str, *, names: frozenset[str] = frozenset()) -> tuple[str, str] | None:
    """Return who speaks and the words, or None for a notice that nobody says; ``names`` are those with a colon in them.

    Only the mark that WhatsApp puts before a name is taken away; what the words begin with belongs to them.
    """
    bare = rest.lstrip(_MARKS)
    for name in names:
        if bare.startswith(f"{name}: "):
            return name, bare[len(name) + 2 :]
    name, colon, text = bare.partition(": ")
    if not colon and bare.endswith(":") and len(bare) <= 100:
        name, colon, text = bare[:-1], ":", ""
    if not colon or not name or len(name) > 100 or "\n" in name or _QUOTES.search(name):
        return None
    return name, text


def _hour(hour: int, half: str | None) -> int | None:
    """Return an hour of 24, None if there is no such hour."""
    if half in _AFTERNOON:
        hour = hour if hour >= 12 else hour + 12
    elif half in _MORNING and hour == 12:
        hour = 0
    if hour == 24:  # as some languages write midnight
        hour = 0
    return hour if 0 <= hour <= 23 else None
