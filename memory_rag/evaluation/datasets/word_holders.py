"""Which texts hold some words as they stand."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, KeysView, Sequence
from typing import Final

from memory_rag.text.word_bounds import is_spaced

_RUN: Final = re.compile(r"[^\W_]+")


class WordHolders:
    """The texts, by place, that each word is in; letters' case and white space don't count."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._places: dict[str, array[int]] = {}
        for place, text in enumerate(texts):
            for word in set(_words(text)):
                self._places.setdefault(word, array("i")).append(place)

    def words(self) -> KeysView[str]:
        """Return all words, casefolded, in no order that means anything."""
        return self._places.keys()

    def holding(self, passage: str) -> list[int]:
        """Return the places of the texts that hold a passage, in order."""
        wanted = _plain(passage)
        return [place for place in self._candidates(passage) if wanted in _plain(self._texts[place])]

    def _candidates(self, passage: str) -> Sequence[int]:
        found = [self._places.get(word) for word in _words(passage)]
        listed = [places for places in found if places is not None]
        # A passage may begin inside a run of letters of two scripts; then it is looked for everywhere.
        return min(listed, key=len) if listed and len(listed) == len(found) else range(len(self._texts))


def _words(text: str) -> Iterator[str]:
    """Yield runs of letters and digits; in scripts without spaces, each sign."""
    for run in _RUN.findall(text.casefold()):
        if run.isascii() or is_spaced(run):
            yield run
        else:
            yield from run


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
