r"""Where a value begins and ends: beside an ASCII or Latin letter it is part of a word, beside Chinese it isn't.

``\b`` won't do: to it a Chinese character is a letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

LETTERS: Final = "A-Za-z\u00c0-\u024f"
"""For a character class: letters with which a value written in ASCII makes one word."""
_WORDLIKE: Final = re.compile(f"[0-9_{LETTERS}]")
_LETTER: Final = re.compile(f"[0-9{LETTERS}]")
_ESCAPE: Final = re.compile(r"(?:\\(?:[nrtbf0]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2})\Z")
_LONGEST_ESCAPE: Final = 10
_NEAR: Final = 48


def begins_at(text: str, start: int) -> bool:
    """Tell whether no letter or digit stands right before this place, but for an escape's last (``\\n``, ``%20``)."""
    if start == 0 or _LETTER.match(text, start - 1) is None:
        return True
    return _ESCAPE.search(text, max(0, start - _LONGEST_ESCAPE), start) is not None


def ends_at(text: str, end: int) -> bool:
    """Tell whether no letter, digit or underscore stands at this place."""
    return _WORDLIKE.match(text, end) is None


def before(text: str, start: int, *, reach: int = _NEAR) -> str:
    """Return the words just before a place, in small letters."""
    return text[max(0, start - reach) : start].lower()


def around(text: str, start: int, end: int, *, reach: int = _NEAR) -> str:
    """Return the words just before and after a span, in small letters, with a bar in its place."""
    return f"{before(text, start, reach=reach)}|{text[end : end + reach].lower()}"


def places_of(text: str, sign: str) -> Iterator[int]:
    """Yield every place where a sign stands in a text."""
    place = text.find(sign)
    while place >= 0:
        yield place
        place = text.find(sign, place + len(sign))
