"""Long texts as overlapping passages, so that the last word counts as much as the first.

A passage of about 126 tokens found more than one of 256 in answers of 600 words; the sizes are settings of an
embedder and part of its fingerprint.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory_rag.embedding.readable import Readable
from memory_rag.errors import SettingsError
from memory_rag.turns import Span

_WORD: Final = re.compile(r"\S{1,16}")
_CLOSING: Final = "\"'”’»)]}*_`」』"
_SENTENCE_ENDS: Final = ".!?…:;"
_SENTENCE_ENDS_UNSPACED: Final = "。！？"


@dataclass(frozen=True, slots=True)
class PassageShape:
    """How many tokens a passage has at most, and how many of them the next passage repeats."""

    size: int = 126
    overlap: int = 16

    def __post_init__(self) -> None:
        if self.size < 8 or not 0 <= self.overlap <= self.size // 2:
            raise SettingsError(
                f"a passage has at least 8 tokens and repeats at most half of them; got size {self.size} "
                f"and overlap {self.overlap}, for example size 126 and overlap 16 are fine"
            )

    def within(self, most: int) -> PassageShape:
        """Return this shape, or a smaller one for a model that reads at most so many tokens."""
        return self if self.size <= most else PassageShape(most, min(self.overlap, most // 4))

    def __str__(self) -> str:
        return f"p{self.size}-{self.overlap}"


def split_passages(starts: Sequence[int], *, text: str, shape: PassageShape) -> tuple[Span, ...]:
    """Cut a text into passages of at most ``shape.size`` tokens; a text that needs no cut is one span.

    ``starts`` says where each token starts in the text, ascending. A passage ends at the best place in the
    last fifth of its tokens: a line's end, else a sentence's, else a word's. The last passage has at least
    half a passage's tokens. The passages hold every character of the text that isn't white space, also those
    that no token stands for.
    """
    if len(starts) <= shape.size:
        return (Span(0, len(text)),)
    spans: list[Span] = []
    first = 0
    while len(starts) - first > shape.size:
        end = _best_end(starts, first=first, text=text, shape=shape)
        spans.append(_trimmed(Span(starts[first] if first else 0, starts[end]), text))
        first = min(_word_start(starts, end - shape.overlap, end, text=text), len(starts) - shape.size // 2)
    spans.append(_trimmed(Span(starts[first], len(text)), text))
    return tuple(spans)


def spread_starts(text: str, *, count: Callable[[str], int]) -> Sequence[int]:
    """Return about where each token starts, for a tokenizer that counts tokens but doesn't place them.

    The tokens of a word, or of 16 characters of a longer one, are spread evenly over its characters.
    """
    places = array("q")
    for word in _WORD.finditer(text):
        n_tokens = max(count(word[0]), 1)
        length = word.end() - word.start()
        places.extend(word.start() + length * token // n_tokens for token in range(n_tokens))
    return places


def passages_that_fit(
    stored: str,
    *,
    starts: Callable[[str], Sequence[int]],
    count: Callable[[str], int],
    shape: PassageShape,
    most: int,
) -> tuple[Span, ...]:
    """Return the passages of a stored text; each has at most ``most`` tokens when it is read alone.

    A passage that starts inside a word can have more tokens alone than it had in its place; one that has too
    many is halved until it fits. Spans are places in the stored text, whatever characters it holds.
    """
    readable = Readable.of(stored)
    spans = split_passages(starts(readable.text), text=readable.text, shape=shape)
    return tuple(
        readable.stored_span(part) for span in spans for part in _fitting(span, readable.text, count=count, most=most)
    )


def _fitting(span: Span, text: str, *, count: Callable[[str], int], most: int) -> Iterator[Span]:
    if span.end - span.start < 2 or count(span.of(text)) <= most:
        yield span
        return
    middle = (span.start + span.end) // 2
    for half in (Span(span.start, middle), Span(middle, span.end)):
        yield from _fitting(half, text, count=count, most=most)


def _best_end(starts: Sequence[int], *, first: int, text: str, shape: PassageShape) -> int:
    latest = first + shape.size
    earliest = latest - shape.size // 5
    return max(range(earliest, latest + 1), key=lambda end: (_break_before(starts, end, text), end))


def _word_start(starts: Sequence[int], wanted: int, end: int, *, text: str) -> int:
    """Return the first token from ``wanted`` to ``end`` that begins a word; ``wanted`` if none does."""
    return next((token for token in range(wanted, end + 1) if _break_before(starts, token, text)), wanted)


def _break_before(starts: Sequence[int], token: int, text: str) -> int:
    """Say how good a cut before a token is: 3 at a line's end, 2 a sentence's, 1 a word's, 0 inside one."""
    before = text[starts[token - 1] : starts[token]]
    said = before.rstrip()
    white = before[len(said) :]
    if "\n" in white:
        return 3
    last = said.rstrip(_CLOSING)[-1:] or said[-1:]
    if last and (last in _SENTENCE_ENDS_UNSPACED or (white and last in _SENTENCE_ENDS)):
        return 2
    return 1 if white else 0


def _trimmed(span: Span, text: str) -> Span:
    said = span.of(text)
    body = said.strip()
    if not body:
        return span
    start = span.start + len(said) - len(said.lstrip())
    return Span(start, start + len(body))
