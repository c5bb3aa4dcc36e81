"""Where a wording stands in one text: alone, or as a part of longer words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from memory_rag.retrieval.differences import Difference, differences
from memory_rag.text.folding import fold
from memory_rag.text.word_bounds import inside_word, is_spaced, standing_alone, whole_words
from memory_rag.turns import Span

_LONGEST_PATTERN = 200
_MOST_WORDS = 8
_AROUND_A_WORD = ".,;:!?()[]{}*>\"'-"


def says_something(wording: str) -> bool:
    """Tell whether there is more than space and punctuation in it: a letter, a digit, a picture, ``€``."""
    kinds = map(unicodedata.category, wording)
    return any(kind[0] in "LN" or kind in ("So", "Sc", "Cs", "Co", "Cn") for kind in kinds)


def spans_of(wording: str, text: str) -> Iterator[Span]:
    """Yield where exactly these code points stand, from left to right, not overlapping."""
    at = text.find(wording)
    while at >= 0:
        yield Span(at, at + len(wording))
        at = text.find(wording, at + len(wording))


def spans_alone(wording: str, text: str) -> Iterator[Span]:
    """Yield where exactly these code points stand and cut no word, from left to right, not overlapping."""
    sieve = standing_alone(wording) if len(wording) <= _LONGEST_PATTERN else None
    at = 0
    while True:
        if sieve is None:
            start = text.find(wording, at)
        else:
            match = sieve.search(text, at)
            start = -1 if match is None else match.start()
        if start < 0:
            return
        end = start + len(wording)
        alone = not inside_word(text, start) and not inside_word(text, end)
        if alone:
            yield Span(start, end)
        at = end if alone else start + 1


def folded_spans(needle: str, text: str) -> Iterator[Span]:
    """Yield where a text reads as this folded needle, as spans of the text as written, not overlapping."""
    folded = fold(text)
    at = folded.text.find(needle)
    while at >= 0:
        end = at + len(needle)
        span = folded.span(at, end)
        # A part of what one character became (one s of ß) reads the same and is not the same.
        same = fold(span.of(text)).text == needle
        if same:
            yield span
        at = folded.text.find(needle, end if same else at + 1)


def cut_words(text: str, span: Span) -> tuple[Difference, ...]:
    """Return the words that a span cuts at either end, as differences from the whole words."""
    whole = whole_words(text, span)
    return () if whole == span else differences(span.of(text), whole.of(text))


def certain_words(parts: Iterable[str]) -> list[str]:
    """Return up to eight of the folded words, long ones first, that any tokenizer takes for whole words."""
    bare = {part.strip(_AROUND_A_WORD) for part in parts}
    certain = [word for word in bare if word.isalpha() or (word.isascii() and word.isdecimal())]
    return sorted(filter(is_spaced, certain), key=lambda word: (-len(word), word))[:_MOST_WORDS]
