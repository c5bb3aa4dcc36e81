"""What somebody still remembers of a turn: some of its exact words, or half of them, a little changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Final, NamedTuple

from memory_rag.text.stopwords import STOP_WORDS
from memory_rag.text.word_bounds import is_spaced, words
from memory_rag.turns import Span, Turn

EXACT_WORDS: Final = (5, 12)
HALF_WORDS: Final = (12, 20)
_TRIES: Final = 20
_FEWEST_CONTENT: Final = 3
_KEEP_COMMON: Final = 0.5
_KEEP_CONTENT: Final = 0.7
_CHANGE: Final = 0.4
_SHORTEST_CHANGED: Final = 5
_SAME_START: Final = 4
_LONGEST_ENDING: Final = 3

HALF_REMEMBERED_RULE: Final = (
    f"{HALF_WORDS[0]} to {HALF_WORDS[1]} words in a row, or the whole turn if it is shorter; each common word is left "
    f"out with probability {1 - _KEEP_COMMON:.1f}, any other with {1 - _KEEP_CONTENT:.1f} ({_FEWEST_CONTENT} stay); "
    f"what stays is in order, without punctuation; a word of {_SHORTEST_CHANGED} letters or more is changed, with "
    f"probability {_CHANGE:.1f}, to another such word of this memory that begins alike ({_SAME_START} letters or more) "
    f"and differs in its last {_LONGEST_ENDING} letters at most; no synonyms"
)
"""The rule in words, as a report prints it. It knows no stemmer, so that it favours none."""


class Remembered(NamedTuple):
    """The question as it is asked, and the words of the turn that it comes from."""

    query: str
    origin: str


class WordSense:
    """Which words carry content in a memory's languages, and which forms of a word the memory holds.

    ``known`` are the memory's words, casefolded.
    """

    def __init__(self, languages: Sequence[str], known: Iterable[str]) -> None:
        self._common = frozenset().union(*(STOP_WORDS.get(code, frozenset()) for code in languages))
        self._by_start: dict[str, list[str]] = {}
        for word in sorted(known):
            if word.isalpha() and len(word) >= _SHORTEST_CHANGED:
                self._by_start.setdefault(word[:_SAME_START], []).append(word)

    def is_content(self, word: str) -> bool:
        """Whether a word is no stop word and has a letter or a digit."""
        return any(map(str.isalnum, word)) and word.casefold() not in self._common

    def other_forms(self, word: str) -> list[str]:
        """Return the words of the memory that begin as this one does and end otherwise, by letters."""
        folded = word.casefold()
        if not folded.isalpha() or len(folded) < _SHORTEST_CHANGED:
            return []
        alike = self._by_start.get(folded[:_SAME_START], [])
        return [other for other in alike if other != folded and _only_ending_differs(folded, other)]


def said_in(turn: Turn) -> str:
    """Return what was said in a turn: its text, or the part of it that is indexed."""
    return turn.text if turn.indexed is None else turn.indexed.of(turn.text)


def exact_words(turn: Turn, sense: WordSense, random: Random) -> Remembered | None:
    """Return 5 to 12 words of a turn as they stand there, on one line; None if it has no such words with content."""
    text = said_in(turn)
    span = _span(text, sense, random, length=EXACT_WORDS)
    if span is None:
        return None
    found = " ".join(span.of(text).split())
    return Remembered(found, found)


def half_remembered(turn: Turn, sense: WordSense, random: Random) -> Remembered | None:
    """Return what is left of some of a turn's words by the rule; None if too little would be left."""
    text = said_in(turn)
    span = _span(text, sense, random, length=HALF_WORDS)
    if span is None:
        return None
    passage = span.of(text)
    listed = [found.of(passage) for found in words(passage)]
    content = [place for place, word in enumerate(listed) if sense.is_content(word)]
    kept = {place for place in content if random.random() < _KEEP_CONTENT}
    for place in content:
        if len(kept) < _FEWEST_CONTENT:
            kept.add(place)
    common = [place for place in range(len(listed)) if place not in content]
    kept.update(place for place in common if random.random() < _KEEP_COMMON)
    said = [_changed(listed[place], sense, random) for place in sorted(kept)]
    query = (" " if is_spaced(passage) else "").join(said)
    origin = " ".join(passage.split())
    return None if query == origin else Remembered(query, origin)


def _span(text: str, sense: WordSense, random: Random, *, length: tuple[int, int]) -> Span | None:
    """Return some words in a row, of which at least three have content."""
    found = words(text)
    shortest, longest = length
    if len(found) < EXACT_WORDS[0]:
        return None
    for _ in range(_TRIES):
        n = min(random.randint(shortest, longest), len(found))
        first = random.randint(0, len(found) - n)
        picked = found[first : first + n]
        if sum(sense.is_content(word.of(text)) for word in picked) >= _FEWEST_CONTENT:
            return Span(picked[0].start, picked[-1].end)
    return None


def _changed(word: str, sense: WordSense, random: Random) -> str:
    if random.random() >= _CHANGE:
        return word
    forms = sense.other_forms(word)
    return random.choice(forms) if forms else word


def _only_ending_differs(one: str, other: str) -> bool:
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= _SAME_START and max(len(one), len(other)) - shared <= _LONGEST_ENDING
