"""Turns into a store, whichever engine keeps its tables."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime

from memory_rag.errors import RefusedError, TurnError, UnknownTurnError
from memory_rag.store.appending import Appending
from memory_rag.store.correcting import Correction, erase_and_correct, keep_and_correct
from memory_rag.store.engine import Connection, Connections
from memory_rag.store.erasing import Eraser
from memory_rag.store.findings import Findings, off_record_since, replace_findings, set_off_record
from memory_rag.store.inserting import Inserting
from memory_rag.store.removal import take_out
from memory_rag.store.screening import Screen, Unstored
from memory_rag.store.together import Together
from memory_rag.store.tombstones import Tombstones
from memory_rag.store.turn_reader import TurnReader
from memory_rag.store.turn_rows import check_ids
from memory_rag.store.turn_store import Appended
from memory_rag.store.vanishing import note_export
from memory_rag.turns import Conversation, Turn, Withheld, to_microseconds


class TurnWriter(TurnReader, ABC):
    """What can be asked of a store, and what changes it; safe for many threads and processes at once."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._together = Together(connections)

    def add(self, turn: Turn) -> Turn:
        """Store one turn and return it with its id and ordinal; if its source is there already, the stored turn.

        One that a rule keeps out, or any while the memory is off the record, comes back as :class:`Unstored`.

        Raises:
            TurnError: an id that can't be an id or that another turn has, or a source's turn that was forgotten.
            StoreError: the file can't be written; nothing was stored.
        """
        screened = self.screen.turn(turn)
        with self._connections.writing() as connection:
            twin = _twin(connection, turn)
            if twin is not None:
                return self._one(connection, twin)[1]
            if turn.source is not None and Tombstones(connection).holds(turn):
                raise TurnError(
                    f"the turn {turn.source.native_id!r} of {turn.source.name} was forgotten, and what is forgotten "
                    "stays so; to take it in again, import it with: memory-rag import --include-forgotten"
                )
            new = Inserting(connection)
            if refusal := new.refusal(screened):
                return Unstored.of(turn, refusal)
            return new.add(screened.turn, screened.findings)

    def append(
        self,
        items: Iterable[Turn | Conversation | Withheld],
        *,
        dry_run: bool = False,
        newer: bool = False,
        whole: bool = False,
        include_forgotten: bool = False,
        secrets: str = "",
        before_commit: Callable[[Appended], None] | None = None,
    ) -> Appended:
        """Store turns verbatim, all in one transaction, and say which of them were there already.

        A turn with a source is there already when its (source name, conversation, native id) is. An empty
        ``turn_id`` is filled in (``t17``); an ordinal of ``NEXT`` becomes the next of its conversation. If the
        iterable raises, nothing of it is stored; a dry run stores nothing either and says what it would have done.

        With ``newer`` the items are the present state of their sources: a turn that was edited there is corrected,
        its earlier text kept. With ``whole`` they are whole conversations, each from a first turn to a last: a turn
        stored between these that is no longer among them is marked as vanished.

        A source's turn that was forgotten is left out and counted, or taken in again with ``include_forgotten``.

        ``secrets`` says what to do this time with what the screen finds, such as ``redact``; ``before_commit`` is told
        what will have been done, and nothing is stored if it raises.

        Raises:
            TurnError: an id that can't be an id, or that another turn has.
            StoreError: the file can't be written; nothing was stored.
        """
        with self._together.writing(discard=dry_run) as connection:
            appending = Appending(
                connection,
                newer=newer,
                whole=whole,
                include_forgotten=include_forgotten,
                screen=self.screen.with_actions(secrets) if secrets else self.screen,
            )
            appending.take(items)
            done = appending.done()
            if before_commit is not None:
                before_commit(done)
            return done

    def together(self) -> AbstractContextManager[None]:
        """Commit what this thread appends meanwhile a few thousand turns at a time, each append whole or not at all.

        Nothing else is written by the thread meanwhile, except after :meth:`settle`. What is whole when something goes
        wrong stays.
        """
        return self._together.open()

    def settle(self) -> None:
        """Commit what :meth:`together` holds back."""
        self._together.settle()

    def note_export(
        self, *, source_name: str, account: str, conversation_ids: Iterable[str], latest: datetime
    ) -> list[str]:
        """Remember what conversations an account's newest export holds, and mark those of the one before that are gone.

        An export in which the last thing was said before ``latest`` of the one before changes nothing. The ids of the
        turns that are marked are returned.
        """
        with self._connections.writing() as connection:
            return note_export(
                connection,
                source_name=source_name,
                account=account,
                conversation_ids=conversation_ids,
                latest=to_microseconds(latest),
                now=_now(),
            )

    def correct(
        self,
        turn_id: str,
        *,
        text: str | None = None,
        speaker: str | None = None,
        said_at: datetime | None = None,
        keep_old: bool = True,
    ) -> Turn:
        """Give a turn a new text, speaker or time, and return it; the old version is kept unless told otherwise.

        Otherwise its source's JSON goes too, and whatever else of the turn holds what was wrong.

        Raises:
            UnknownTurnError: no turn has this id.
            RefusedError: a rule keeps the new text out; nothing was changed.
        """
        with self._connections.writing() as connection:
            row, old = self._one(connection, turn_id)
            correction = Correction(text, speaker, said_at)
            correction = self.screened(connection, row, old, correction)
            change = keep_and_correct if keep_old else erase_and_correct
            return change(connection, row, old, correction, now=_now())

    def screened(self, connection: Connection, row: int, old: Turn, correction: Correction) -> Correction:
        """Return a correction as it may be stored, and write down what is found in the new text.

        Raises:
            RefusedError: a rule keeps the new text out.
        """
        if correction.text is None:
            return correction
        screened = self.screen.turn(replace(old, text=correction.text, blocks=(), source=None, indexed=None))
        if screened.refusal:
            raise RefusedError(f"turn {old.turn_id} stays as it is: {screened.refusal}")
        replace_findings(connection, row, screened.findings, only_text=True)
        return replace(correction, text=screened.turn.text)

    def remove(self, turn_ids: Sequence[str]) -> int:
        """Remove turns with their earlier versions, and return how many.

        Their bytes are overwritten later: see :mod:`memory_rag.store.erasing`.

        Raises:
            UnknownTurnError: no turn has one of these ids, or one is named twice; nothing was removed then.
        """
        with self._connections.writing() as connection:
            rows = [self._one(connection, turn_id)[0] for turn_id in turn_ids]
            if len(set(rows)) < len(rows):
                raise UnknownTurnError(f"a turn is named twice in {', '.join(turn_ids)}; nothing was removed")
            take_out(connection, rows, now=_now())
        return len(turn_ids)

    def set_fact(self, name: str, value: str) -> None:
        """Remember something about the memory itself, such as its language."""
        self.change_fact(name, lambda _before: value)

    def change_fact(self, name: str, change: Callable[[str | None], str]) -> None:
        """Remember what is made of what was remembered before, None if nothing was; nobody writes in between."""
        with self._connections.writing() as connection:
            found = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
            connection.execute(
                "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (name, change(None if found is None else str(found[0]))),
            )

    @property
    @abstractmethod
    def eraser(self) -> Eraser:
        """What does away with the bytes of removed rows."""

    @property
    def screen(self) -> Screen:
        """What everything passes before it is stored."""
        return self._connections.screen

    @property
    def findings(self) -> Findings:
        """What was found in the stored turns: tagged in them, or taken out before they were stored."""
        return Findings(self._connections)

    @property
    def off_record_since(self) -> str | None:
        """Since when no turn is taken, as ISO 8601; None if turns are."""
        with self._connections.reading() as connection:
            return off_record_since(connection)

    def set_off_record(self, since: str | None) -> None:
        """Take no turns from now on, by whichever process; None: take them again."""
        with self._connections.writing() as connection:
            set_off_record(connection, since)

    @property
    def is_forked(self) -> bool:
        """Whether this process was forked after the store was opened."""
        return self._connections.is_forked

    def refuse_if_forked(self) -> None:
        """Fail in a process that was forked after the store was opened.

        Raises:
            StoreError: this process was forked since.
        """
        self._connections.refuse_if_forked()

    def close(self) -> None:
        self._connections.close()


def _twin(connection: Connection, turn: Turn) -> str | None:
    """Return the id of the stored turn with the same source."""
    if turn.source is None:
        return None
    check_ids(turn)
    found = connection.execute(
        "SELECT turn_id FROM turns WHERE source_name = ? AND conversation_id = ? AND source_id = ?",
        (turn.source.name, turn.conversation_id, turn.source.native_id),
    ).fetchone()
    return None if found is None else str(found[0])


def _now() -> int:
    return time.time_ns() // 1000
