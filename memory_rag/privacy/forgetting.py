"""Turns forgotten for good: chosen, shown, removed, overwritten, proved."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from memory_rag.errors import StoreError
from memory_rag.privacy.erasure import Erasure
from memory_rag.privacy.proof import Proof
from memory_rag.privacy.proving import Proving
from memory_rag.privacy.remains import remains_of
from memory_rag.privacy.removing import Removed, correct_turn, found_turns, remove_turns
from memory_rag.privacy.sought import Sought
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.indexes import Indexes
from memory_rag.retrieval.later import Later
from memory_rag.retrieval.search_lock import SearchLock
from memory_rag.retrieval.turn_table import content_key
from memory_rag.settings import Settings
from memory_rag.store.correcting import Correction
from memory_rag.store.engine import Connection
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.turns import Turn

if TYPE_CHECKING:
    from memory_rag.retrieval.vectors import VectorFile

_QUIET_S: Final = 1.0
"""So long after the last removal, and the last search, the keyword index is saved."""
_PATIENCE_S: Final = 60.0
"""Seconds more than which a save isn't put off for those who search without a pause, of whom it would stop some for a
twentieth of a second; a process that is killed meanwhile leaves the index to be made anew from the words."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten, or would be by a dry run.

    ``pending`` says why bytes of it may be left for now (the next opening of the memory finishes); empty if none are.
    ``summaries`` are the conversations of which a summary was made anew without it. ``proof`` is None unless it was
    asked for and nothing is pending.
    """

    removed: Removed
    pending: str = ""
    summaries: tuple[str, ...] = ()
    proof: Proof | None = None

    @property
    def n_turns(self) -> int:
        return len(self.removed.turns)

    @property
    def is_done(self) -> bool:
        """Whether no byte is left, and the proof, if one was asked for, holds."""
        return not self.pending and (self.proof is None or self.proof.holds)

    def as_json(self) -> dict[str, Any]:
        return {
            "forgotten": [turn.turn_id for turn in self.removed.turns],
            "beside": [one.as_json() for one in self.removed.beside],
            "sources": list(self.removed.sources),
            "answers": self.removed.n_answers,
            "versions": self.removed.n_versions,
            "summaries": list(self.summaries),
            "pending": self.pending or None,
            "proof": None if self.proof is None else self.proof.as_json(),
        }

    def _repr_html_(self) -> str:
        from memory_rag.privacy.in_notebook import forgotten_html

        return forgotten_html(self)


class Forgetting:
    """Forgets turns of one memory, and corrects them without a trace of what they were.

    What is removed is removed from every table in one transaction, together with the note that bytes of it are still to
    be overwritten; whoever is killed after that leaves a memory whose next opening finishes.
    """

    def __init__(
        self,
        folder: Path | None,
        store: TurnWriter,
        *,
        indexes: Indexes,
        lock: SearchLock,
        settings: Settings,
        mend: Callable[[str], bool],
        in_use: Mapping[Path, VectorFile] = MappingProxyType({}),
    ) -> None:
        """Forget in a memory; ``in_use`` are the files of vectors that it searches in, by the paths of their ids."""
        self._place = store.connections.place
        self._store = store
        self._indexes = indexes
        self._lock = lock
        self._settings = settings
        self._mend = mend
        self._erasure = Erasure(folder, store, in_use=in_use)
        self._proving = Proving(store, indexes, remains_of(store, folder))
        self._saving = (
            None
            if folder is None
            else Later(self._save, quiet_s=_QUIET_S, uses=lambda: indexes.n_uses, patience_s=_PATIENCE_S)
        )

    # -- choosing

    def select(self, within: Within) -> list[str]:
        """Return the ids of the turns that a filter allows, in stored order, those left out of search among them.

        Raises:
            QueryError: a bound that is no time.
        """
        with self._lock.held():
            return self._indexes.select(replace(within, unrecalled=True))

    def plan(self, turn_ids: Sequence[str]) -> Forgotten:
        """Return what would be forgotten with these turns; nothing is changed.

        Raises:
            UnknownTurnError: no turn has one of these ids, or one is named twice.
        """
        with self._store.connections.writing(discard=True) as connection:
            turns = found_turns(connection, turn_ids, place=self._place)
            return Forgotten(remove_turns(connection, turns, now=_now()))

    # -- doing

    def forget(
        self,
        turn_ids: Sequence[str],
        *,
        timeout_s: float | None = None,
        prove: bool = False,
        beside: bool = True,
        mend: bool = True,
        rewrite: bool = False,
    ) -> Forgotten:
        """Forget turns: their rows, whatever tells of them, their vectors, and every byte of it.

        Waits up to ``timeout_s`` (``lock_timeout_s`` if None) for each of those who write and who read an older state.
        With ``beside`` False pins, decisions and the state stay as they are. With ``mend`` False no summary is made
        anew now, which may take a model's time: it stays without the lines that could tell, until its next turn. With
        ``rewrite`` the file, or a server's files, are written anew and get smaller; others wait meanwhile.

        Raises:
            UnknownTurnError: no turn has one of these ids, or one is named twice; nothing was removed.
        """
        sought: Sought | None = None
        with self._store.connections.writing() as connection:
            turns = found_turns(connection, turn_ids, place=self._place)
            if prove:
                sought = self._proving.sought((), dict.fromkeys(turns))
            removed = remove_turns(connection, turns, now=_now(), beside=beside)
        return self._finished(removed, sought, timeout_s, mend=mend, rewrite=rewrite)

    def correct(
        self,
        turn_id: str,
        correction: Correction,
        *,
        timeout_s: float | None = None,
        prove: bool = False,
        rewrite: bool = False,
    ) -> tuple[Turn, Forgotten]:
        """Give a turn its right text, speaker or time, erase every trace of what it was, and return it.

        Raises:
            UnknownTurnError: no turn has this id.
            RefusedError: a rule keeps the new text out; nothing was changed.
        """
        sought: Sought | None = None
        with self._store.connections.writing() as connection:
            row, old, correction = self._to_correct(connection, turn_id, correction)
            if prove:
                sought = self._proving.sought((), {row: content_key(correction.of(old))})
            turn, removed = correct_turn(connection, row, old, correction, now=_now())
        return turn, self._finished(removed, sought, timeout_s, rewrite=rewrite)

    def plan_correction(self, turn_id: str, correction: Correction) -> Forgotten:
        """Return what would be erased with what a turn was; nothing is changed.

        Raises:
            UnknownTurnError: no turn has this id.
            RefusedError: a rule keeps the new text out.
        """
        with self._store.connections.writing(discard=True) as connection:
            row, old, correction = self._to_correct(connection, turn_id, correction)
            return Forgotten(correct_turn(connection, row, old, correction, now=_now())[1])

    def _to_correct(self, connection: Connection, turn_id: str, correction: Correction) -> tuple[int, Turn, Correction]:
        ((row, old),) = found_turns(connection, [turn_id], place=self._place).items()
        return row, old, self._store.screened(connection, row, old, correction)

    def finish(self, *, timeout_s: float = 0.0) -> str:
        """Overwrite what an earlier removal left, and return why that couldn't be done; empty if nothing is left."""
        return self._erasure.finish(timeout_s=timeout_s)

    def rewrite(self, *, timeout_s: float | None = None) -> str:
        """Write the files anew in which bytes of what was removed may lie, and return why that couldn't be done.

        Only a server leaves such bytes, and others can't read or write its tables meanwhile.
        A folder's file gets smaller.
        """
        wait = self._settings.lock_timeout_s if timeout_s is None else timeout_s
        if pending := self._erasure.finish(timeout_s=wait):
            return pending
        try:
            return self._store.eraser.overwrite(timeout_s=wait, anew=True)
        except StoreError as error:
            return str(error)

    @property
    def is_unfinished(self) -> bool:
        """Whether bytes of something that was removed may be left."""
        return self._erasure.is_unfinished

    def prove(self, sought: Sought) -> Proof:
        """Look at all of the memory for what was taken down before it was forgotten."""
        with self._lock.held():
            return self._proving.prove(sought)

    def look_for(self, turn_ids: Sequence[str]) -> Sought:
        """Take down what a proof has to look for once these turns are forgotten. It is kept in memory only.

        Raises:
            UnknownTurnError: no turn has one of these ids.
        """
        with self._store.connections.writing(discard=True) as connection:
            turns = found_turns(connection, turn_ids, place=self._place)
            sought = self._proving.sought((), dict.fromkeys(turns))
            sought.said = _said(remove_turns(connection, turns, now=_now()))
        return sought

    def _finished(
        self,
        removed: Removed,
        sought: Sought | None,
        timeout_s: float | None,
        *,
        mend: bool = True,
        rewrite: bool = False,
    ) -> Forgotten:
        wait = self._settings.lock_timeout_s if timeout_s is None else timeout_s
        # The memory's own lock is only held for what reads its indexes: others search while this waits.
        with self._lock.held(), suppress(StoreError):
            # Before the snapshot goes: from the words it takes a hundred times as long.
            self._indexes.catch_up()
        pending = self._erasure.finish(timeout_s=wait, anew=rewrite)
        with self._lock.held(), suppress(StoreError):
            self._save_soon_or_later(timeout_s=wait)
        stale = self._stale_conversations() if mend else ()
        done = Forgotten(removed, pending, tuple(name for name in stale if self._mend(name)))
        if sought is None or pending:
            return done
        sought.said = _said(removed)
        return replace(done, proof=self.prove(sought))

    def _save_soon_or_later(self, *, timeout_s: float) -> None:
        """Save the keyword index, or let it be saved once nothing is forgotten for a while."""
        if self._saving is None or self._indexes.snapshots.are_soon_made(self._indexes.keyword):
            self._indexes.save(timeout_s=timeout_s)
        else:
            self._indexes.snapshots.is_gone()
            self._saving.ask()

    def _save(self) -> None:
        # What can't be saved is saved when the memory is closed, or made anew when it is needed.
        with suppress(StoreError), ExitStack() as alone:
            with self._lock.held():
                alone.enter_context(self._indexes.snapshots.alone())
                save = self._indexes.saving()
            save()

    def wait(self) -> None:
        """Wait until what is saved in the background is saved."""
        if self._saving is not None:
            self._saving.wait()

    def close(self) -> None:
        """Begin nothing more in the background, and wait for what is being done."""
        if self._saving is not None:
            self._saving.close()

    def _stale_conversations(self) -> list[str]:
        with self._store.connections.reading() as connection:
            return [
                str(name)
                for (name,) in connection.execute(
                    "SELECT DISTINCT conversation_id FROM summaries WHERE is_stale = 1 ORDER BY conversation_id"
                )
            ]


def _said(removed: Removed) -> tuple[str, ...]:
    """Return all that is to be gone as texts: what was said, the names under which it was kept, its source."""
    said = [*removed.said]
    for turn in removed.turns if removed.is_gone else ():
        said += turn.turn_id, turn.conversation_id, turn.session_id, turn.said_at_text or ""
        if turn.source is not None:
            said += turn.source.native_id, turn.source.raw or ""
    return tuple(text for text in dict.fromkeys(said) if text.strip())


def _now() -> int:
    return time.time_ns() // 1000
