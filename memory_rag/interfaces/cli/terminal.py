"""Text set for a terminal: safe to print, wrapped by what it takes on the screen, a few styles."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_rag.turns import Span

_NARROWEST = 40
# Control characters would let a stored text write to the terminal: move its cursor, set its title.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_ENDS = str.maketrans({"\u2028": " ", "\u2029": " ", "\x85": " "})
_BREAKS = re.compile(r"\n|[^\S\n]+|[^\s]+")


def shown(text: str) -> str:
    """Return a text that can be printed: every control character but tab and line feed as U+FFFD, one for one."""
    return (
        text
        if text.isascii() and text.isprintable()
        else _UNSAFE.sub("\ufffd", text.translate(_LINE_ENDS).replace("\r\n", " \n"))
    )


def screen_width(*, widest: int = 100) -> int:
    """Return how many columns a text may take: the terminal's, at least 40, at most ``widest``; 80 without one."""
    return max(_NARROWEST, min(shutil.get_terminal_size((80, 24)).columns, widest))


def columns_of(text: str) -> int:
    """Return how many columns a text takes: two for a Chinese sign, none for a combining mark."""
    if text.isascii():
        return len(text)
    return sum(_columns(sign) for sign in text)


def fitted(text: str, width: int) -> str:
    """Return the text on one line, cut with an ellipsis if it takes more than ``width`` columns."""
    line = " ".join(text.split())
    if columns_of(line) <= width:
        return line
    taken, end = 0, 0
    while end < len(line) and taken + _columns(line[end]) < width:
        taken += _columns(line[end])
        end += 1
    return line[:end].rstrip() + "…"


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return the text with spaces around it so that it takes ``width`` columns."""
    space = " " * max(0, width - columns_of(text))
    return space + text if right else text + space


def wrapped(text: str, width: int) -> list[Span]:
    """Return the lines of a text as spans of it, none over ``width`` columns; spaces at their ends are left out."""
    lines: list[Span] = []
    start = end = taken = 0
    for match in _BREAKS.finditer(text):
        piece = match[0]
        if piece == "\n":
            lines.append(Span(start, end))
            start = end = match.end()
            taken = 0
        elif piece.isspace():
            taken += len(piece)
        else:
            size = columns_of(piece)
            if taken + size > width and end > start:
                lines.append(Span(start, end))
                start, taken = match.start(), 0
            place = match.start()
            for cut in _pieces(piece, width - taken, width):
                if place > match.start():
                    lines.append(Span(start, end))
                    start = place
                place += len(cut)
                end = place
                taken = columns_of(text[start:end])
    lines.append(Span(start, end))
    return lines


def _pieces(word: str, first: int, width: int) -> Iterable[str]:
    """Cut a word that is longer than a line, or that is written without spaces."""
    if columns_of(word) <= first:
        yield word
        return
    room, start, taken = max(first, 1), 0, 0
    for place, sign in enumerate(word):
        if taken + _columns(sign) > room and place > start:
            yield word[start:place]
            start, taken, room = place, 0, width
        taken += _columns(sign)
    yield word[start:]


@dataclass(frozen=True, slots=True)
class Ink:
    """The styles of one stream; without colour they all leave a text as it is."""

    colour: bool

    def bold(self, text: str) -> str:
        return self._styled("1", text)

    def dim(self, text: str) -> str:
        return self._styled("2", text)

    def found(self, text: str) -> str:
        """What was looked for, where it stands."""
        return self._styled("1;35", text)

    def good(self, text: str) -> str:
        return self._styled("32", text)

    def odd(self, text: str) -> str:
        return self._styled("33", text)

    def bad(self, text: str) -> str:
        return self._styled("31", text)

    def marked(self, text: str, line: Span, marks: Sequence[Span]) -> str:
        """Return a line of a text with the marked spans of the text as found; spans in order, not overlapping."""
        parts, place = [], line.start
        for mark in marks:
            start, end = max(mark.start, place), min(mark.end, line.end)
            if start < end:
                parts += [text[place:start], self.found(text[start:end])]
                place = end
        return "".join([*parts, text[place : line.end]])

    def _styled(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


def _columns(sign: str) -> int:
    if unicodedata.combining(sign) or unicodedata.category(sign) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1
