"""The best of each session or conversation among some entries, told to all entries of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ascending import are_among, is_first
from memory_rag.retrieval.ranking import Scores

Places = npt.NDArray[np.int64]


class Groups:
    """Entries by the group that each of them is in, known by its code.

    Of a group, only the entries at the places ``counted`` count (all of them if None); where it has none of these,
    each entry stands for itself. It takes time for the entries, not for all groups that there are.
    """

    def __init__(self, codes: npt.NDArray[np.integer[Any]], *, counted: Places | None = None) -> None:
        own = codes if counted is None else codes[counted]
        order = own.argsort(kind="stable")
        ascending = own[order]
        self._order = order if counted is None else counted[order]
        self._starts = is_first(ascending).nonzero()[0]
        known = ascending[self._starts]
        self._group = known.searchsorted(codes)
        self._alone = None if counted is None else ~are_among(known, codes)

    def __len__(self) -> int:
        """The number of groups of which any entry counts."""
        return len(self._starts)

    def best(self, values: Scores) -> Scores:
        """Return the best of the values (one for each entry) in each group, by ascending codes."""
        return np.maximum.reduceat(values[self._order], self._starts) if len(self) else values[:0]

    def told(self, best: Scores, values: Scores) -> Scores:
        """Return each entry's group's best, or its own value where it stands for itself."""
        if self._alone is None:
            return best[self._group]
        return np.where(self._alone, values, np.append(best, 0.0)[self._group])
