"""From text to the terms of the keyword index.

The rules were measured on people talking and on a person with a model (README, Decisions). They are worth more recall
than anything else in the package: 24 points of recall@10 over splitting at white space.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from memory_rag.text.language import LANGUAGES
from memory_rag.text.stopwords import STOP_WORDS

VERSION = "3"
"""Changes when the same text would give other terms; a keyword snapshot made by another version is rebuilt."""

# Scripts written without spaces: Thai, Lao, Myanmar, Khmer, kana, Han, Hangul, and the planes of rare Han.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER = rf"[^\W{_UNSPACED}]"
_PIECES = re.compile(
    rf"(?P<word>{_LETTER}+(?:[-'._/:@#+&~\\]{_LETTER}+)*\+{{0,2}}\#?)"
    rf"|(?P<unspaced>[{_UNSPACED}]+)"
    r"|(?P<symbol>[\u2190-\u2bff\U0001f000-\U0001faff])"
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)+")
_PARTS = re.compile(r"[^-'._/:@#+&~\\]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\uff07": "'", "\u2018": "'"})
_JOINS_LETTERS = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_DROPPED = {ord(c): None for c in _JOINS_LETTERS}


def normalized(text: str) -> str:
    """Return the text composed (NFC), with one kind of apostrophe and without invisible joiners; case is kept."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.translate(_DROPPED)).translate(_APOSTROPHES)


def casefolded(word: str) -> str:
    """Return a word for comparison regardless of case: composed, and without the dot that a folded İ leaves."""
    return unicodedata.normalize("NFC", word.casefold().replace("i\u0307", "i"))


class Analyzer:
    """Turns text into index terms, for one memory's languages (the dominant one first).

    A turn is stemmed in the language, among the memory's, whose function words it has most of; a query in each of
    them, so that an English question may name a Swedish word. Identifiers are terms as a whole and in parts; numbers
    with dots as a whole and by their beginnings (``2.4`` finds ``2.4.10``, ``2.4.1`` doesn't). Scripts without spaces
    give single characters and pairs.
    """

    def __init__(self, languages: Sequence[str] = ("en",)) -> None:
        self.languages = tuple(languages)
        self._stop_words = [STOP_WORDS.get(code, frozenset()) for code in self.languages]
        self._stems = [lru_cache(maxsize=200_000)(_stemmer(code)) for code in self.languages]

    @property
    def fingerprint(self) -> str:
        """What decides the terms: this module's version and the languages."""
        return f"{VERSION}:{'+'.join(self.languages)}"

    def terms(self, text: str) -> list[str]:
        """Return a turn's terms in order, repeated as often as they occur; no word gives an empty list."""
        words = list(_words(text))
        best = self._language_of(words)
        stop, stem = self._stop_words[best], self._stems[best]
        terms: list[str] = []
        for forms, is_word in words:
            if is_word:
                if forms[0] not in stop:
                    terms.append(stem(forms[0]))
                continue
            terms.extend(forms)
        return terms

    def query_terms(self, text: str) -> list[str]:
        """Return a question's terms in order; a word is stemmed in every language of the memory."""
        words = list(_words(text, for_query=True))
        stop = self._stop_words[self._language_of(words)]
        terms: list[str] = []
        for forms, is_word in words:
            if is_word:
                if forms[0] not in stop:
                    terms.extend(dict.fromkeys(stem(forms[0]) for stem in self._stems))
                continue
            terms.extend(forms)
        return terms

    def located_terms(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield (start, end, term) of each term, in code points; nothing where composing moves the places."""
        composed = normalized(text)
        if len(composed) != len(text):
            return
        stems = self._stems
        for match in _PIECES.finditer(composed):
            for forms, is_word in _words(match[0]):
                terms = {stem(forms[0]) for stem in stems} if is_word else forms
                yield from ((*match.span(), term) for term in terms)

    def language_of(self, text: str) -> str:
        """Return which of the memory's languages a text is in; the dominant one if nothing tells."""
        return self.languages[self._language_of(list(_words(text)))]

    def _language_of(self, words: list[tuple[tuple[str, ...], bool]]) -> int:
        if len(self.languages) == 1:
            return 0
        counts = [sum(forms[0] in stop for forms, is_word in words if is_word) for stop in self._stop_words]
        return counts.index(max(counts))


def has_words(text: str) -> bool:
    """Tell whether there is anything to search for: a letter, a digit or a pictograph."""
    return _PIECES.search(normalized(text)) is not None


def exact_words(text: str) -> list[str]:
    """Return the whole words of a text, casefolded, unstemmed and with stop words: what a quote is narrowed by."""
    return [forms[0] for forms, _is_word in _words(text)]


def _words(text: str, *, for_query: bool = False) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield (forms, is_word): an ordinary word has one form, to be stemmed; all else has its finished terms."""
    for match in _PIECES.finditer(normalized(text)):
        piece = match[0]
        if match.lastgroup == "word":
            yield from _forms(piece, for_query)
        elif match.lastgroup == "unspaced":
            yield _character_pairs(piece, for_query), False
        else:
            yield (piece,), False


@lru_cache(maxsize=200_000)
def _forms(piece: str, for_query: bool) -> tuple[tuple[tuple[str, ...], bool], ...]:
    folded = casefolded(piece)
    if folded.endswith("'s"):
        folded = folded[:-2]
        piece = piece[:-2]
    if folded.isalpha() or _is_contraction(folded):
        parts = _CAMEL.split(piece)
        if len(parts) == 1 or piece.isupper():
            return (((folded,), True),)
        return (((folded,), True), *(((casefolded(part),), True) for part in parts))
    if _NUMBER.fullmatch(folded):
        return ((_number_terms(folded, for_query), False),)
    parts = _PARTS.findall(piece)
    if len(parts) < 2 and parts and parts[0] == piece:
        return (((folded,), folded.isalpha()),)
    whole = ((folded,), False)
    return (whole, *(form for part in parts for form in _forms(part, for_query)))


def _is_contraction(word: str) -> bool:
    head, apostrophe, tail = word.partition("'")
    return bool(apostrophe) and head.isalpha() and tail.isalpha() and len(tail) <= 3


def _number_terms(number: str, for_query: bool) -> tuple[str, ...]:
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", number):
        return (number.replace(",", ""),)
    if for_query:
        return (number,)
    cuts = [i for i, c in enumerate(number) if c in ".,:"]
    return (number, *(number[:i] for i in cuts))


def _character_pairs(run: str, for_query: bool) -> tuple[str, ...]:
    pairs = tuple(run[i : i + 2] for i in range(len(run) - 1))
    if for_query and pairs:
        return pairs
    return (*run, *pairs)


def _stemmer(code: str) -> Any:
    algorithm = LANGUAGES[code][1] if code in LANGUAGES else None
    if algorithm is None:
        return lambda word: word
    import Stemmer

    return Stemmer.Stemmer(algorithm).stemWord
