"""Scores of entries of which most have none: an array of a stretch that holds many, or of those alone that have one."""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ascending import distinct
from memory_rag.retrieval.once import once
from memory_rag.retrieval.ranking import Entries, Scores

_FEW: Final = 64
"""One in so many entries is scored where an array of all of them takes longer than to sort those that are."""
_SOME: Final = 16
"""One in so many has a score where to sort those that have takes longer than to look at all."""
_Numbers = npt.NDArray[np.int32]


class EntryScores:
    """A score for each entry of a table, 0 for those that nothing was added to; indexed by entries it gives theirs."""

    def __init__(self, n_entries: int, scored: _Numbers, values: Scores, *, first: int | None) -> None:
        """As :meth:`summed` makes them.

        ``values`` are those of a stretch of entries from ``first`` on, in which ``scored`` are named, some more than
        once; or with None those of ``scored`` themselves, ascending, each once.
        """
        self.n_entries = n_entries
        self._scored = scored
        self._values = values
        self._first = first

    @classmethod
    def summed(cls, entries: _Numbers, values: Scores, *, n_entries: int) -> Self:
        """Return the sums of the values, which are above 0, by entry, added in the order given."""
        first, end = (int(entries.min()), int(entries.max()) + 1) if len(entries) else (0, 0)
        if 2 * (end - first) > n_entries and len(entries) * _FEW >= n_entries:
            # What is asked for then needs no look whether it lies inside.
            return cls(n_entries, entries, _sums(entries, values, n_entries), first=0)
        if len(entries) * _FEW >= end - first:
            return cls(n_entries, entries, _sums(entries - first, values, end - first), first=first)
        scored = _each(entries)
        return cls(n_entries, scored, _sums(scored.searchsorted(entries), values, len(scored)), first=None)

    def __getitem__(self, entries: npt.NDArray[np.integer[Any]]) -> Scores:
        """Return the scores of some entries, in their order."""
        if len(self._values) == self.n_entries:
            of_these: Scores = self._values[entries]
            return of_these
        scores = np.zeros(len(entries))
        if len(self._values) == 0:
            return scores
        places: npt.NDArray[np.integer[Any]]
        if self._first is None:
            places = self._scored.searchsorted(entries.astype(np.int32, copy=False))
            places[places == len(self._scored)] = 0
            found = (self._scored[places] == entries).nonzero()[0]
        else:
            places = entries - self._first
            found = ((places >= 0) & (places < len(self._values))).nonzero()[0]
        scores[found] = self._values[places[found]]
        return scores

    @once
    def matching(self) -> Entries:
        """The entries that have a score, ascending."""
        if self._first is None:
            return self._scored.astype(np.int64)
        if len(self._scored) * _SOME < len(self._values):
            return _each(self._scored).astype(np.int64)
        return (self._values > 0).nonzero()[0] + self._first

    @once
    def of_matching(self) -> Scores:
        """The score of each entry that has one, in the order of :attr:`matching`."""
        return self._values if self._first is None else self._values[self.matching - self._first]

    @property
    def of_all(self) -> Scores:
        """The score of every entry; made anew where only some are kept."""
        if len(self._values) == self.n_entries:
            return self._values
        scores = np.zeros(self.n_entries)
        scores[self.matching] = self.of_matching
        return scores


def _sums(places: npt.NDArray[np.integer[Any]], values: Scores, n: int) -> Scores:
    return np.bincount(places, values, n).astype(np.float64, copy=False)


def _each(entries: _Numbers) -> _Numbers:
    """Return each of some entries once, ascending."""
    # A stable sort merges what is ascending by word: three times as fast as another, at any size.
    return distinct(np.sort(entries, kind="stable"))
