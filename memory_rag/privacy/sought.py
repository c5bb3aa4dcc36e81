"""What a proof looks for: taken down before it is forgotten, in memory only, and narrowed to what nobody else has."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from memory_rag.embedding.embedder import Vectors
from memory_rag.privacy.byte_search import SHORTEST, ByteSearch
from memory_rag.privacy.own_words import LONG, WORD, folded, telling_words
from memory_rag.privacy.spellings import pieces, spelled
from memory_rag.privacy.vector_codes import written_vectors
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import text_bytes

TEXT: Final = "text"
WORDS: Final = "words"
STEMS: Final = "stems"
HASHES: Final = "hashes of the text"


@dataclass(frozen=True, slots=True)
class Needle:
    """One byte string: of what kind, in what encoding, of which word or piece (empty for what is no text)."""

    kind: str
    encoding: str
    words: str
    data: bytes


@dataclass(slots=True)
class Sought:
    """Texts and vectors that are to be gone; ``said`` may hold a text twice."""

    said: tuple[str, ...]
    vectors: list[tuple[Vectors, Vectors]] = field(default_factory=list)
    """(gone, stay) of every file of vectors."""

    def candidates(self, analyzer: Analyzer) -> list[tuple[str, str]]:
        """Return (kind, text) of everything that might be looked for as text, before others' words are taken off."""
        found: dict[tuple[str, str], None] = {}
        for text in dict.fromkeys(self.said):
            found.update(dict.fromkeys((TEXT, piece) for piece in pieces(text)))
            found.update(dict.fromkeys((WORDS, word) for word in sorted(_long_words(text))))
            # As a turn is indexed, and in each of the memory's languages.
            stems = {*analyzer.terms(text), *analyzer.query_terms(text)} - telling_words(text)
            found.update(dict.fromkeys((STEMS, stem) for stem in sorted(stems)))
        return [(kind, text) for kind, text in found if len(text_bytes(text)) >= SHORTEST]

    def text_needles(self, wanted: Sequence[tuple[str, str]]) -> Iterator[Needle]:
        """Yield the byte strings of texts, in lower case, each once."""
        for kind, text in wanted:
            for encoding, data in spelled(text):
                if len(data) >= SHORTEST:
                    yield Needle(kind, encoding, text, data)

    def byte_needles(self, stored_hashes: Set[bytes]) -> Iterator[Needle]:
        """Yield the byte strings that are no text: vectors, and hashes of texts that no stored turn has."""
        for gone, stay in self.vectors:
            for kind, data in written_vectors(gone, stay):
                yield Needle(kind, "", "", data)
        for text in dict.fromkeys(self.said):
            digest = hashlib.sha256(text_bytes(text)).digest()
            if digest not in stored_hashes:
                yield Needle(HASHES, "bytes", "", digest)
                yield Needle(HASHES, "hexadecimal", "", digest.hex().encode())


def not_said_by(others: Iterable[str], candidates: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return those candidates that stand nowhere in others' texts, whatever their case."""
    numbers: dict[bytes, list[int]] = {}
    for number, (_kind, text) in enumerate(candidates):
        for form in {text, folded(text)}:
            numbers.setdefault(text_bytes(form).lower(), []).append(number)
    keys = [key for key in numbers if len(key) >= SHORTEST]
    search = ByteSearch(keys)
    said = set[int]()
    for text in others:
        for form in {text, folded(text)}:
            for place, _at in search.found_in(text_bytes(form).lower()):
                said.update(numbers[keys[place]])
    return [candidate for number, candidate in enumerate(candidates) if number not in said]


def _long_words(text: str) -> set[str]:
    """Return the words that are looked for: of eight letters or more, and those with a digit that are long enough."""
    return {
        word
        for word in {*WORD.findall(folded(text)), *telling_words(text)}
        if len(word) >= LONG or (len(word) >= SHORTEST and any(letter.isdigit() for letter in word))
    }
