"""Who spoke before whom: each entry's neighbours in its conversation, and the runs of one speaker."""

from __future__ import annotations

import itertools
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
_NO_LINKS: Final = np.full(1, NOBODY, np.int64)


class SpokenOrder:
    """For each entry the living one before and after it in its session; kept in step with the table.

    What is left out of recall is left out here too: tool traffic does not come between a question and its answer.
    """

    def __init__(self) -> None:
        self._table: TurnTable | None = None
        self._version = -1
        self._n = 0
        self._n_alive = 0
        # One more than there are entries: what follows NOBODY, the last, is nobody.
        self._before: Links = _NO_LINKS
        self._after: Links = _NO_LINKS
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
        return self._before[entries]

    def after(self, entries: Entries) -> Links:
        """Return the entry said just after each of these in its session; -1 for none, also for -1."""
        return self._after[entries]

    def questions(self, entries: Entries, table: TurnTable) -> Beyond:
        """Return the questions in the other speaker's run just before each entry's.

        Only turns that end by asking count: an answer rarely repeats the words of its question.
        """
        return Beyond.of(entries, self._before, table, counting=table.asks)

    def replies(self, entries: Entries, table: TurnTable) -> Beyond:
        """Return what the other speaker said in the run just after each entry's."""
        return Beyond.of(entries, self._after, table, counting=None)

    def _append(self, table: TurnTable) -> bool:
        """Link the new entries behind the last of their conversations; False if one belongs further up."""
        grown = np.full(len(table) - self._n, NOBODY, np.int64)
        self._before = np.concatenate([self._before[:-1], grown, _NO_LINKS])
        self._after = np.concatenate([self._after[:-1], grown, _NO_LINKS])
        for entry in (self._n + np.flatnonzero(table.recalled[self._n :])).tolist():
            conversation = int(table.conversation[entry])
            last = self._last.get(conversation)
            if last is not None:
                if table.ordinal[entry] < table.ordinal[last]:
                    return False
                if table.session[entry] == table.session[last]:
                    self._before[entry], self._after[last] = last, entry
            self._last[conversation] = entry
        return True

    def _rebuild(self, table: TurnTable) -> None:
        self._before = np.full(len(table) + 1, NOBODY, np.int64)
        self._after = np.full(len(table) + 1, NOBODY, np.int64)
        spoken = np.flatnonzero(table.alive & table.recalled)
        order = spoken[np.lexsort((table.row[spoken], table.ordinal[spoken], table.conversation[spoken]))]
        earlier, later = order[:-1], order[1:]
        linked = table.session[earlier] == table.session[later]
        self._before[later[linked]] = earlier[linked]
        self._after[earlier[linked]] = later[linked]
        last = order[np.flatnonzero(np.diff(table.conversation[order], append=-1))]
        self._last = dict(zip(table.conversation[last].tolist(), last.tolist(), strict=True))


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
    def of(cls, entries: Entries, step: Links, table: TurnTable, *, counting: Mask | None) -> Beyond:
        """Look from each entry along ``step``; of what was said there, only what is ``counting`` counts."""
        beyond, distance = _past_the_run(entries, step, table)
        places = np.flatnonzero(beyond != NOBODY)
        here = beyond[places]
        said: list[Entries] = []
        whose: list[npt.NDArray[np.int64]] = []
        for _ in range(_LONGEST_RUN):
            counted = slice(None) if counting is None else np.flatnonzero(counting[here])
            said.append(here[counted])
            whose.append(places[counted])
            further = step[here]
            same = np.flatnonzero((table.speaker[further] == table.speaker[here]) & (further != NOBODY))
            if len(same) == 0:
                break
            places, here = places[same], further[same]
        ends = np.cumsum([0, *map(len, said)]).tolist()
        layers = tuple(slice(start, end) for start, end in itertools.pairwise(ends))
        return cls(np.concatenate(said), np.concatenate(whose), layers, _FADED[distance])

    def best(self, values: Scores) -> Scores:
        """Return, for each entry asked for, the best of the values (one for each of ``said``), faded; 0 for none."""
        best = np.full(len(self.fading), -np.inf)
        for layer in self.layers:
            places = self.places[layer]
            best[places] = np.maximum(best[places], values[layer])
        best[best == -np.inf] = 0.0
        best *= self.fading
        return best


def _past_the_run(entries: Entries, step: Links, table: TurnTable) -> tuple[Entries, npt.NDArray[np.int64]]:
    """Return what stands just past each entry's run (-1 for none), and how many messages of the run lie between.

    Past a run that goes on for more than 32 messages there is nobody.
    """
    beyond = step[entries]
    distance = np.zeros(len(entries), np.int64)
    moving = np.flatnonzero((table.speaker[beyond] == table.speaker[entries]) & (beyond != NOBODY))
    for _ in range(_LONGEST_RUN):
        if len(moving) == 0:
            return beyond, distance
        distance[moving] += 1
        here = beyond[moving]
        beyond[moving] = further = step[here]
        moving = moving[(table.speaker[further] == table.speaker[here]) & (further != NOBODY)]
    beyond[moving] = NOBODY
    return beyond, distance
