"""Which texts of a pool hold each word. A text's words are read once, however many pools it is in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int32]
"""The words of a text in their order, as numbers."""


class ReadWords:
    """The words of texts, lower-cased and split at white space: equal words have equal numbers in all texts."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._kept: dict[str, Numbers] = {}

    def of(self, text: str) -> Numbers:
        """Return the words of a text."""
        numbers = self._numbers
        return np.array([numbers.setdefault(word, len(numbers)) for word in text.lower().split()], np.int32)

    def of_named(self, name: str, text: Callable[[], str]) -> Numbers:
        """Return the words of the text with this name, which is asked for the first time only."""
        found = self._kept.get(name)
        if found is None:
            found = self._kept[name] = self.of(text())
        return found

    def number(self, word: str) -> int | None:
        """Return the number of a word, None for one that is in no text."""
        return self._numbers.get(word)


class HeldWords:
    """Which of some texts hold each word, and how often; ``lengths`` are in words."""

    def __init__(self, read: ReadWords, texts: Sequence[Numbers]) -> None:
        self._read = read
        self.lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        n = max(1, len(texts))
        said = np.concatenate([np.empty(0, np.int32), *texts])
        # Where each word is said first: of a word's places the last that is written stays.
        said_first = np.zeros(int(said.max(initial=-1)) + 1, np.int64)
        said_first[said[::-1]] = np.arange(len(said) - 1, -1, -1)
        # A number for each word of each text; equal ones lie together when they are sorted.
        keys = said.astype(np.int64)
        del said
        keys *= n
        keys += np.repeat(np.arange(len(texts)), self.lengths)
        keys.sort()
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        self._counts = np.diff(first, append=len(keys)).astype(np.int32)
        # In a large memory each of these is hundreds of megabytes: one takes the other's place.
        keys = keys[first]
        del first
        self._places = (keys % n).astype(np.int32)
        keys //= n
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        self._words = keys[starts]
        self._starts = np.append(starts, len(keys))
        self._order = said_first[self._words].argsort()

    def of(self, word: str) -> tuple[Places, Places]:
        """Return the places of the texts that hold a word, ascending, and how often each does."""
        number = self._read.number(word)
        at = len(self._words) if number is None else int(self._words.searchsorted(number))
        if at == len(self._words) or self._words[at] != number:
            return self._places[:0], self._counts[:0]
        held = slice(self._starts[at], self._starts[at + 1])
        return self._places[held], self._counts[held]

    def frequencies(self) -> list[int]:
        """Return in how many texts each word is, in the order in which words come first in these texts."""
        found: list[int] = np.diff(self._starts)[self._order].tolist()
        return found
