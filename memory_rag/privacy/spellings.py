"""The byte strings in which a text may lie on a disk: encodings, JSON's escapes, cases, ways to write an accent."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import Final

PIECE: Final = 24
"""Code points of a piece of a text: SQLite cuts a long text at the ends of pages, and a piece is found beside a cut."""
ENCODINGS: Final = ("UTF-8", "UTF-16 little-endian", "UTF-16 big-endian", "JSON with escapes")


def spelled(text: str) -> Iterator[tuple[str, bytes]]:
    """Yield (encoding, bytes) of a text in every spelling, ASCII letters in lower case.

    They are looked for in bytes whose ASCII letters are in lower case too; other letters are given in every case, and
    accents composed and decomposed.
    """
    cases = {text} if text.isascii() else {text, text.casefold(), text.lower(), text.upper(), text.title()}
    forms = {unicodedata.normalize(form, case) for case in cases for form in ("NFC", "NFD")} | cases
    seen = set[bytes]()
    for form in sorted(forms):
        for encoding, data in _encoded(form):
            lowered = data.lower()
            if lowered not in seen:
                seen.add(lowered)
                yield encoding, lowered


def _encoded(text: str) -> Iterator[tuple[str, bytes]]:
    yield "UTF-8", text.encode("utf-8", "surrogatepass")
    yield "UTF-16 little-endian", text.encode("utf-16-le", "surrogatepass")
    yield "UTF-16 big-endian", text.encode("utf-16-be", "surrogatepass")
    yield "JSON with escapes", json.dumps(text)[1:-1].encode()
    yield "JSON with escapes", json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")


def pieces(text: str) -> list[str]:
    """Return a text in pieces of 24 code points, the last one overlapping; a shorter text whole."""
    if len(text) <= PIECE:
        return [text] if text.strip() else []
    starts = [*range(0, len(text) - PIECE, PIECE), len(text) - PIECE]
    return [text[start : start + PIECE] for start in starts]
