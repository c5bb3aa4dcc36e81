r"""A text as the rules read it: as long as before, with blanks for what only sets a value apart from its neighbours.

A terminal's colours, escapes such as ``\n`` and ``%20``, and Markdown's underscores end or begin with letters, digits
or underscores, beside which a value would look like a part of a word.
"""

from __future__ import annotations

import re
from typing import Final

_COLOUR: Final = re.compile(r"(?:[\x1b\x9b]|\\(?:[xX]1[bB]|u001[bB]|0?33|e))\[[0-9;:?]{0,24}[@-~]")
_ESCAPE: Final = re.compile(
    r"\\(?:[nrtbf]|x(?P<two>[0-9A-Fa-f]{2})|u(?P<four>[0-9A-Fa-f]{4})|U(?P<eight>[0-9A-Fa-f]{8}))"
    # Of percent signs with two digits, those that stand for a sign or a blank: 20 %12 is an amount.
    r"|%(?P<percent>0[9ADad]|2[0-9A-Fa-f]|3[A-Fa-f]|40|5[B-Fb-f]|60|7[B-Eb-e])"
)
_EMPHASIS: Final = re.compile(
    r"(?<![A-Za-z0-9_])(?P<opens>_{1,3})(?=[^\s_])(?P<inside>[^\n]{1,240}?)(?<=[^\s_])(?P=opens)(?![A-Za-z0-9_])"
)


def without_colours(text: str) -> str:
    r"""Return a text without a terminal's control sequences, as they are or written out (``\x1b[1m``)."""
    if "[" not in text or not ("\x1b" in text or "\x9b" in text or "\\" in text):
        return text
    return _COLOUR.sub(_blanks, text)


def without_emphasis(text: str) -> str:
    """Return a text without the pairs of underscores by which Markdown marks words."""
    return _EMPHASIS.sub(_inside, text) if "_" in text else text


def without_escapes(text: str) -> str:
    """Return a text without what stands for a blank or a sign in JSON, in programs and in addresses; a plus stays."""
    return _ESCAPE.sub(_sign, text) if "\\" in text or "%" in text else text


def _blanks(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _inside(found: re.Match[str]) -> str:
    marks = " " * len(found["opens"])
    return f"{marks}{found['inside']}{marks}"


def _sign(found: re.Match[str]) -> str:
    number = found["two"] or found["four"] or found["eight"] or found["percent"]
    code = 0x20 if number is None else int(number, 16)
    if code <= 0x10FFFF and chr(code).isalnum():
        return found[0]
    return ("+" if code == ord("+") else " ").ljust(len(found[0]))
