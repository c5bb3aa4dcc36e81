"""What somebody still remembers of a turn: some of its exact words, or a few of them, in other forms and mixed up.

Half-remembered words follow the known-item model of Azzopardi, de Rijke and Balog ("Building Simulated Queries for
Known-Item Topics", SIGIR 2007): some words of what is looked for, and between them some of the whole collection's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from random import Random
from typing import Final, NamedTuple

from memory_rag.text.stopwords import STOP_WORDS
from memory_rag.text.word_bounds import is_spaced, words
from memory_rag.turns import Span, Turn

EXACT_WORDS: Final = (5, 12)
HALF_WORDS: Final = (12, 20)
_TRIES: Final = 20
_STRETCH: Final = 200_000
"""Code points of a longer turn that words are drawn from, drawn themselves: what was pasted may have millions."""
_FEWEST_CONTENT: Final = 3
_FEWEST_KEPT: Final = 2
_KEEP_COMMON: Final = 0.3
_KEEP_CONTENT: Final = 0.5
_MISTAKE: Final = 0.2
_CHANGE: Final = 0.5
_TURN_ROUND: Final = 0.5
_SHORTEST_CHANGED: Final = 5
_SAME_START: Final = 4
_LONGEST_ENDING: Final = 3

EXACT_RULE: Final = f"{EXACT_WORDS[0]} to {EXACT_WORDS[1]} words in a row, as they stand in the turn"
HALF_REMEMBERED_RULE: Final = (
    f"{HALF_WORDS[0]} to {HALF_WORDS[1]} words in a row, or the whole turn if it is shorter, without punctuation; each "
    f"common word is left out with probability {1 - _KEEP_COMMON:.1f}, any other with {1 - _KEEP_CONTENT:.1f} "
    f"({_FEWEST_KEPT} stay); of these others, each is mistaken with probability {_MISTAKE:.1f} for a word of the "
    f"memory's, drawn by how many turns have it; else, with {_CHANGE:.1f}, one of {_SHORTEST_CHANGED} letters or more "
    f"is changed to a word of the memory's that begins alike ({_SAME_START} letters or more) and differs in its last "
    f"{_LONGEST_ENDING} letters at most; with {_TURN_ROUND:.1f}, what stands behind a place drawn comes first; no "
    "synonyms"
)
"""The rule in words, as a report prints it. It knows no stemmer and no vector, so that it favours no side."""


class Remembered(NamedTuple):
    """The question as it is asked, and the words of the turn that it comes from."""

    query: str
    origin: str


class WordSense:
    """Which words carry content in a memory's languages, and which words the memory holds.

    ``known`` are the memory's words, casefolded, each with the number of turns that have it.
    """

    def __init__(self, languages: Sequence[str], known: Mapping[str, int]) -> None:
        self._common = frozenset().union(*(STOP_WORDS.get(code, frozenset()) for code in languages))
        self._by_start: dict[str, list[str]] = {}
        for word in sorted(known):
            if word.isalpha() and len(word) >= _SHORTEST_CHANGED:
                self._by_start.setdefault(word[:_SAME_START], []).append(word)
        self._content = [word for word in sorted(known) if self.is_content(word)]
        self._weights = list(accumulate(known[word] for word in self._content))

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

    def drawn(self, random: Random) -> str | None:
        """Return a word with content of the memory's, one of more turns with a higher chance; None if it has none."""
        return random.choices(self._content, cum_weights=self._weights)[0] if self._content else None


def said_in(turn: Turn) -> str:
    """Return what was said in a turn: its text, or the part of it that is indexed."""
    return turn.text if turn.indexed is None else turn.indexed.of(turn.text)


def exact_words(turn: Turn, sense: WordSense, random: Random) -> Remembered | None:
    """Return 5 to 12 words of a turn as they stand there, on one line; None if it has no such words with content."""
    passage = _passage(said_in(turn), sense, random, length=EXACT_WORDS)
    if passage is None:
        return None
    found = " ".join(passage.split())
    return Remembered(found, found)


def half_remembered(turn: Turn, sense: WordSense, random: Random) -> Remembered | None:
    """Return what is left of some of a turn's words by the rule; None if too little would be left."""
    passage = _passage(said_in(turn), sense, random, length=HALF_WORDS)
    if passage is None:
        return None
    listed = [found.of(passage) for found in words(passage)]
    content = [place for place, word in enumerate(listed) if sense.is_content(word)]
    kept = {place for place in content if random.random() < _KEEP_CONTENT}
    if len(kept) < _FEWEST_KEPT:
        kept.update(random.sample([place for place in content if place not in kept], _FEWEST_KEPT - len(kept)))
    holding = set(content)
    kept.update(place for place in range(len(listed)) if place not in holding and random.random() < _KEEP_COMMON)
    said = [
        _as_remembered(listed[place], sense, random) if place in holding else listed[place] for place in sorted(kept)
    ]
    if random.random() < _TURN_ROUND:
        first = random.randrange(1, len(said))
        said = said[first:] + said[:first]
    query = (" " if is_spaced(passage) else "").join(said)
    origin = " ".join(passage.split())
    return None if query == origin else Remembered(query, origin)


def _passage(text: str, sense: WordSense, random: Random, *, length: tuple[int, int]) -> str | None:
    """Return some words in a row as they stand, of which at least three have content."""
    stretch, found = _stretch(text, random)
    shortest, longest = length
    if len(found) < EXACT_WORDS[0]:
        return None
    for _ in range(_TRIES):
        n = min(random.randint(shortest, longest), len(found))
        first = random.randint(0, len(found) - n)
        picked = found[first : first + n]
        if sum(sense.is_content(word.of(stretch)) for word in picked) >= _FEWEST_CONTENT:
            return stretch[picked[0].start : picked[-1].end]
    return None


def _stretch(text: str, random: Random) -> tuple[str, list[Span]]:
    """Return a text, or a drawn stretch of a long one, with its words; such a stretch may cut the first and the last
    one, so these are left out."""
    if len(text) <= _STRETCH:
        return text, words(text)
    start = random.randint(0, len(text) - _STRETCH)
    stretch = text[start : start + _STRETCH]
    return stretch, words(stretch)[1:-1]


def _as_remembered(word: str, sense: WordSense, random: Random) -> str:
    if random.random() < _MISTAKE:
        return sense.drawn(random) or word
    if random.random() < _CHANGE:
        forms = sense.other_forms(word)
        return random.choice(forms) if forms else word
    return word


def _only_ending_differs(one: str, other: str) -> bool:
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= _SAME_START and max(len(one), len(other)) - shared <= _LONGEST_ENDING
