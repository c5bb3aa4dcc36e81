"""A text with its letters composed (NFC), and the way back: rules know "lösen", some systems write "lo" and a mark."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from memory_rag.turns import Span

# Marks that compose with the letter before them, and the parts of Korean syllables. Marks are sorted in quadratic time.
_CLUSTER: Final = re.compile(
    "[^\u0300-\u036f\u3099\u309a][\u0300-\u036f\u3099\u309a]{1,32}|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?"
)
_FIRST_BYTES: Final = (b"\xcc", b"\xcd", b"\xe3\x82\x99", b"\xe3\x82\x9a", b"\xe1\x84")
"""One of these is in the UTF-8 of whatever has to be composed."""


def may_be_decomposed(data: bytes) -> bool:
    """Tell at a glance whether a text, given as UTF-8, may have letters to be composed."""
    return any(first in data for first in _FIRST_BYTES)


@dataclass(frozen=True, slots=True)
class Composed:
    """A composed text that knows where each of its characters was written."""

    text: str
    _begins: list[int]
    _ends: list[int]

    @classmethod
    def of(cls, text: str) -> Composed:
        parts, begins, ends, done = list[str](), list[int](), list[int](), 0
        for found in _CLUSTER.finditer(text):
            start, end = found.span()
            made = unicodedata.normalize("NFC", found[0])
            parts += text[done:start], made
            begins += [*range(done, start), *([start] * len(made))]
            ends += [*range(done + 1, start + 1), *([end] * len(made))]
            done = end
        begins += range(done, len(text))
        ends += range(done + 1, len(text) + 1)
        return cls("".join([*parts, text[done:]]), begins, ends)

    def written(self, span: Span) -> Span:
        """Return where a span that isn't empty was written; letters come with all of their marks."""
        return Span(self._begins[span.start], self._ends[span.end - 1])
