"""Entries by what they have in common: one of each like, and what a session or a conversation has together."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ascending import is_first
from memory_rag.retrieval.ranking import Scores

Codes = npt.NDArray[np.integer[Any]]
Places = npt.NDArray[np.int64]
_SPAN: Final = 16_384
"""Codes that lie so close together are told apart by a table of all between them."""


def alike(codes: Codes) -> Places:
    """Return for each of some codes the place of the last that is like it.

    It takes time for the codes that are given, not for all that there are.
    """
    if len(codes) == 0:
        return np.zeros(0, np.int64)
    low = codes.min()
    span = int(codes.max()) - int(low) + 1
    if span <= _SPAN:
        # Faster than to sort them. Only what is written is read.
        place_of = np.empty(span, np.int64)
        places = codes - low
        place_of[places] = np.arange(len(codes))
        last: Places = place_of[places]
        return last
    order = codes.argsort(kind="stable")
    first = is_first(codes[order])
    one_like = np.empty(len(codes), np.int64)
    one_like[order] = order[np.append(first[1:], True)][first.cumsum() - 1]
    return one_like


class Groups:
    """Entries by the group that each of them is in, known by its code, below ``n_codes``.

    Of a group, only the entries at the places ``counted`` count (all of them if None); where it has none of these,
    each entry stands for itself.
    """

    def __init__(self, codes: Codes, *, n_codes: int, counted: Places | None = None) -> None:
        self._counted = counted
        if counted is None:
            self._place = alike(codes)
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
