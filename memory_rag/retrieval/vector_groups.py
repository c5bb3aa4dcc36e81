"""Which vectors belong to which entry: a turn of several passages has several, side by side."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.growing import Growing
from memory_rag.retrieval.ranking import Entries
from memory_rag.retrieval.turn_table import Mask, TurnTable
from memory_rag.retrieval.vector_blocks import ERASED, ID, Ids

NOTHING: Final = -1
"""The group of an entry that has none, and the entry of a vector that nobody needs."""
_ONE_BY_ONE: Final = 512
Numbers = npt.NDArray[np.int64]


class VectorGroups:
    """Runs of vectors that were made of one turn's words, each with the living entry that says these words.

    Kept in step with a table and with vectors that are only ever added; whoever reads them from another file makes
    another one.
    """

    def __init__(self) -> None:
        self._ids = Growing(np.zeros(0, ID))
        self._starts = Growing(np.zeros(0, np.int64))
        self._sizes = Growing(np.zeros(0, np.int64))
        self._entry_of = Growing(np.zeros(0, np.int64), fill=NOTHING)
        self._of_entry = Growing(np.zeros(0, np.int64), fill=NOTHING)
        self._covered = Growing(np.zeros(0, np.bool_))
        self._table: TurnTable | None = None
        self._n_ended = 0
        self._newest_row = 0
        self._waiting: Entries = np.zeros(0, np.int64)
        self._n_looked_at = 0
        """Entries of which ``_waiting`` holds those that had no group when they were looked at last."""

    @property
    def ids(self) -> Ids:
        """What each vector was made from."""
        return self._ids.values

    @property
    def starts(self) -> Numbers:
        """The number of each group's first vector."""
        return self._starts.values

    @property
    def entry_of(self) -> Entries:
        """The living entry that each vector belongs to; -1 for none."""
        return self._entry_of.values

    @property
    def of_entry(self) -> Numbers:
        """The group of each entry; -1 for none."""
        return self._of_entry.values

    @property
    def covered(self) -> Mask:
        """Which entries have a group."""
        return self._covered.values

    @property
    def are_single(self) -> bool:
        """Whether every group has one vector."""
        return len(self._starts) == len(self._ids)

    def vectors_of(self, groups: Numbers) -> tuple[Numbers, Numbers]:
        """Return the numbers of the vectors of some groups, one group after the other, and where each group begins."""
        sizes = self._sizes.values[groups]
        firsts = np.cumsum(sizes) - sizes
        return np.repeat(self.starts[groups] - firsts, sizes) + np.arange(sizes.sum()), firsts

    def add(self, ids: Ids) -> None:
        """Take in what vectors, which follow those that are there, were made from."""
        self._ids.extend(ids)

    def catch_up(self, table: TurnTable) -> bool:
        """Find whose the vectors are that were added, and whose the others are now; False if nothing changed.

        It takes time in proportion to what changed, but where words come back, or many vectors at once.
        """
        n_entries, n_matched = len(self._of_entry), len(self._entry_of)
        new_ids, new_rows = self.ids[n_matched:], table.row[n_entries:]
        if self._table is table and n_entries == len(table) and self._n_ended == len(table.ended) and not len(new_ids):
            return False
        known = self._table is table and not np.any(new_rows <= self._newest_row)
        if known and len(new_ids) <= _ONE_BY_ONE and not self._goes_on(n_matched):
            self._of_entry.grow(len(new_rows))
            self._covered.grow(len(new_rows))
            for entry in table.ended[self._n_ended :]:
                self._part(entry)
            self._append(new_ids, table)
        else:
            self._match(table)
        self._table, self._n_ended = table, len(table.ended)
        self._newest_row = max(self._newest_row, int(new_ids["row"].max(initial=0)))
        return True

    def waiting(self, table: TurnTable) -> Entries:
        """Return the living entries that are recalled and have no group, ascending. Call after :meth:`catch_up`.

        It takes time for those that waited before and for what came since: an entry that has a group keeps it while it
        lives.
        """
        first, self._n_looked_at = self._n_looked_at, len(table)
        waiting = np.concatenate([self._waiting, np.flatnonzero(table.recalled[first:]) + first])
        self._waiting = waiting[table.alive[waiting] & ~self.covered[waiting]]
        return self._waiting

    def owners(self, table: TurnTable) -> Entries:
        """Return the living entry that says the words of each vector; -1 where the turn is gone or says others now."""
        entries = np.full(len(self._ids), NOTHING, np.int64)
        living = table.living()
        if len(living) == 0 or len(entries) == 0:
            return entries
        by_row = living[np.argsort(table.row[living], kind="stable")]
        rows = table.row[by_row]
        place = np.minimum(np.searchsorted(rows, self.ids["row"]), len(rows) - 1)
        candidate = by_row[place]
        same = (rows[place] == self.ids["row"]) & (table.content[candidate] == self.ids["content"])
        entries[same] = candidate[same]
        return entries

    def by_words(self) -> MadeFrom:
        """Return what finds the vectors that were made of given words, among those that are there now."""
        return MadeFrom(self.ids)

    def _match(self, table: TurnTable) -> None:
        entries = self.owners(table)
        starts = _starts_of(self.ids)
        sizes = np.diff(starts, append=len(entries))
        of_entry = np.full(len(table), NOTHING, np.int64)
        own = entries[starts]
        known = np.flatnonzero(own != NOTHING)
        # A turn embedded twice (two processes at once) has two groups; the last of them stays.
        of_entry[own[known]] = known
        stays = np.zeros(len(starts), np.bool_)
        stays[known] = of_entry[own[known]] == known
        self._waiting, self._n_looked_at = self._waiting[:0], 0
        self._starts, self._sizes = Growing(starts), Growing(sizes)
        self._entry_of = Growing(np.where(np.repeat(stays, sizes), entries, NOTHING), fill=NOTHING)
        self._of_entry, self._covered = Growing(of_entry, fill=NOTHING), Growing(of_entry != NOTHING)

    def _goes_on(self, number: int) -> bool:
        """Tell whether a vector may belong to the group before it."""
        if not 0 < number < len(self._ids):
            return False
        return len(_starts_of(self.ids[number - 1 : number + 1])) == 1

    def _append(self, ids: Ids, table: TurnTable) -> None:
        """Take in new vectors group by group."""
        first = len(self._entry_of)
        for start, end in pairwise([*_starts_of(ids).tolist(), len(ids)]):
            entry = table.entry_of(int(ids["row"][start]))
            if entry is None or table.content[entry] != ids["content"][start]:
                entry = NOTHING
            else:
                self._part(entry)
                self.of_entry[entry], self.covered[entry] = len(self._starts), True
            self._starts.append(first + start)
            self._sizes.append(end - start)
            for _ in range(start, end):
                self._entry_of.append(entry)

    def _part(self, entry: int) -> None:
        """Let an entry's group, if it has one, be nobody's."""
        group = int(self.of_entry[entry])
        if group != NOTHING:
            start = int(self.starts[group])
            self.entry_of[start : start + int(self._sizes.values[group])] = NOTHING
            self.of_entry[entry], self.covered[entry] = NOTHING, False


class MadeFrom:
    """Which vectors were made of which words: of the same ones by the same speaker, no vector need be made again."""

    def __init__(self, ids: Ids) -> None:
        self._order = np.argsort(ids["content"], kind="stable")
        self._ids = ids[self._order]

    def numbers(self, ids: Ids) -> Numbers:
        """Return, for each passage, the number of a vector that was made of it; -1 for none."""
        found = np.full(len(ids), NOTHING, np.int64)
        firsts, ends = (np.searchsorted(self._ids["content"], ids["content"], side) for side in ("left", "right"))
        for place in np.flatnonzero(firsts < ends).tolist():
            made = self._ids[firsts[place] : ends[place]]
            same = (made["start"] == ids["start"][place]) & (made["end"] == ids["end"][place])
            if same.any():
                found[place] = self._order[firsts[place] + int(same.argmax())]
        return found


def _starts_of(ids: Ids) -> Numbers:
    """Return where groups begin among vectors; each that was taken out is a group by itself."""
    if len(ids) < 2:
        return np.zeros(len(ids), np.int64)
    rows, contents = ids["row"], ids["content"]
    changes = np.flatnonzero((rows[1:] != rows[:-1]) | (contents[1:] != contents[:-1]) | (rows[1:] == ERASED)) + 1
    return np.concatenate([[0], changes])
