"""Entries by what they have in common: one of each like, and what a session or a conversation has together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ranking import Scores

Codes = npt.NDArray[np.integer[Any]]
Places = npt.NDArray[np.int64]


def alike(codes: Codes, *, n_codes: int) -> Places:
    """Return for each of some codes, all below ``n_codes``, the place of one like it: the same for all of a kind.

    It takes time for the codes that are given, not for all that there are, and is faster than to sort them.
    """
    # Only what is written is read.
    place_of = np.empty(n_codes, np.int64)
    place_of[codes] = np.arange(len(codes))
    return place_of[codes]


class Groups:
    """Entries by the group that each of them is in, known by its code.

    Of a group, only the entries at the places ``counted`` count (all of them if None); where it has none of these,
    each entry stands for itself.
    """

    def __init__(self, codes: Codes, *, n_codes: int, counted: Places | None = None) -> None:
        self._counted = counted
        if counted is None:
            self._place = alike(codes, n_codes=n_codes)
        else:
            place_of = np.full(n_codes, -1)
            place_of[codes[counted]] = counted
            self._place = place_of[codes]
        self._one_each = (self._place == np.arange(len(codes))).nonzero()[0]

    def best(self, values: Scores) -> Scores:
        """Return for each entry the best of the values in its group, or its own value where it stands for itself."""
        best = np.empty(len(values))
        best.fill(-np.inf)
        if self._counted is None:
            np.maximum.at(best, self._place, values)
        else:
            np.maximum.at(best, self._place[self._counted], values[self._counted])
        of_each: Scores = best[self._place]
        return of_each if self._counted is None else np.where(self._place < 0, values, of_each)

    def total(self, values: Scores) -> Scores:
        """Return for each entry the sum of the values in its group; 0 where none of it counts."""
        counted = slice(None) if self._counted is None else self._counted
        of_group = np.bincount(self._place[counted], values[counted], len(values)).astype(np.float64, copy=False)
        total: Scores = of_group[self._place]
        return total if self._counted is None else np.where(self._place < 0, 0.0, total)

    def one_each(self, of_each: Scores) -> Scores:
        """Return the value of each group that has any entry that counts, once, from what each entry was told."""
        told: Scores = of_each[self._one_each]
        return told
