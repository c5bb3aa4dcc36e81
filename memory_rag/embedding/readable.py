"""A text as a tokenizer can take it, with the way back to the places in the stored text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memory_rag.turns import Span, printable

PIECE: Final = 16_384
"""Code points tokenized at once: a text of 10 MB takes 1.7 GB in ``tokenizers`` as a whole, .05 in pieces."""
LONGEST_WORD: Final = 100
"""WordPiece reads a longer word as a single "unknown"; such a word is read in parts instead."""
PART: Final = 32
"""Code points of such a part; WordPiece's time grows with their square."""

_PAIR = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")
_APART = r"\s!-/:-@\[-`{-~\u2000-\u206f\u3000-\u303f\uff00-\uff0f"
_BREAK = re.compile(f"[{_APART}]")
_RUN_ON = re.compile(f"[^{_APART}]{{{LONGEST_WORD + 1},}}")


@dataclass(frozen=True, slots=True)
class Readable:
    """A text without lone surrogates and NUL; two surrogates that form a pair are one character of it."""

    text: str
    pairs: tuple[int, ...] = ()
    """Where in ``text`` the characters are that stand for two code points of the stored text, ascending."""

    @classmethod
    def of(cls, stored: str) -> Readable:
        pairs = tuple(found.start() - before for before, found in enumerate(_PAIR.finditer(stored)))
        return cls(printable(stored), pairs)

    def stored_span(self, span: Span) -> Span:
        """Map a span of ``text`` to the stored text."""
        return Span(self._stored(span.start), self._stored(span.end))

    def _stored(self, place: int) -> int:
        return place + bisect_left(self.pairs, place)


def pieces(text: str) -> Iterator[Span]:
    """Cut a text into spans to tokenize one by one: after white space or punctuation, and in words over 100.

    The spans follow each other without a gap. WordPiece joins nothing over such a place, so their tokens are
    the whole text's, but for the parts of long words.
    """
    start = 0
    for run in _RUN_ON.finditer(text):
        yield from _at_breaks(text, Span(start, run.start()))
        for place in range(run.start(), run.end(), PART):
            yield Span(place, min(place + PART, run.end()))
        start = run.end()
    yield from _at_breaks(text, Span(start, len(text)))


def spaced(text: str) -> str:
    """Return the text with spaces between the parts of a word over 100, for a model that takes no pieces."""
    return _RUN_ON.sub(
        lambda run: " ".join(run[0][place : place + PART] for place in range(0, len(run[0]), PART)), text
    )


def _at_breaks(text: str, span: Span) -> Iterator[Span]:
    start = span.start
    while span.end - start > PIECE:
        found = _BREAK.search(text, start + PIECE, span.end)
        if found is None:
            break
        yield Span(start, found.end())
        start = found.end()
    if start < span.end:
        yield Span(start, span.end)
