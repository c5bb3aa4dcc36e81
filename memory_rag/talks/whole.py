"""Whole talks by their vectors: which of them are near a question, whatever their single turns say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Embedder, Vectors
from memory_rag.retrieval.scene import MISSING
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.talks.ranking import WholeCosines
from memory_rag.talks.shelf import TalkShelf
from memory_rag.talks.talk import TalkId, Unit
from memory_rag.talks.window_shelf import WindowShelf
from memory_rag.talks.windows import Side, embedded, windows_of

_AT_ONCE: Final = 16
_TURNS_DUE: Final = 4
"""New turns from which on a session that goes on is embedded again; one that is over is, by any."""


class WindowMaking:
    """Embeds talks as a whole. What was read is stored only if nothing of it was corrected or removed meanwhile."""

    def __init__(self, store: TurnWriter, talks: TalkShelf) -> None:
        self._store = store
        self._talks = talks
        self.shelf = WindowShelf(store.connections)

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
        for one in self.shelf.uncovered(embedder.fingerprint, conversation_id=conversation_id):
            if limit is not None and n_made >= limit:
                break
            if all_of_it or one.is_over or one.n_waiting >= _TURNS_DUE:
                n_made += self._session(one.talk, embedder, limit=None if limit is None else limit - n_made)
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


@dataclass(frozen=True, slots=True)
class _Held:
    """The windows of a side: their vectors, and the talk of each, of either unit, by its key."""

    vectors: Vectors
    sessions: tuple[str, ...]
    conversations: tuple[str, ...]


class WholeTalks:
    """The vectors of whole talks as an index; catches up with the shelf before it answers."""

    def __init__(self, shelf: WindowShelf) -> None:
        self._shelf = shelf
        self._start_over("")

    def _start_over(self, fingerprint: str) -> None:
        self._version = (fingerprint, 0, 0)
        self._numbers: dict[Side, list[int]] = {side: [] for side in Side}
        self._held: dict[Side, _Held] = {}
        self._codes: dict[tuple[Side, Unit], tuple[list[str], int, npt.NDArray[np.int64]]] = {}

    def catch_up(self, embedder: Embedder) -> None:
        """Take in the windows that were made since; those that are gone are searched no more."""
        fingerprint = embedder.fingerprint
        if self._version[0] != fingerprint:
            self._start_over(fingerprint)
        version = (fingerprint, *self._shelf.version(fingerprint))
        if version == self._version:
            return
        new = self._shelf.read(fingerprint, embedder.dim, after=self._version[2])
        living = self._shelf.numbers(fingerprint)
        for side in Side:
            own = [window for window in new if window.side is side and window.number in living]
            held = self._held.get(side)
            stays = [place for place, number in enumerate(self._numbers[side]) if number in living]
            numbers = [self._numbers[side][place] for place in stays]
            rows = [held.vectors[stays]] if held is not None and stays else []
            sessions = [held.sessions[place] for place in stays] if held is not None else []
            conversations = [held.conversations[place] for place in stays] if held is not None else []
            for window in own:
                rows.append(window.vectors)
                n_rows = len(window.vectors)
                numbers += [window.number] * n_rows
                sessions += [window.talk.key] * n_rows
                conversations += [window.talk.conversation_id] * n_rows
            vectors = np.concatenate(rows) if rows else np.zeros((0, embedder.dim), np.float32)
            self._numbers[side] = numbers
            self._held[side] = _Held(vectors, tuple(sessions), tuple(conversations))
        self._codes.clear()
        self._version = version

    def cosines(self, query: Vectors, names: list[str], *, unit: Unit) -> Mapping[Side, WholeCosines]:
        """Return of each side each talk's best window's cosine with a question; ``MISSING`` without a window.

        ``names`` are the talks' keys.
        """
        found: dict[Side, WholeCosines] = {}
        for side in Side:
            best, n_windows = np.full(len(names), MISSING), np.zeros(len(names), np.int64)
            held = self._held.get(side)
            if held is not None and len(held.vectors):
                codes = self._codes_of(side, held, names, unit)
                known = codes >= 0
                np.maximum.at(best, codes[known], (held.vectors @ query)[known])
                n_windows = np.bincount(codes[known], minlength=len(names))
            found[side] = WholeCosines(best, n_windows)
        return found

    def _codes_of(self, side: Side, held: _Held, names: list[str], unit: Unit) -> npt.NDArray[np.int64]:
        kept = self._codes.get((side, unit))
        # The same list, and no name was added to it since.
        if kept is not None and kept[0] is names and kept[1] == len(names):
            return kept[2]
        place = {name: code for code, name in enumerate(names)}
        keys = held.sessions if unit is Unit.SESSION else held.conversations
        codes = np.array([place.get(key, -1) for key in keys], np.int64)
        self._codes[side, unit] = (names, len(names), codes)
        return codes
