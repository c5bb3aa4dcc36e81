"""From text to the terms of the keyword index.

The rules were measured on people talking and on a person with a model (docs/decisions.md). They are worth more recall
than anything else in the package: 24 points of recall@10 over splitting at white space.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import chain
from typing import Final

from memory_rag.text.language import LANGUAGES
from memory_rag.text.pieces import LONGEST_KEPT, forms_of, has_words, is_plain, pattern_for, unspaced_places
from memory_rag.text.stopwords import STOP_WORDS

__all__ = ["VERSION", "Analyzer", "has_words"]

VERSION: Final = "8"
"""Changes when the same text would give other terms; a keyword snapshot made by another version is rebuilt."""

_CACHED: Final = 100_000
_STRETCH: Final = 1_000
_CUT: Final = re.compile(r"(?<!\d)\s")
Stem = Callable[[str], str]


class Analyzer:
    """Turns text into index terms, for one memory's languages (the dominant one first).

    A turn is stemmed in the language, among the memory's, whose function words it has most of; a question in each of
    them, so that an English question may name a Swedish word. Every word of a turn that is no stop word of the
    memory's languages finds the turn.
    """

    def __init__(self, languages: Sequence[str] = ("en",)) -> None:
        self.languages = tuple(languages)
        self._readers = [_Reader(code) for code in self.languages]
        self._known_terms = lru_cache(maxsize=_CACHED)(self._possible_terms)

    @property
    def fingerprint(self) -> str:
        """What decides the terms: the rules, the languages, and the versions of Snowball and Unicode."""
        import Stemmer

        return f"{VERSION}:{'+'.join(self.languages)}:{Stemmer.version()}:{unicodedata.unidata_version}"

    def terms(self, text: str) -> list[str]:
        """Return a turn's terms in order, repeated as often as they occur; no word gives an empty list."""
        pieces = pattern_for(text).findall(text)
        return list(chain.from_iterable(map(self._reader_of(pieces).terms.__getitem__, pieces)))

    def query_words(self, text: str) -> list[tuple[str, ...]]:
        """Return a question's words in order, each as the terms that it may be in the index.

        A word has one term for each of the memory's languages that stems it differently. Stop words are left out,
        unless there are no other words.
        """
        pieces = pattern_for(text).findall(text)
        stop_words = self._reader_of(pieces).stop_words
        kept: list[tuple[str, ...]] = []
        common: list[tuple[str, ...]] = []
        for forms in (forms_of(piece, for_query=True) for piece in pieces):
            kept.extend((term,) for term in forms.terms)
            for word in forms.words:
                (common if word in stop_words else kept).append(self._stems(word))
        return kept or common

    def is_common(self, text: str) -> bool:
        """Tell whether a question has no words but stop words; True if it has none at all."""
        pieces = pattern_for(text).findall(text)
        stop_words = self._reader_of(pieces).stop_words
        return all(not forms.terms and stop_words.issuperset(forms.words) for forms in map(forms_of, pieces))

    def query_terms(self, text: str) -> list[str]:
        """Return a question's terms in order: those of :meth:`query_words`, one after the other."""
        return list(chain.from_iterable(self.query_words(text)))

    def located_terms(self, text: str, *, wanted: Set[str]) -> Iterator[tuple[int, int, str]]:
        """Yield (start, end, term) where one of these terms stands, ascending, in code points of the text as written.

        The span is the whole piece's, such as ``4711-ZX`` for the term ``zx``; in a script without spaces the term's.
        """
        pattern = pattern_for(text)
        asked_for = _Known(lambda piece: tuple(wanted & set(self._terms_of(piece))))
        for low, high in _stretches(text):
            # Most stretches of a megabyte have none: they are passed in a third of the time of looking at each piece.
            if not any(map(asked_for.__getitem__, pattern.findall(text, low, high))):
                continue
            for match in pattern.finditer(text, low, high):
                piece = match[0]
                if asked_for[piece]:
                    start, end = match.span()
                    terms = self._terms_of(piece)
                    places = unspaced_places(piece) or [(0, end - start)] * len(terms)
                    placed = ((*place, term) for term, place in zip(terms, places, strict=True) if term in wanted)
                    for begin, finish, term in sorted(placed):
                        yield start + begin, start + finish, term

    def language_of(self, text: str) -> str:
        """Return which of the memory's languages a text is in; the dominant one if nothing tells."""
        return self.languages[0] if len(self.languages) == 1 else self._reader_of(pattern_for(text).findall(text)).code

    def _terms_of(self, piece: str) -> tuple[str, ...]:
        return (self._known_terms if len(piece) <= LONGEST_KEPT else self._possible_terms)(piece)

    def _possible_terms(self, piece: str) -> tuple[str, ...]:
        forms = forms_of(piece)
        return (*forms.terms, *chain.from_iterable(map(self._stems, forms.words)))

    def _stems(self, word: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(reader.stem(word) for reader in self._readers))

    def _reader_of(self, pieces: Sequence[str]) -> _Reader:
        if len(self._readers) == 1:
            return self._readers[0]
        words = [piece for piece in pieces if len(piece) <= LONGEST_KEPT]
        return max(self._readers, key=lambda reader: sum(map(reader.n_stop_words, words)))


class _Known(dict[str, tuple[str, ...]]):
    """What was made of pieces, worked out when first asked for; a lookup takes half of what ``lru_cache`` takes."""

    def __init__(self, make: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, piece: str) -> tuple[str, ...]:
        made = self._make(piece)
        if len(piece) <= LONGEST_KEPT:
            if len(self) >= _CACHED:
                self.clear()
            self[piece] = made
        return made


class _Reader:
    """One language: its stop words, its stemmer, and what it made of pieces before."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.stop_words = STOP_WORDS.get(code, frozenset())
        self.stem = _stemmer(code)
        self.terms = _Known(self._terms)
        """The terms of each piece, without stop words."""
        self.n_stop_words = lru_cache(maxsize=_CACHED)(self._n_stop_words)

    def _terms(self, piece: str) -> tuple[str, ...]:
        if is_plain(piece):
            word = piece.lower()
            return () if word in self.stop_words else (self.stem(word),)
        forms = forms_of(piece)
        kept = (self.stem(word) for word in forms.words if word not in self.stop_words)
        return (*forms.terms, *kept)

    def _n_stop_words(self, piece: str) -> int:
        return sum(word in self.stop_words for word in forms_of(piece).words)


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ends of parts that follow each other and cut no piece: at white space that follows no digit."""
    low = 0
    while low < len(text):
        cut = _CUT.search(text, low + _STRETCH)
        high = len(text) if cut is None else cut.start()
        yield low, high
        low = high


def _stemmer(code: str) -> Stem:
    algorithm = LANGUAGES[code].stemmer if code in LANGUAGES else None
    if algorithm is None:
        return lambda word: word
    import Stemmer

    stem: Stem = Stemmer.Stemmer(algorithm, 0).stemWord
    return stem
