"""Where a value in running text begins and ends: without the marks that open it and those a sentence puts after it."""

from __future__ import annotations

import re
from typing import Final

from memory_rag.turns import Span

CLOSING: Final = {'"': '"', "'": "'", "`": "`", "“": "”“", "”": "”", "„": "“”", "«": "»", "»": "«", "「": "」"}
"""What closes a quotation, by what opens it."""
OPENING: Final = "\"'`([“”„«»「*"
_AFTER: Final = ".,;:?\"'`”»…*"
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}


def trimmed(word: str) -> str:
    """Return a word without the marks that a sentence puts after it; an exclamation mark may be its own."""
    word = word.rstrip(_AFTER)
    while word.endswith((")", "]", "}")) and word.count(word[-1]) > word.count(_PAIRS[word[-1]]):
        word = word[:-1].rstrip(_AFTER)
    return word


def value_of(word: str, *, at: int) -> Span:
    """Return the span of the value in a word that begins at a place: to its closing quotation mark if it has one."""
    bare = word.lstrip(OPENING)
    start = len(word) - len(bare)
    if start and word[start - 1] in CLOSING:
        bare = re.split(f"[{CLOSING[word[start - 1]]}]", bare, maxsplit=1)[0]
    return Span(at + start, at + start + len(trimmed(bare)))
