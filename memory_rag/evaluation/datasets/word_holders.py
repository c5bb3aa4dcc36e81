"""Which texts hold some words as they stand."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from typing import Final

from memory_rag.text.word_bounds import is_spaced

_RUN: Final = re.compile(r"[^\W_]+")
_KEPT: Final = 2**26
"""Code points of plain texts that are kept."""


class WordHolders:
    """The texts, by place, that each word is in; letters' case and white space don't count."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._places: dict[str, array[int]] = {}
        for place, text in enumerate(texts):
            for word in {word for run in set(_runs(text)) for word in _words_of(run)}:
                self._places.setdefault(word, array("i")).append(place)
        self._plain: dict[int, str] = {}
        self._n_plain = 0

    def counts(self) -> dict[str, int]:
        """Return in how many texts each word is, casefolded, in no order that means anything."""
        return {word: len(places) for word, places in self._places.items()}

    def holding(self, passage: str) -> list[int]:
        """Return the places of the texts that hold a passage, in order; its first and last words may be parts of
        longer ones."""
        wanted = _plain(passage)
        return [place for place in self._candidates(passage) if wanted in self._plain_text(place)]

    def _plain_text(self, place: int) -> str:
        """Return a text without what doesn't count; kept, as long texts are looked through for every passage."""
        found = self._plain.get(place)
        if found is None:
            if self._n_plain > _KEPT:
                self._plain.clear()
                self._n_plain = 0
            found = self._plain[place] = _plain(self._texts[place])
            self._n_plain += len(found)
        return found

    def _candidates(self, passage: str) -> Sequence[int]:
        inner = [word for run in _runs(passage)[1:-1] for word in _words_of(run)]
        listed = [self._places.get(word, array("i")) for word in inner]
        return min(listed, key=len) if listed else range(len(self._texts))


def _runs(text: str) -> list[str]:
    """Return the runs of letters and digits, casefolded."""
    return _RUN.findall(text.casefold())


def _words_of(run: str) -> Iterator[str]:
    """Yield a run; of scripts without spaces, each sign in it."""
    if run.isascii() or is_spaced(run):
        yield run
    else:
        yield from run


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
