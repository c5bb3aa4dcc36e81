"""Keyword recall: the turn table and its postings, kept in step with the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.bm25 import Bm25
from memory_rag.retrieval.fresh_terms import FreshTerms
from memory_rag.retrieval.participants import ROLE_NAMES
from memory_rag.retrieval.postings import Postings
from memory_rag.retrieval.turn_table import TurnTable
from memory_rag.store.archives import read_archive, write_archive
from memory_rag.store.turn_store import TurnStore
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Turn

FILE_NAME: Final = "keyword.npz"
FORMAT: Final = 7
"""Changes when the columns of the table, or how they are made, do; the analyzer's fingerprint tells of the terms."""
_MAPPED: Final = ("postings.entries", "postings.kinds")
"""The larger part of a snapshot, of which a question needs the few terms that it has."""
_BATCH: Final = 1000
_SPEAKERS_KEPT: Final = 1000


class KeywordIndex:
    """Every turn's terms and columns, in memory; knows the change it has applied last."""

    def __init__(self, analyzer: Analyzer) -> None:
        self.analyzer = analyzer
        self.table = TurnTable()
        self.bm25 = Bm25()
        self._fresh = FreshTerms(self.table, self.bm25.postings)
        self._terms_of_speaker = lru_cache(maxsize=_SPEAKERS_KEPT)(partial(_terms_of_speaker, analyzer))
        self.applied_seq = 0
        self.applied_at = 0

    def follows(self, store: TurnStore) -> bool:
        """Tell whether what is applied is what the store holds up to there.

        It isn't after a power cut that took the store's last changes, or when its file was put back from a copy: the
        numbers of the changes that are lost are given again.
        """
        if self.applied_seq == 0:
            return True
        changes = store.changes_since(self.applied_seq - 1, limit=1)
        return bool(changes) and (changes[0].seq, changes[0].changed_at) == (self.applied_seq, self.applied_at)

    def catch_up(self, store: TurnStore, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Apply every change since ``applied_seq`` and return how many there were.

        ``progress`` is called with (done, all) turns.
        """
        changes = store.changes_since(self.applied_seq)
        latest = {change.row: change.seq for change in changes}
        rows = list(latest)
        for start in range(0, len(rows), _BATCH):
            part = rows[start : start + _BATCH]
            self._apply(part, store.turns_at(part), latest)
            if progress is not None:
                progress(min(start + _BATCH, len(rows)), len(rows))
        self._fresh.settle()
        if changes:
            self.applied_seq, self.applied_at = changes[-1].seq, changes[-1].changed_at
        return len(changes)

    def _apply(self, rows: Sequence[int], turns: Mapping[int, Turn], latest: Mapping[int, int]) -> None:
        """Take in the turns at some rows as they are now, each by its latest change; a row without one has none."""
        taken_in: list[list[str]] = []
        for row in rows:
            earlier = self.table.entry_of(row)
            if earlier is not None:
                self._fresh.leave_out(earlier)
            turn = turns.get(row)
            if turn is None:
                self.table.end(row)
                continue
            terms, language = self.terms_of(turn), self.analyzer.language_of(turn.text)
            entry = self.table.append(row, turn, seq=latest[row], language=language)
            self._fresh.take_in(entry, terms)
            taken_in.append(terms)
        self.bm25.add(len(self.table) - len(taken_in), taken_in)

    def compact(self) -> None:
        """Drop what is left of removed turns and of earlier versions; entries are numbered anew."""
        alive = self.table.alive
        if not alive.all():
            self.bm25, self.table = self.bm25.only(alive), self.table.only_living()
            self._fresh = FreshTerms(self.table, self.bm25.postings)

    def terms_of(self, turn: Turn) -> list[str]:
        """Return what a turn is found by: its words, its captions, and its speaker's name if that is a name."""
        return [*self._terms_of_speaker(turn.speaker), *self.analyzer.terms(turn.searchable)]

    def as_now(self) -> Callable[[], KeywordIndex]:
        """Return what makes another index of what this one holds now, whatever happens to it meanwhile."""
        # Columns are written to in place; postings and their lengths only grow, or are made anew.
        arrays = {
            name: values.copy() if name.startswith("table.") else values for name, values in self._arrays().items()
        }
        return partial(self._of, arrays, self.analyzer)

    def save(self, folder: Path) -> None:
        """Write a snapshot; the index can be loaded from it and catches up from there."""
        write_archive(folder / FILE_NAME, self._arrays())

    def _arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        return {
            **{f"table.{name}": values for name, values in self.table.arrays().items()},
            **{f"postings.{name}": values for name, values in self.bm25.postings.arrays().items()},
            "lengths": self.bm25.lengths,
            "applied": np.array([self.applied_seq, self.applied_at]),
            "made_by": np.frombuffer(_made_by(self.analyzer), np.uint8),
        }

    @classmethod
    def load(cls, folder: Path, analyzer: Analyzer) -> KeywordIndex:
        """Return the index of the snapshot in a folder, or an empty one if there is none that can be used.

        A snapshot that is damaged or was made by other rules isn't used: catching up from nothing gives the same index,
        only later.
        """

        def read(arrays: Mapping[str, npt.NDArray[np.generic]]) -> KeywordIndex | None:
            if arrays["made_by"].tobytes() != _made_by(analyzer):
                return None
            return cls._of({name: arrays[name] for name in arrays}, analyzer)

        return read_archive(folder / FILE_NAME, read, mapped=_MAPPED) or cls(analyzer)

    @classmethod
    def _of(cls, parts: Mapping[str, npt.NDArray[np.generic]], analyzer: Analyzer) -> KeywordIndex:
        under = {
            prefix: {name.removeprefix(prefix): values for name, values in parts.items() if name.startswith(prefix)}
            for prefix in ("table.", "postings.")
        }
        index = cls(analyzer)
        index.table = TurnTable.from_arrays(under["table."])
        index.bm25 = Bm25(Postings.from_arrays(under["postings."]), np.asarray(parts["lengths"], np.int32))
        index._fresh = FreshTerms(index.table, index.bm25.postings)
        index.applied_seq, index.applied_at = (int(number) for number in parts["applied"])
        return index


def _terms_of_speaker(analyzer: Analyzer, speaker: str) -> list[str]:
    return [] if speaker.casefold() in ROLE_NAMES else analyzer.terms(speaker)


def _made_by(analyzer: Analyzer) -> bytes:
    return f"{FORMAT}:{analyzer.fingerprint}".encode()
