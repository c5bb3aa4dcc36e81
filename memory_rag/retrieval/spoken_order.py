"""Who spoke before whom: each entry's neighbours in its conversation, and the runs of one speaker."""

from __future__ import annotations

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
        self._looked_at: tuple[int, Entries, _Beyond, _Beyond] | None = None

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

    def of_question(self, entries: Entries, values: Scores, table: TurnTable) -> Scores:
        """Return, for each entry, the best value of the questions in the other speaker's run just before it.

        An entry at place p of its run (from 0) gets .7^p of it; 0 where no such question was asked. Only turns that
        end by asking count: an answer rarely repeats the words of its question. Of a run of more than 32 messages those
        nearest to the change of speaker count.
        """
        return self._exchanges(entries, table)[0].best(values)

    def of_reply(self, entries: Entries, values: Scores, table: TurnTable) -> Scores:
        """Return, for each entry, the best value in the other speaker's run just after it, alike."""
        return self._exchanges(entries, table)[1].best(values)

    def _exchanges(self, entries: Entries, table: TurnTable) -> tuple[_Beyond, _Beyond]:
        """Return what was said beyond the runs of these entries, before and after; the last ones are remembered."""
        known = self._looked_at
        if known is None or known[0] != self._version or known[1] is not entries:
            questions = _Beyond.of(entries, self._before, table, counting=table.asks)
            replies = _Beyond.of(entries, self._after, table, counting=None)
            known = self._looked_at = (self._version, entries, questions, replies)
        return known[2], known[3]

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
class _Beyond:
    """For some entries, what the other speaker said beyond the run that each of them belongs to.

    ``said`` are the entries of the others' runs, one run after the other, ``starts`` where each begins, and ``place``
    the entry (by its place among those asked for) that it belongs to; ``fading`` is what that entry gets of it.
    """

    n: int
    said: Entries
    starts: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    fading: Scores

    @classmethod
    def of(cls, entries: Entries, step: Links, table: TurnTable, *, counting: Mask | None) -> _Beyond:
        """Look from each entry along ``step``; of what was said there, only what is ``counting`` counts."""
        edge, distance = _edges(entries, step, table)
        beyond = step[edge]
        place = np.flatnonzero((beyond != NOBODY) & (table.speaker[beyond] != table.speaker[edge]))
        here, places = beyond[place], place
        found: list[tuple[npt.NDArray[np.int64], Entries]] = []
        for _ in range(_LONGEST_RUN):
            counted = slice(None) if counting is None else counting[here]
            found.append((places[counted], here[counted]))
            further = step[here]
            same = (further != NOBODY) & (table.speaker[further] == table.speaker[here])
            places, here = places[same], further[same]
            if len(here) == 0:
                break
        all_places = np.concatenate([one for one, _ in found])
        order = np.argsort(all_places, kind="stable")
        all_places, said = all_places[order], np.concatenate([one for _, one in found])[order]
        starts = np.flatnonzero(np.diff(all_places, prepend=-1))
        place = all_places[starts]
        fading = np.power(_FADING, distance[place], dtype=np.float64)
        return cls(len(entries), said, starts, place, fading)

    def best(self, values: Scores) -> Scores:
        """Return the best value beyond each entry's run, faded; 0 for none."""
        best = np.zeros(self.n)
        if len(self.starts):
            best[self.place] = np.maximum.reduceat(values[self.said], self.starts) * self.fading
        return best


def _edges(entries: Entries, step: Links, table: TurnTable) -> tuple[Entries, npt.NDArray[np.int64]]:
    """Return the entry at the edge of each entry's run, and how many messages away it is."""
    edge, distance = entries.copy(), np.zeros(len(entries), np.int64)
    moving = np.arange(len(entries))
    for _ in range(_LONGEST_RUN):
        beyond = step[edge[moving]]
        same = (beyond != NOBODY) & (table.speaker[beyond] == table.speaker[entries[moving]])
        moving = moving[same]
        if len(moving) == 0:
            break
        edge[moving] = beyond[same]
        distance[moving] += 1
    return edge, distance
