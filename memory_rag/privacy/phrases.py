"""Three words in a row: by these a text is known to quote another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from memory_rag.privacy.own_words import LONG, WORD, folded, own_words
from memory_rag.store.engine import Connection

_IN_A_ROW: Final = 3

Phrase = tuple[str, ...]


class Phrases:
    """Every three words in a row of some texts that are forgotten, folded, and all words of a shorter text.

    A shorter one counts if it has eight letters or more and a word that no stored turn has: a speaker's name stands in
    the sources of all that they said.
    """

    def __init__(self, connection: Connection, said: Iterable[str]) -> None:
        found: set[Phrase] = set()
        for text in said:
            words = WORD.findall(folded(text))
            found |= _in_a_row(words, min(len(words), _IN_A_ROW))
        short = [one for one in found if len(one) < _IN_A_ROW]
        told = [" ".join(one) for one in short if sum(map(len, one)) >= LONG]
        own = own_words(connection, told, besides=told) if told else None
        self._phrases = found.difference(short)
        self._phrases |= {one for one in short if own is not None and not own.words.isdisjoint(one)}
        self._lengths = {len(one) for one in self._phrases}

    def in_text(self, text: str) -> set[Phrase]:
        """Return which of them a text has."""
        if not self._phrases:
            return set()
        words = WORD.findall(folded(text))
        return set[Phrase]().union(*(_in_a_row(words, n) & self._phrases for n in self._lengths))


def _in_a_row(words: list[str], n: int) -> set[Phrase]:
    return {tuple(words[at : at + n]) for at in range(len(words) - n + 1)} if n else set()
