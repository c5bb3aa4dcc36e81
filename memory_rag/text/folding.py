"""Texts that read alike, made equal; and the way back to the code points as they were written.

Folding ignores what typing, copying and typesetting change without changing the words: composition (NFC),
case (Unicode's full case folding: ``Straße`` reads as ``STRASSE``, ``İ`` as ``i``, ``ς`` as ``σ``), white space, the
kind of quotation mark, apostrophe and dash, the ellipsis sign, and characters that take no room. It is not
NFKC: ``①``, ``ｆ`` and ``²`` stay what they are. The dotless ``ı`` stays apart from ``i``, as Unicode has it.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from memory_rag.turns import Span

_SINGLE_QUOTES = "‘’‚‛′‹›ʹʼ´＇"
_DOUBLE_QUOTES = "“”„‟″«»〝〞〟＂「」『』﹁﹂﹃﹄"
_DASHES = "‐‑‒–—―−⸺⸻﹘﹣－"
_ALIKE = (
    dict.fromkeys(map(ord, _SINGLE_QUOTES), "'")
    | dict.fromkeys(map(ord, _DOUBLE_QUOTES), '"')
    | dict.fromkeys(map(ord, _DASHES), "-")
    | {ord("…"): "..."}
)
_JOINER = "\u200d"
_PICTURE = "[\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
# Soft hyphen, grapheme joiner, zero-width and bidirectional marks, invisible operators, byte order mark.
_UNSEEN = frozenset("\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff") | {
    chr(code) for low, high in ((0x202A, 0x202E), (0x2061, 0x206F)) for code in range(low, high + 1)
}
_PRESENTATION = frozenset("\ufe0e\ufe0f")
_NOT_SEEN = dict.fromkeys(map(ord, _UNSEEN | _PRESENTATION))
# Sorting a letter's marks takes time in the square of their number (a million marks: hours), so a letter
# with more than this is left as it is written. Unicode's stream-safe format stops at 30.
_MOST_MARKS = 64
_DOTTED = re.compile("i\u0307+")
_Sort = Literal["plain", "unseen", "mark", "long"]
_ASCII_SPACE = dict.fromkeys(map(ord, "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f"), " ")


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text that knows where each of its characters was written.

    ``text`` is the folded text. Only the places where the two texts are not one to one are kept: piece ``i``
    of the original, ``[_from[i], _to[i])``, became ``text[_start[i]:_end[i]]``.
    """

    text: str
    _length: int = field(repr=False)
    _start: array[int] = field(repr=False)
    _end: array[int] = field(repr=False)
    _from: array[int] = field(repr=False)
    _to: array[int] = field(repr=False)

    def span(self, start: int, end: int) -> Span:
        """Return the code points of the original that became ``text[start:end]``.

        Half-open. Whole written characters only: a letter comes with its combining marks, ``ß``
        and an emoji sequence come whole even when the range holds a part of them. Unseen characters at
        either edge stay out. An empty range gives an empty span.

        Raises:
            ValueError: the range lies outside the folded text.
        """
        if not 0 <= start <= end <= len(self.text):
            raise ValueError(f"[{start}, {end}) is no range of a folded text of {len(self.text)} characters")
        begin = self._written_start(start)
        return Span(begin, begin if start == end else self._written_end(end))

    def _written_start(self, at: int) -> int:
        if at == len(self.text):
            return self._length
        piece = bisect_right(self._start, at) - 1
        if piece < 0:
            return at
        if at < self._end[piece]:
            return self._from[piece]
        return self._to[piece] + at - self._end[piece]

    def _written_end(self, at: int) -> int:
        piece = bisect_left(self._start, at) - 1
        if piece < 0:
            return at
        return self._to[piece] + max(0, at - self._end[piece])


def fold(text: str) -> Folded:
    """Return the text as it reads when spelling variants are ignored; folding it again changes nothing.

    Any text is taken, lone surrogates and NUL included; 10 MB take a second or two. Each run of white space
    becomes one space, at the edges too. Empty text gives empty text.
    """
    if text.isascii():
        return _assemble(text, text.translate(_ASCII_SPACE).lower(), _pieces_pattern("", "", "", False))
    plain: dict[str, str] = {}
    sorts: dict[_Sort, list[str]] = {"unseen": [], "mark": [], "long": []}
    for character in sorted(set(text)):
        sort, folded = _reading(character)
        if sort != "plain":
            sorts[sort].append(character)
        else:
            plain[character] = folded
    unseen, marks, long = ("".join(sorts[sort]) for sort in ("unseen", "mark", "long"))
    pattern = _pieces_pattern(unseen, marks, long, _FLAG.search(text) is not None)
    return _assemble(text, _smoothed(text, plain, whole=not (unseen or marks or long)), pattern)


@lru_cache(maxsize=8192)
def _reading(character: str) -> tuple[_Sort, str]:
    """Return what sort of character it is, and what it becomes when it stands alone."""
    if character in _UNSEEN:
        return "unseen", ""
    if character.isspace():
        return "plain", " "
    folded = _fold_piece(character)
    if is_mark(character):
        return "mark", folded
    return ("plain" if len(folded) == 1 else "long"), folded


def _smoothed(text: str, plain: Mapping[str, str], *, whole: bool) -> str:
    """Return the text with each plain character as it becomes; as long as the text.

    ``whole`` says that all of its characters are plain: then ``casefold`` does nearly all of it, four times
    as fast as ``translate`` on a text that is not ASCII.
    """
    others = {character: folded for character, folded in plain.items() if character.casefold() != folded}
    if not whole or len(others) > 8 or any(len(character.casefold()) > 1 for character in others):
        return text.translate({ord(character): folded for character, folded in plain.items() if character != folded})
    smooth = text.casefold()
    for character, folded in others.items():
        smooth = smooth.replace(character.casefold(), folded)
    return smooth


def is_mark(character: str) -> bool:
    """Tell whether a character belongs to the one before it: an accent, a vowel sign, a skin tone, a jamo."""
    return (
        unicodedata.category(character)[0] == "M"
        or "\u1160" <= character <= "\u11ff"
        or "\ud7b0" <= character <= "\ud7ff"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def is_unseen(character: str) -> bool:
    """Tell whether a character takes no room: a soft hyphen, a zero-width or direction mark."""
    return character in _UNSEEN


def _assemble(text: str, smooth: str, pattern: re.Pattern[str]) -> Folded:
    """Put the folded text together: ``smooth`` where it is one to one with ``text``, else folded pieces."""
    starts, ends, froms, tos = array("q"), array("q"), array("q"), array("q")
    parts: list[str] = []
    known: dict[str, str] = {}
    done = length = 0
    for match in pattern.finditer(text):
        begin, finish = match.span()
        piece = match.group()
        folded = known.get(piece)
        if folded is None:
            folded = known[piece] = _fold_piece(piece)
        if begin > done:
            parts.append(smooth[done:begin])
            length += begin - done
        parts.append(folded)
        starts.append(length)
        length += len(folded)
        ends.append(length)
        froms.append(begin)
        tos.append(finish)
        done = finish
    parts.append(smooth[done:])
    return Folded("".join(parts), len(text), starts, ends, froms, tos)


def _fold_piece(piece: str) -> str:
    seen = piece.translate(_NOT_SEEN)
    if seen[:1].isspace():
        return " "
    if len(seen) > _MOST_MARKS:
        return seen
    # Case folding before the canonical order is there would go wrong for U+0345 (iota subscript).
    caseless = unicodedata.normalize("NFD", seen).casefold()
    # Without the dot that a folded İ leaves, which nobody types: "istanbul" is İSTANBUL in small letters.
    return unicodedata.normalize("NFC", _DOTTED.sub("i", caseless).translate(_ALIKE))


@lru_cache(maxsize=256)
def _pieces_pattern(unseen: str, marks: str, long: str, flags: bool) -> re.Pattern[str]:
    """Return what finds the pieces that are not one to one, in a text with these characters of each sort."""
    tail = []
    if marks:
        tail.append(_one_of(unseen + marks) + "*" + _one_of(marks))
    if _JOINER in unseen:
        # A joiner holds two pictures together (a family, a profession); between letters it does not.
        tail.append(f"{_JOINER}{_PICTURE}")
    extended = "(?:" + "|".join(tail) + "){1,32}" if tail else ""
    letter = f"[^\\s{re.escape(unseen)}]"
    faint = unseen + "".join(sorted(_PRESENTATION.intersection(marks)))
    pieces = [rf"\s(?:{_one_of(faint)}*\s)+" if faint else r"\s{2,}"]
    if flags:
        pieces.append(_FLAG.pattern + (f"(?:{extended})?" if extended else ""))
    if extended:
        pieces.append(letter + extended)
    if unseen:
        pieces.append(_one_of(unseen) + "+")
    if marks or long:
        pieces.append(_one_of(marks + long))
    return re.compile("|".join(pieces))


def _one_of(characters: str) -> str:
    return f"[{re.escape(characters)}]"
