"""Who spoke before whom: each entry's neighbours in its conversation, and the runs of one speaker."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.turn_table import TurnTable

NOBODY: Final = -1
_LONGEST_RUN: Final = 32
"""Messages of one speaker in a row that are looked at, from the one nearest to the change of speaker."""
_FADING: Final = 0.7
"""What each further message in an answering run keeps of the question's score (studies of two data sets)."""
_ONE_BY_ONE: Final = 512
Links = npt.NDArray[np.int64]


class SpokenOrder:
    """For each entry the living one before and after it in its session; kept in step with the table.

    What is left out of recall is left out here too: tool traffic does not come between a question and its answer.
    """

    def __init__(self) -> None:
        self._version = -1
        self._n = 0
        self._n_alive = 0
        self._before: Links = np.zeros(0, np.int64)
        self._after: Links = np.zeros(0, np.int64)
        self._last: dict[int, int] = {}

    def catch_up(self, table: TurnTable) -> None:
        """Take in what changed; turns added at the end of their conversations cost time only for themselves."""
        if self._version == table.version:
            return
        added = len(table) - self._n
        only_added = table.n_alive - self._n_alive == added
        if not (only_added and added <= _ONE_BY_ONE and self._append(table)):
            self._rebuild(table)
        self._version, self._n, self._n_alive = table.version, len(table), table.n_alive

    def before(self, entries: Entries) -> Links:
        """Return the entry said just before each of these in its session; -1 for none, also for -1."""
        return _follow(self._before, entries)

    def after(self, entries: Entries) -> Links:
        """Return the entry said just after each of these in its session; -1 for none, also for -1."""
        return _follow(self._after, entries)

    def of_question(self, entries: Entries, values: Scores, table: TurnTable) -> Scores:
        """Return, for each entry, the best value of the questions in the other speaker's run just before it.

        An entry at place p of its run (from 0) gets .7^p of it; 0 where no such question was asked. Only turns that
        end by asking count: an answer rarely repeats the words of its question. Of a run of more than 32 messages those
        nearest to the change of speaker count.
        """
        place, first = self._run_edge(entries, table, backwards=True)
        best = self._best_of_run(self._beyond(first, table, backwards=True), values, table, backwards=True, asking=True)
        faded: Scores = np.where(np.isfinite(best), best, 0.0) * _FADING**place
        return faded

    def of_reply(self, entries: Entries, values: Scores, table: TurnTable) -> Scores:
        """Return, for each entry, the best value in the other speaker's run just after it, alike."""
        place, last = self._run_edge(entries, table, backwards=False)
        beyond = self._beyond(last, table, backwards=False)
        best = self._best_of_run(beyond, values, table, backwards=False, asking=False)
        faded: Scores = np.where(np.isfinite(best), best, 0.0) * _FADING**place
        return faded

    def _run_edge(self, entries: Entries, table: TurnTable, *, backwards: bool) -> tuple[Links, Links]:
        """Return how many messages lie between each entry and its run's edge, and the entry at the edge."""
        step = self.before if backwards else self.after
        edge, place = entries.copy(), np.zeros(len(entries), np.int64)
        moving = np.arange(len(entries))
        for _ in range(_LONGEST_RUN):
            beyond = step(edge[moving])
            same = (beyond != NOBODY) & (table.speaker[beyond] == table.speaker[entries[moving]])
            moving = moving[same]
            if len(moving) == 0:
                break
            edge[moving] = beyond[same]
            place[moving] += 1
        return place, edge

    def _beyond(self, edges: Links, table: TurnTable, *, backwards: bool) -> Links:
        """Return the other speaker's entry beyond the edge of each run; -1 for none, or if the run is too long."""
        beyond = self.before(edges) if backwards else self.after(edges)
        return np.where(table.speaker[beyond] == table.speaker[edges], NOBODY, beyond)

    def _best_of_run(self, starts: Links, values: Scores, table: TurnTable, *, backwards: bool, asking: bool) -> Scores:
        step = self.before if backwards else self.after
        best = np.full(len(starts), -np.inf)
        moving = np.flatnonzero(starts != NOBODY)
        here = starts[moving]
        for _ in range(_LONGEST_RUN):
            if len(moving) == 0:
                break
            counts = np.where(table.asks[here], values[here], -np.inf) if asking else values[here]
            best[moving] = np.maximum(best[moving], counts)
            beyond = step(here)
            same = (beyond != NOBODY) & (table.speaker[beyond] == table.speaker[here])
            moving, here = moving[same], beyond[same]
        return best

    def _append(self, table: TurnTable) -> bool:
        """Link the new entries behind the last of their conversations; False if one belongs further up."""
        grown = len(table) - self._n
        self._before = np.concatenate([self._before, np.full(grown, NOBODY, np.int64)])
        self._after = np.concatenate([self._after, np.full(grown, NOBODY, np.int64)])
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
        self._before = np.full(len(table), NOBODY, np.int64)
        self._after = np.full(len(table), NOBODY, np.int64)
        spoken = np.flatnonzero(table.alive & table.recalled)
        order = spoken[np.lexsort((table.row[spoken], table.ordinal[spoken], table.conversation[spoken]))]
        earlier, later = order[:-1], order[1:]
        linked = table.session[earlier] == table.session[later]
        self._before[later[linked]] = earlier[linked]
        self._after[earlier[linked]] = later[linked]
        last = order[np.flatnonzero(np.diff(table.conversation[order], append=-1))]
        self._last = dict(zip(table.conversation[last].tolist(), last.tolist(), strict=True))


def _follow(links: Links, entries: Entries) -> Links:
    # links[-1] is read for NOBODY and thrown away.
    return np.where(entries == NOBODY, NOBODY, links[entries]) if len(links) else np.full(len(entries), NOBODY)
