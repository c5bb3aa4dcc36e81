"""Some of a table's entries: a mask of all, or their numbers alone where they are few of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ascending import are_among, places_of
from memory_rag.retrieval.growing import Growing
from memory_rag.retrieval.once import once
from memory_rag.retrieval.ranking import Entries
from memory_rag.retrieval.turn_table import Mask

_MASKED_UP_TO: Final = 16_384
"""Entries of a table of which a mask costs less than to look anything up among numbers."""
_FEW: Final = 64
"""One of so many entries is few: then what is done with them must not take time for all the others."""
Where = slice | Entries
"""A part of a column: from one entry to another, or some entries."""


class Selected:
    """Which entries of a table are meant; indexed by entries it tells which of those are.

    What it is asked takes time in proportion to what is asked about and, where few are selected, to these.
    """

    def __init__(
        self, n_entries: int, *, mask: Mask | None = None, entries: Entries | None = None, n: int | None = None
    ) -> None:
        """Those that a mask or ascending numbers tell; made by :meth:`of_mask` or :meth:`of_entries`.

        There are ``n`` of them, which are counted if it is None.
        """
        self.n_entries = n_entries
        self._mask = mask
        self._entries = entries
        self._growing: Growing[np.bool_] | None = None
        """What the mask is the beginning of, all of it until somebody grows it."""
        self._before_others: Entries | None = None
        """How many are selected before each entry that isn't, once somebody asked."""
        if n is None:
            n = int(np.count_nonzero(mask)) if entries is None and mask is not None else len(self.entries)
        self._n = n

    @classmethod
    def of_mask(cls, mask: Mask) -> Selected:
        """Return the entries that a mask of all of them holds for."""
        return cls(len(mask), mask=mask)

    @classmethod
    def of_entries(cls, entries: Entries, *, n_entries: int) -> Selected:
        """Return these of a table's entries, given in ascending order, each once."""
        if n_entries > _MASKED_UP_TO and len(entries) * _FEW < n_entries:
            return cls(n_entries, entries=entries)
        mask = np.zeros(n_entries, np.bool_)
        mask[entries] = True
        return cls(n_entries, mask=mask, entries=entries)

    def __len__(self) -> int:
        """How many are selected."""
        return self._n

    def __getitem__(self, entries: npt.NDArray[np.integer[Any]]) -> Mask:
        """Return which of some entries, in any order, are selected."""
        return are_among(self.entries, entries) if self._mask is None else self._mask[entries]

    @property
    def are_few(self) -> bool:
        """Whether they are so few of so many that only their numbers are kept."""
        return self._mask is None

    @once
    def entries(self) -> Entries:
        """Those selected, ascending."""
        return np.flatnonzero(self.mask) if self._entries is None else self._entries

    @property
    def mask(self) -> Mask:
        """Which entries are selected, a value for each of the table's; made anew where few are."""
        if self._mask is not None:
            return self._mask
        mask = np.zeros(self.n_entries, np.bool_)
        mask[self.entries] = True
        return mask

    def at(self, places: Entries) -> Entries:
        """Return those that stand at some places among them, counted from 0; without a list of all of them."""
        if self._mask is None or self._entries is not None:
            return self.entries[places]
        if self._before_others is None:
            self._before_others = _before(np.flatnonzero(~self._mask))
        found: Entries = places + self._before_others.searchsorted(places, side="right")
        return found

    def places_in(self, ascending: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
        """Return the places, ascending, at which some ascending entries are selected ones."""
        if self._mask is None and len(ascending) > len(self.entries):
            return places_of(self.entries, ascending)
        return self[ascending].nonzero()[0]

    def holding(self, told: Callable[[Where], Mask]) -> Entries:
        """Return those selected for which something holds, ascending; ``told`` gives it for a part of a column."""
        if self._mask is None:
            held: Entries = self.entries[told(self.entries)]
            return held
        return np.flatnonzero(told(slice(0, self.n_entries)) & self._mask)

    def since(self, entry: int) -> Entries:
        """Return those selected from an entry on, ascending."""
        if self._mask is None:
            return self.entries[self.entries.searchsorted(entry) :]
        return np.flatnonzero(self._mask[entry:]) + entry

    def without(self, entries: Entries) -> Selected:
        """Return these but for some entries, in any order."""
        if self._mask is None:
            return Selected(self.n_entries, entries=np.setdiff1d(self.entries, entries, assume_unique=True))
        mask = self._mask.copy()
        mask[entries] = False
        return Selected.of_mask(mask)

    def grown(self, new: Mask, *, ended: Entries) -> Selected:
        """Return what these are in a table that got longer: with those of the new that a mask tells, but for some."""
        if self._mask is None:
            kept = self.without(ended).entries if len(ended) else self.entries
            more = np.flatnonzero(new) + self.n_entries
            more = np.setdiff1d(more, ended, assume_unique=True) if len(ended) else more
            return Selected.of_entries(np.concatenate([kept, more]), n_entries=self.n_entries + len(new))
        growing = self._growing
        if growing is None or len(growing) > self.n_entries or len(ended):
            # It goes on otherwise already, or these would see what ended.
            growing = Growing(self._mask)
        growing.extend(new)
        mask = growing.values
        n = self._n + int(np.count_nonzero(new)) - int(np.count_nonzero(mask[ended]))
        mask[ended] = False
        grown = Selected(len(mask), mask=mask, n=n)
        grown._growing = growing
        if self._before_others is not None and len(ended) == 0:
            others = _before(np.flatnonzero(~new)) + self._n
            grown._before_others = np.concatenate([self._before_others, others])
        return grown


def _before(others: Entries) -> Entries:
    """Return how many entries that aren't among these, given in ascending order, lie before each."""
    return others - np.arange(len(others))
