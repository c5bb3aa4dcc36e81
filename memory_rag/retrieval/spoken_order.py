"""Who spoke before whom: each entry's neighbours in its conversation, and the runs of one speaker."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.growing import Growing
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
        self._n = 0
        self._n_ended = 0
        self._earlier = _Side(0)
        self._later = _Side(0)
        self._last: dict[int, int] = {}

    def catch_up(self, table: TurnTable) -> None:
        """Take in what changed: turns added at the end of their conversations one by one, other conversations anew."""
        if self._table is not table:
            self._table, self._n, self._n_ended = table, 0, 0
            self._earlier, self._later, self._last = _Side(0), _Side(0), {}
        n_new = len(table) - self._n
        if n_new == 0 and len(table.ended) == self._n_ended:
            return
        self._earlier.grow(n_new)
        self._later.grow(n_new)
        if n_new > _ONE_BY_ONE:
            self._link_anew(table, None)
        else:
            ended = np.array(table.ended[self._n_ended :], np.int64)
            changed = set(table.conversation[ended[table.recalled[ended]]].tolist())
            new = self._n + np.flatnonzero(table.recalled[self._n :] & table.alive[self._n :])
            changed.update(
                conversation
                for entry, conversation in zip(new.tolist(), table.conversation[new].tolist(), strict=True)
                if conversation not in changed and not self._append(table, entry, conversation)
            )
            if changed:
                self._link_anew(table, changed)
        self._n, self._n_ended = len(table), len(table.ended)

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
        return Beyond.of(entries, self._earlier, counting=table.asks)

    def replies(self, entries: Entries) -> Beyond:
        """Return what the other speaker said in the run just after each entry's."""
        return Beyond.of(entries, self._later, counting=None)

    def _append(self, table: TurnTable, entry: int, conversation: int) -> bool:
        """Link a new entry behind the last of its conversation; False if it belongs further up."""
        last = self._last.get(conversation)
        if last is not None:
            if (table.ordinal[entry], table.row[entry]) < (table.ordinal[last], table.row[last]):
                return False
            if table.session[entry] == table.session[last]:
                self._link(last, entry, goes_on=bool(table.speaker[entry] == table.speaker[last]))
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

    def _link_anew(self, table: TurnTable, conversations: set[int] | None) -> None:
        """Link the entries of some conversations, or of all, from the start."""
        spoken = table.alive & table.recalled
        if conversations is not None:
            own = np.isin(table.conversation, list(conversations))
            self._earlier.forget(np.flatnonzero(own))
            self._later.forget(np.flatnonzero(own))
            spoken &= own
            for conversation in conversations:
                self._last.pop(conversation, None)
        order = np.flatnonzero(spoken)
        order = order[np.lexsort((table.row[order], table.ordinal[order], table.conversation[order]))]
        first, second = order[:-1], order[1:]
        linked = table.session[first] == table.session[second]
        goes_on = linked & (table.speaker[first] == table.speaker[second])
        self._later.link(order, linked, goes_on)
        self._earlier.link(order[::-1], linked[::-1], goes_on[::-1])
        last = order[np.flatnonzero(np.diff(table.conversation[order], append=-1))]
        self._last.update(zip(table.conversation[last].tolist(), last.tolist(), strict=True))


class _Side:
    """One way to look from each entry, and from nobody (-1): towards what was said earlier, or later.

    ``next`` is the neighbour on this side; ``past`` what stands just past the entry's run, and ``distance`` how many
    messages of the run lie between, 0 to 32. Past a run that goes on for more there is nobody. What isn't linked has
    nobody.
    """

    def __init__(self, n_entries: int) -> None:
        self._next = Growing(np.full(n_entries, NOBODY, np.int64), fill=NOBODY)
        self._past = Growing(np.full(n_entries, NOBODY, np.int64), fill=NOBODY)
        self._distance = Growing(np.zeros(n_entries, np.int8))
        self.grow(0)

    def grow(self, n: int) -> None:
        """Make room for so many entries more, without neighbours."""
        for values in (self._next, self._past, self._distance):
            values.grow(n)
        self.next: Links = self._next.with_rest
        self.past: Links = self._past.with_rest
        self.distance: npt.NDArray[np.int8] = self._distance.with_rest

    def forget(self, entries: Entries) -> None:
        """Leave entries without neighbours."""
        self.next[entries], self.past[entries], self.distance[entries] = NOBODY, NOBODY, 0

    def link(self, order: Entries, linked: Mask, goes_on: Mask) -> None:
        """Link entries towards the end of an order, in which each is ``linked`` to the next, or its run goes on."""
        self.next[order[:-1][linked]] = order[1:][linked]
        n = len(order)
        ends = np.flatnonzero(np.append(~goes_on, [True] * min(n, 1)))
        end = np.repeat(ends, np.diff(ends, prepend=-1))
        distance = end - np.arange(n)
        near = np.flatnonzero(distance <= _LONGEST_RUN)
        self.past[order[near]] = self.next[order[end[near]]]
        self.distance[order] = np.minimum(distance, _LONGEST_RUN)

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
    def of(cls, entries: Entries, side: _Side, *, counting: Mask | None) -> Beyond:
        """Look from each entry to a side; of what was said there, only what is ``counting`` counts."""
        past = side.past[entries]
        places = (past >= 0).nonzero()[0]
        here = past[places]
        said: list[Entries] = []
        whose: list[npt.NDArray[np.int64]] = []
        for _ in range(_LONGEST_RUN):
            counted = slice(None) if counting is None else counting[here].nonzero()[0]
            said.append(here[counted])
            whose.append(places[counted])
            goes_on = side.distance[here].nonzero()[0]
            if len(goes_on) == 0:
                break
            places, here = places[goes_on], side.next[here[goes_on]]
        fading = _FADED[side.distance[entries]]
        if len(said) == 1:
            return cls(said[0], whose[0], (slice(None),), fading)
        ends = np.cumsum([0, *map(len, said)]).tolist()
        layers = tuple(slice(start, end) for start, end in itertools.pairwise(ends))
        return cls(np.concatenate(said), np.concatenate(whose), layers, fading)

    def best(self, values: Scores) -> Scores:
        """Return, for each entry asked for, the best of the values (one for each of ``said``), faded; 0 for none."""
        best = np.zeros(len(self.fading))
        if len(self.layers) == 1:
            best[self.places] = values
        else:
            best.fill(-np.inf)
            for layer in self.layers:
                places = self.places[layer]
                best[places] = np.maximum(best[places], values[layer])
            best[best == -np.inf] = 0.0
        best *= self.fading
        return best
