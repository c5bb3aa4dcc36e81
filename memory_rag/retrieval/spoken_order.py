"""Who spoke before whom: each entry's neighbours in its conversation, and the runs of one speaker."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.turn_table import Mask, TurnTable

NOBODY: Final = -1
_LONGEST_RUN: Final = 32
"""Messages of one speaker in a row that are looked at, from the one nearest to the change of speaker."""
_FADING: Final = 0.7
"""What each further message in an answering run keeps of the question's score (studies of two data sets)."""
_ONE_BY_ONE: Final = 512
_FADED: Final = np.power(_FADING, np.arange(_LONGEST_RUN + 1, dtype=np.float64))
Links = npt.NDArray[np.int64]


class SpokenOrder:
    """For each entry the living one before and after it in its session; kept in step with the table.

    What is left out of recall is left out here too: tool traffic does not come between a question and its answer.
    """

    def __init__(self) -> None:
        self._table: TurnTable | None = None
        self._version = -1
        self._n = 0
        self._n_alive = 0
        self._earlier = _Side.of_nobody(0)
        self._later = _Side.of_nobody(0)
        self._last: dict[int, int] = {}

    def catch_up(self, table: TurnTable) -> None:
        """Take in what changed; turns added at the end of their conversations cost time only for themselves."""
        if self._table is table and self._version == table.version:
            return
        added = len(table) - self._n
        only_added = self._table is table and table.n_alive - self._n_alive == added
        if not (only_added and added <= _ONE_BY_ONE and self._append(table)):
            self._rebuild(table)
        self._table, self._version = table, table.version
        self._n, self._n_alive = len(table), table.n_alive

    def before(self, entries: Entries) -> Links:
        """Return the entry said just before each of these in its session; -1 for none, also for -1."""
        return self._earlier.next[entries]

    def after(self, entries: Entries) -> Links:
        """Return the entry said just after each of these in its session; -1 for none, also for -1."""
        return self._later.next[entries]

    def questions(self, entries: Entries, table: TurnTable) -> Beyond:
        """Return the questions in the other speaker's run just before each entry's.

        Only turns that end by asking count: an answer rarely repeats the words of its question.
        """
        return Beyond.of(entries, self._earlier, table, counting=table.asks)

    def replies(self, entries: Entries, table: TurnTable) -> Beyond:
        """Return what the other speaker said in the run just after each entry's."""
        return Beyond.of(entries, self._later, table, counting=None)

    def _append(self, table: TurnTable) -> bool:
        """Link the new entries behind the last of their conversations; False if one belongs further up."""
        self._earlier, self._later = (side.grown(len(table) - self._n) for side in (self._earlier, self._later))
        for entry in (self._n + np.flatnonzero(table.recalled[self._n :])).tolist():
            conversation = int(table.conversation[entry])
            last = self._last.get(conversation)
            if last is not None:
                if table.ordinal[entry] < table.ordinal[last]:
                    return False
                if table.session[entry] == table.session[last]:
                    self._link(last, entry, goes_on=table.speaker[entry] == table.speaker[last])
            self._last[conversation] = entry
        return True

    def _link(self, last: int, entry: int, *, goes_on: bool) -> None:
        """Put an entry behind the last of its session, whose run ``goes_on`` with it or ends."""
        earlier, later = self._earlier, self._later
        earlier.next[entry], later.next[last] = last, entry
        if goes_on:
            earlier.put(entry, past=int(earlier.past[last]), distance=int(earlier.distance[last]) + 1)
        else:
            earlier.put(entry, past=last, distance=0)
        past = NOBODY if goes_on else entry
        for distance, member in enumerate(self._run_up_to(last)):
            later.put(member, past=past, distance=distance + goes_on)

    def _run_up_to(self, last: int) -> Iterator[int]:
        """Yield the entries of a run from its last on back, as many as see past it."""
        yield last
        for _ in range(int(self._earlier.distance[last])):
            last = int(self._earlier.next[last])
            yield last

    def _rebuild(self, table: TurnTable) -> None:
        spoken = np.flatnonzero(table.alive & table.recalled)
        order = spoken[np.lexsort((table.row[spoken], table.ordinal[spoken], table.conversation[spoken]))]
        first, second = order[:-1], order[1:]
        linked = table.session[first] == table.session[second]
        goes_on = linked & (table.speaker[first] == table.speaker[second])
        self._later = _Side.along(order, linked, goes_on, n_entries=len(table))
        self._earlier = _Side.along(order[::-1], linked[::-1], goes_on[::-1], n_entries=len(table))
        last = order[np.flatnonzero(np.diff(table.conversation[order], append=-1))]
        self._last = dict(zip(table.conversation[last].tolist(), last.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _Side:
    """One way to look from each entry, and from nobody, who comes last: towards what was said earlier, or later.

    ``next`` is the neighbour on this side; ``past`` what stands just past the entry's run, and ``distance`` how many
    messages of the run lie between, 0 to 32. Past a run that goes on for more there is nobody.
    """

    next: Links
    past: Links
    distance: npt.NDArray[np.int8]

    @classmethod
    def of_nobody(cls, n_entries: int) -> _Side:
        """Return the side on which no entry has a neighbour."""
        n = n_entries + 1
        return cls(np.full(n, NOBODY, np.int64), np.full(n, NOBODY, np.int64), np.zeros(n, np.int8))

    @classmethod
    def along(cls, order: Entries, linked: Mask, goes_on: Mask, *, n_entries: int) -> _Side:
        """Return the side towards the end of an order, in which each is ``linked`` to the next, or its run goes on."""
        side = cls.of_nobody(n_entries)
        side.next[order[:-1][linked]] = order[1:][linked]
        n = len(order)
        ends = np.flatnonzero(np.append(~goes_on, [True] * min(n, 1)))
        end = np.repeat(ends, np.diff(ends, prepend=-1))
        distance = end - np.arange(n)
        near = np.flatnonzero(distance <= _LONGEST_RUN)
        side.past[order[near]] = side.next[order[end[near]]]
        side.distance[order] = np.minimum(distance, _LONGEST_RUN)
        return side

    def grown(self, n: int) -> _Side:
        """Return this side with so many entries more, without neighbours."""
        more = _Side.of_nobody(n)
        return _Side(
            np.concatenate([self.next[:-1], more.next]),
            np.concatenate([self.past[:-1], more.past]),
            np.concatenate([self.distance[:-1], more.distance]),
        )

    def put(self, entry: int, *, past: int, distance: int) -> None:
        """Say what stands past an entry's run, and how far away that is."""
        self.past[entry] = past if distance <= _LONGEST_RUN else NOBODY
        self.distance[entry] = min(distance, _LONGEST_RUN)


@dataclass(frozen=True, slots=True)
class Beyond:
    """For some entries, what the other speaker said beyond the run that each of them belongs to.

    Of a run of more than 32 messages those nearest to the change of speaker count. ``said`` are the entries said there,
    ``places`` (as many) the place, among the entries asked for, of the one it belongs to, in ``layers``: slices in
    which no place stands twice. ``fading`` is what each entry asked for gets: .7^p at place p (from 0) of its run.
    """

    said: Entries
    places: npt.NDArray[np.int64]
    layers: tuple[slice, ...]
    fading: Scores

    @classmethod
    def of(cls, entries: Entries, side: _Side, table: TurnTable, *, counting: Mask | None) -> Beyond:
        """Look from each entry to a side; of what was said there, only what is ``counting`` counts."""
        beyond = side.past[entries]
        places = np.flatnonzero(beyond != NOBODY)
        here = beyond[places]
        said: list[Entries] = []
        whose: list[npt.NDArray[np.int64]] = []
        for _ in range(_LONGEST_RUN):
            counted = slice(None) if counting is None else np.flatnonzero(counting[here])
            said.append(here[counted])
            whose.append(places[counted])
            further = side.next[here]
            same = np.flatnonzero((table.speaker[further] == table.speaker[here]) & (further != NOBODY))
            if len(same) == 0:
                break
            places, here = places[same], further[same]
        ends = np.cumsum([0, *map(len, said)]).tolist()
        layers = tuple(slice(start, end) for start, end in itertools.pairwise(ends))
        return cls(np.concatenate(said), np.concatenate(whose), layers, _FADED[side.distance[entries]])

    def best(self, values: Scores) -> Scores:
        """Return, for each entry asked for, the best of the values (one for each of ``said``), faded; 0 for none."""
        if len(self.layers) == 1:
            best = np.zeros(len(self.fading))
            best[self.places] = values
        else:
            best = np.full(len(self.fading), -np.inf)
            for layer in self.layers:
                places = self.places[layer]
                best[places] = np.maximum(best[places], values[layer])
            best[best == -np.inf] = 0.0
        best *= self.fading
        return best
