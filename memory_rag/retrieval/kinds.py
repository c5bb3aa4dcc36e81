"""What BM25 asks of a posting, once for all that are alike: how often the term stands there, and in how long a turn."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.growing import Growing

Numbers = npt.NDArray[np.int32]
_SHIFT: Final = 32
_LOW: Final = (1 << _SHIFT) - 1


class Kinds:
    """Pairs of how often an entry has a term, and how many terms it has, numbered in the order of first use.

    Millions of postings have few of them: turns are mostly short, and words stand in them once or twice. So a
    score is worked out for each kind, and looked up for each posting.
    """

    def __init__(self, counts: Numbers | None = None, lengths: Numbers | None = None) -> None:
        nothing = np.zeros(0, np.int32)
        self._counts = Growing(nothing if counts is None else counts)
        self._lengths = Growing(nothing if lengths is None else lengths)
        self._numbers: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def counts(self) -> Numbers:
        """How often an entry has the term, by kind."""
        return self._counts.values

    @property
    def lengths(self) -> Numbers:
        """How many terms the entry has, by kind."""
        return self._lengths.values

    def number(self, count: int, length: int) -> int:
        """Return the number of a kind, a new one if need be."""
        self._know()
        key = count << _SHIFT | length
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self)
            self._counts.append(count)
            self._lengths.append(length)
        return found

    def numbers(self, counts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> Numbers:
        """Return the number of the kind of each of many postings, new ones if need be."""
        keys, of_each = np.unique(counts << _SHIFT | lengths, return_inverse=True)
        numbers = [self.number(key >> _SHIFT, key & _LOW) for key in keys.tolist()]
        return np.array(numbers, np.int32)[of_each]

    def only(self, used: Numbers) -> tuple[Kinds, Numbers]:
        """Return the kinds that are used alone, and their numbers in place of those given."""
        is_used = np.zeros(len(self), np.bool_)
        is_used[used] = True
        anew = np.cumsum(is_used, dtype=np.int32) - 1
        return Kinds(self.counts[is_used], self.lengths[is_used]), anew[used]

    def _know(self) -> None:
        """Be ready to tell numbers: those of a snapshot are looked at when the first turn is added to it."""
        if len(self._numbers) < len(self):
            pairs = zip(self.counts.tolist(), self.lengths.tolist(), strict=True)
            self._numbers = {count << _SHIFT | length: number for number, (count, length) in enumerate(pairs)}
