"""A phrase as it stands in a text, but for case, composition and white space."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final

LONG: Final = 20_000
"""Code points from which on a text isn't folded as a whole, which takes 7 ms a megabyte; to find a word takes 1 ms."""
_FEWEST_LETTERS: Final = 3
_MOST_TRIED: Final = 3
_MOST_PLACES: Final = 100
_RUN: Final = re.compile(r"[0-9a-z]+")
BECOME_LETTERS: Final = {
    "ß": "s",
    "ẞ": "s",
    "ſ": "s",
    "\u212a": "k",  # the sign for kelvin
    "İ": "i",
    "ŉ": "n",
    "ǰ": "j",
    "ẖ": "h",
    "ẗ": "t",
    "ẘ": "w",
    "ẙ": "y",
    "ẚ": "a",
    "ﬀ": "f",
    "ﬁ": "fi",
    "ﬂ": "fl",
    "ﬃ": "fi",
    "ﬄ": "fl",
    "ﬅ": "st",
    "ﬆ": "st",
}
"""What NFC and case folding make letters of ASCII of, beside ASCII, and which."""


def folded(text: str) -> str:
    """Return a text composed (NFC) and casefolded."""
    return unicodedata.normalize("NFC", text).casefold()


class Phrase:
    """Words to look for as they stand next to each other; the first may end a longer word, the last begin one.

    Texts from ``long`` code points on, but for those in ASCII, are folded only around the places where the phrase may
    stand.
    """

    def __init__(self, phrase: str, *, fold: Callable[[str], str] = folded, long: int = LONG) -> None:
        words = fold(phrase).split()
        self._fold = fold
        self._long = long
        self._words = words
        self._n_words = len(words)
        self._letters = " ".join(words)

    @cached_property
    def _spaced(self) -> re.Pattern[str]:
        """The words with any white space between them. To compile it takes as long as to read fifty turns."""
        return re.compile(r"\s+".join(map(re.escape, self._words)))

    def is_said_in(self, text: str) -> bool:
        """Tell whether a text says the phrase; nobody says one without words."""
        if not self._words:
            return False
        # A megabyte of ASCII is folded in .4 ms.
        parts = [text] if len(text) < self._long or text.isascii() else self._parts(text)
        return any(self._stands_in(self._fold(part)) for part in parts)

    def _stands_in(self, text: str) -> bool:
        if self._letters in text:
            return True
        if len(text) < self._long:
            return self._letters in " ".join(text.split())
        # To join the words of a megabyte anew takes 34 ms, and this takes two.
        return self._spaced.search(text) is not None

    def _parts(self, text: str) -> Iterator[str]:
        """Yield the stretches of a text that hold every place where the phrase may stand."""
        written = text.encode("utf-8", "surrogatepass")
        small = written.lower()
        counted = [(small.count(run), run) for run in self._runs(text)]
        n_places, run = min(counted, key=lambda one: one[0], default=(_MOST_PLACES + 1, b""))
        if n_places > _MOST_PLACES:
            yield text
            return
        at, n_cut = small.find(run), 0
        while at >= 0:
            start, end = self._words_before(written, at), self._words_after(written, at + len(run))
            n_cut += end - start
            if n_cut > len(written):  # words of a megabyte
                yield text
                return
            yield written[start:end].decode("utf-8", "surrogatepass")
            at = small.find(run, at + len(run))

    def _runs(self, text: str) -> list[bytes]:
        """Return the longest runs of the phrase's letters that come of nothing in this text but the same letters."""
        others = {letter for sign, letters in BECOME_LETTERS.items() if sign in text for letter in letters}
        letters = self._letters.translate(dict.fromkeys(map(ord, others), " "))
        runs = sorted(set(_RUN.findall(letters)), key=lambda run: (-len(run), run))
        return [run.encode() for run in runs[:_MOST_TRIED] if len(run) >= _FEWEST_LETTERS]

    def _words_before(self, written: bytes, at: int) -> int:
        """Return where a stretch begins that has as many words as the phrase before this place: at white space."""
        reach = 256
        while reach < at:
            before = written[at - reach : at]
            if len(before.split(None, self._n_words + 1)) > self._n_words + 1:
                return at - len(before.split(None, 1)[1]) - 1
            reach *= 2
        return 0

    def _words_after(self, written: bytes, at: int) -> int:
        reach = 256
        while at + reach < len(written):
            after = written[at : at + reach]
            if len(after.split(None, self._n_words + 1)) > self._n_words + 1:
                return at + len(after.rsplit(None, 1)[0])
            reach *= 2
        return len(written)
