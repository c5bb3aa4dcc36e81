"""Whole talks by their vectors: which of them are near a question, whatever their single turns say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Embedder, Vectors
from memory_rag.retrieval.ascending import are_among
from memory_rag.retrieval.growing import Growing
from memory_rag.retrieval.names import Names
from memory_rag.retrieval.turn_table import Mask
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.talks.keys import NOWHERE, KeysOfTalks
from memory_rag.talks.ranking import WholeCosines
from memory_rag.talks.shelf import TalkShelf
from memory_rag.talks.talk import TalkId, Unit
from memory_rag.talks.window_shelf import StoredWindow, WindowShelf
from memory_rag.talks.windows import Side, embedded, windows_of

_AT_ONCE: Final = 16
_FIRST: Final = 64
_GONE: Final = 4
"""Once one in so many of the windows that were taken in is gone, all are taken in anew."""
_TURNS_DUE: Final = 4
"""New turns from which on a session that goes on is embedded again; one that is over is, by any."""


class WindowMaking:
    """Embeds talks as a whole. What was read is stored only if nothing of it was corrected or removed meanwhile."""

    def __init__(self, store: TurnWriter, talks: TalkShelf) -> None:
        self._store = store
        self._talks = talks
        self.shelf = WindowShelf(store.connections)
        self._nothing_due: tuple[str, int, int, int] | None = None
        """For whom, and as of when, every session was looked at and nothing was to be embedded."""

    def make(
        self,
        embedder: Embedder,
        *,
        conversation_id: str | None = None,
        limit: int | None = None,
        all_of_it: bool = True,
    ) -> int:
        """Embed what of talks is in no window yet, of one conversation or all, and return how many windows.

        The talk last spoken in comes first; after ``limit`` windows no other is begun. With ``all_of_it`` False, new
        turns of a session that goes on wait until there are a few.

        Raises:
            EmbedderError: the embedder can't be loaded or reached.
        """
        n_made = 0
        if limit == 0:
            return 0
        as_of = (embedder.fingerprint, self._store.last_seq, *self.shelf.version())
        if as_of == self._nothing_due and not all_of_it:
            return 0
        for one in self.shelf.uncovered(embedder.fingerprint, conversation_id=conversation_id):
            if limit is not None and n_made >= limit:
                break
            if all_of_it or one.is_over or one.n_waiting >= _TURNS_DUE:
                n_made += self._session(one.talk, embedder, limit=None if limit is None else limit - n_made)
        if conversation_id is None and n_made == 0:
            self._nothing_due = as_of
        return n_made

    def _session(self, talk: TalkId, embedder: Embedder, *, limit: int | None) -> int:
        seq = self._store.last_seq
        rows = self._talks.rows_after(talk, 0)
        found = self._store.turns_at(rows)
        windows = windows_of([(row, found[row]) for row in rows if row in found], embedder=embedder)
        there = self.shelf.keys(talk, embedder.fingerprint)
        # The user's first: a session counts as covered when everybody's are there.
        in_order = sorted(windows, key=lambda window: window.side is Side.ALL)
        missing = [window for window in in_order if window.key not in there][:limit]
        n_made = 0
        for start in range(0, max(1, len(missing)), _AT_ONCE):
            part = missing[start : start + _AT_ONCE]
            made = list(zip(part, embedded(part, embedder=embedder) if part else [], strict=True))
            if not self.shelf.put(talk, embedder.fingerprint, made, present=windows, seq=seq):
                break
            n_made += len(made)
        return n_made


class _Windows:
    """The windows of a side: their vectors, a row for each passage, and the talk that each row is of.

    Those that are gone keep their rows until many are.
    """

    def __init__(self, dim: int) -> None:
        self._vectors = np.zeros((_FIRST, dim), np.float32)
        self._numbers = Growing(np.zeros(0, np.int64))
        self._living: Mask = np.zeros(0, np.bool_)
        self._keys = KeysOfTalks()

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def n_gone(self) -> int:
        return len(self) - int(np.count_nonzero(self._living))

    def add(self, windows: Sequence[StoredWindow]) -> None:
        """Add windows at the end."""
        for one in windows:
            n, rows = len(self), one.vectors
            while n + len(rows) > len(self._vectors):
                self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
            self._vectors[n : n + len(rows)] = rows
            self._numbers.extend(np.full(len(rows), one.number))
            self._keys.add(one.talk, n=len(rows))

    def keep(self, living: npt.NDArray[np.int64]) -> None:
        """Search those alone that have one of these numbers, ascending; nothing is held of the others."""
        self._living = are_among(living, self._numbers.values)
        self._vectors[: len(self)][~self._living] = 0

    def cosines(self, query: Vectors, names: Names, *, unit: Unit) -> WholeCosines:
        """Return each talk's best window's cosine with a question, by the talks' codes."""
        found = WholeCosines.none(len(names.names))
        if len(self) == 0:
            return found
        codes = self._keys.codes(unit, names)
        known = self._living & (codes != NOWHERE)
        np.maximum.at(found.cosine, codes[known], (self._vectors[: len(self)] @ query)[known])
        return replace(found, n_windows=np.bincount(codes[known], minlength=len(names.names)))


class WholeTalks:
    """The vectors of whole talks as an index; catches up with the shelf before it answers."""

    def __init__(self, shelf: WindowShelf) -> None:
        self._shelf = shelf
        self._version = ("", 0, 0)
        self._windows: dict[Side, _Windows] = {}
        self._last = 0
        """The highest number among the windows that were taken in."""

    def catch_up(self, embedder: Embedder) -> None:
        """Take in the windows that were made since; those that are gone are searched no more."""
        fingerprint = embedder.fingerprint
        version = (fingerprint, *self._shelf.version())
        if version == self._version:
            return
        if self._version[0] != fingerprint or self._take_in(embedder):
            self._windows, self._last = {side: _Windows(embedder.dim) for side in Side}, 0
            self._take_in(embedder)
        self._version = version

    def _take_in(self, embedder: Embedder) -> bool:
        """Take in what was made since, and tell whether many windows are held that are gone."""
        new = self._shelf.read(embedder.fingerprint, embedder.dim, after=self._last)
        # Looked at last: what another process makes in between is taken in next time.
        living = np.array(sorted(self._shelf.numbers(embedder.fingerprint)), np.int64)
        for side, windows in self._windows.items():
            windows.add([one for one in new if one.side is side])
            windows.keep(living)
        self._last = max((one.number for one in new), default=self._last)
        return any(one.n_gone * _GONE > len(one) for one in self._windows.values())

    def cosines(self, query: Vectors, names: Names, *, unit: Unit) -> Mapping[Side, WholeCosines]:
        """Return of each side each talk's best window's cosine with a question; ``MISSING`` without a window.

        ``names`` are the talks' in the table.
        """
        return {side: windows.cosines(query, names, unit=unit) for side, windows in self._windows.items()}
