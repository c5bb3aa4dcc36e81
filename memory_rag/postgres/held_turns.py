"""The keyword index of as many turns as were taken in, of a memory with more than a process should hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.store.turn_store import TurnStore
from memory_rag.text.analyzer import Analyzer

_BATCH: Final = 1000


class HeldTurns(KeywordIndex):
    """Turns by the rows that were asked for; those that are held are kept as the store has them now."""

    def __init__(self, analyzer: Analyzer) -> None:
        super().__init__(analyzer)
        self.n_changed_elsewhere = 0
        """How many corrections there were of turns that aren't held: they may lie in other parts now."""
        self._unheld: set[int] = set()
        self._changed_from: int | None = None
        self._has_begun = False

    def catch_up(self, store: TurnStore, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Apply what changed of the turns that are held, and return how many changes there were."""
        del progress
        if not self._has_begun:
            self._begin(store)
        changes = store.changes_since(self.applied_seq)
        if not changes:
            return 0
        held = {change.row: change.seq for change in changes if self.table.entry_of(change.row) is not None}
        self._unheld -= {change.row for change in changes}
        lowest = min(change.row for change in changes)
        self._changed_from = lowest if self._changed_from is None else min(lowest, self._changed_from)
        self.n_changed_elsewhere += sum(change.kind == "correct" and change.row not in held for change in changes)
        self.applied_seq, self.applied_at = changes[-1].seq, changes[-1].changed_at
        self._take(store, held)
        return len(changes)

    def take_changed_from(self) -> int | None:
        """Return the lowest row that was changed since this was asked last; None if none was."""
        lowest, self._changed_from = self._changed_from, None
        return lowest

    def take_in(self, rows: Iterable[int], store: TurnStore) -> None:
        """Hold the turns at these rows, too."""
        known = self.table.entry_of
        new = {row: self.applied_seq for row in rows if known(row) is None and row not in self._unheld}
        self._take(store, new)
        # Gone since they were named; whoever names them again asks the store no more.
        self._unheld.update(row for row in new if known(row) is None)

    def _begin(self, store: TurnStore) -> None:
        self._has_begun = True
        newest = store.last_seq
        for change in store.changes_since(newest - 1, limit=1) if newest else ():
            self.applied_seq, self.applied_at = change.seq, change.changed_at

    def _take(self, store: TurnStore, latest: Mapping[int, int]) -> None:
        rows = list(latest)
        for start in range(0, len(rows), _BATCH):
            part = rows[start : start + _BATCH]
            self._apply(part, store.turns_at(part), latest)
        self._fresh.settle()
