"""The only copy of the words: turns in one SQLite file."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Self

from memory_rag.store.appending import Appending, log
from memory_rag.store.connections import Connection, Connections
from memory_rag.store.folder import FILE_NAME, prepare_folder
from memory_rag.store.migrations import applied_steps, migrate
from memory_rag.store.turn_reader import TurnReader
from memory_rag.store.turn_rows import check_ids, digest, instant
from memory_rag.store.turn_store import Appended
from memory_rag.store.vanishing import note_export
from memory_rag.turns import Conversation, Turn, Withheld, text_bytes, to_microseconds


class SqliteTurnStore(TurnReader):
    """Turns in one SQLite file in WAL mode; safe for many threads and processes at once."""

    def __init__(
        self, folder: Path, *, durability: str = "normal", busy_timeout_s: float = 30.0, create: bool = True
    ) -> None:
        """Open the store in a folder, making both if ``create``.

        Raises:
            NotAMemoryError: the folder holds no store and ``create`` is False, or its file is something else.
            NewerFormatError: the store was written by a later release.
        """
        self.path = folder / FILE_NAME
        prepare_folder(folder, create=create)
        path = str(self.path)
        connections = Connections(
            self.path,
            durability=durability,
            busy_timeout_s=busy_timeout_s,
            admit=lambda connection: applied_steps(connection, path=path),
        )
        super().__init__(connections)
        try:
            with connections.reading() as connection:
                migrate(connection, path=path)
        except BaseException:
            connections.close()
            raise

    @classmethod
    @contextmanager
    def opened(cls, folder: Path) -> Iterator[Self]:
        """The store that is there already, closed at the end.

        Raises:
            NotAMemoryError: the folder holds no store.
            NewerFormatError: the store was written by a later release.
        """
        store = cls(folder, create=False)
        try:
            yield store
        finally:
            store.close()

    # -- writing

    def add(self, turn: Turn) -> Turn:
        """Store one turn and return it with its id and ordinal; if its source is there already, the stored turn.

        Raises:
            TurnError: an id that can't be an id, or that another turn has.
            StoreError: the file can't be written; nothing was stored.
        """
        with self._connections.writing() as connection:
            twin = _twin(connection, turn)
            if twin is not None:
                return self._one(connection, twin)[1]
            return Appending(connection).insert(turn)

    def append(
        self,
        items: Iterable[Turn | Conversation | Withheld],
        *,
        dry_run: bool = False,
        newer: bool = False,
        whole: bool = False,
    ) -> Appended:
        """Store turns verbatim, all in one transaction, and say which of them were there already.

        A turn with a source is there already when its (source name, conversation, native id) is. An empty
        ``turn_id`` is filled in (``t17``); an ordinal of ``NEXT`` becomes the next of its conversation. If the
        iterable raises, nothing of it is stored; a dry run stores nothing either and says what it would have done.

        With ``newer`` the items are the present state of their sources: a turn that was edited there is corrected,
        its earlier text kept. With ``whole`` they are whole conversations, each from a first turn to a last: a turn
        stored between these that is no longer among them is marked as vanished.

        Raises:
            TurnError: an id that can't be an id, or that another turn has.
            StoreError: the file can't be written; nothing was stored.
        """
        with self._connections.writing(discard=dry_run) as connection:
            appending = Appending(connection, newer=newer, whole=whole)
            for item in items:
                appending.take(item)
            return appending.done()

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

        Raises:
            UnknownTurnError: no turn has this id.
        """
        with self._connections.writing() as connection:
            row, old = self._one(connection, turn_id)
            new = replace(
                old,
                text=old.text if text is None else text,
                speaker=old.speaker if speaker is None else speaker,
                said_at=old.said_at if said_at is None else said_at,
                said_at_text=old.said_at_text if said_at is None else None,
                indexed=old.indexed if text is None else None,
            )
            seq = log(connection, "correct", row, _now())
            if keep_old:
                connection.execute(
                    "INSERT INTO versions VALUES (?, ?, ?, ?, ?)",
                    (row, seq, text_bytes(old.text), text_bytes(old.speaker), instant(old.said_at)),
                )
            span = new.indexed
            connection.execute(
                "UPDATE turns SET text = ?, sha256 = ?, speaker = ?, said_at = ?, said_at_text = ?, "
                "indexed_start = ?, indexed_end = ? WHERE row = ?",
                (
                    text_bytes(new.text),
                    digest(new.text),
                    text_bytes(new.speaker),
                    instant(new.said_at),
                    None if new.said_at_text is None else text_bytes(new.said_at_text),
                    None if span is None else span.start,
                    None if span is None else span.end,
                    row,
                ),
            )
        return new

    def remove(self, turn_ids: Sequence[str]) -> int:
        """Remove turns with their earlier versions, and return how many.

        Raises:
            UnknownTurnError: no turn has one of these ids; nothing was removed then.
        """
        now = _now()
        with self._connections.writing() as connection:
            for turn_id in turn_ids:
                row, _turn = self._one(connection, turn_id)
                connection.execute("DELETE FROM turns WHERE row = ?", (row,))
                connection.execute("DELETE FROM versions WHERE row = ?", (row,))
                connection.execute("DELETE FROM vanished WHERE row = ?", (row,))
                connection.execute("DELETE FROM returned_blocks WHERE row = ?", (row,))
                log(connection, "remove", row, now)
            connection.execute(
                "DELETE FROM conversations WHERE conversation_id NOT IN (SELECT conversation_id FROM turns)"
            )
        return len(turn_ids)

    def set_fact(self, name: str, value: str) -> None:
        """Remember something about the memory itself, such as its language."""
        with self._connections.writing() as connection:
            connection.execute(
                "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (name, value),
            )

    # -- the file

    @property
    def connections(self) -> Connections:
        """What the other tables of the same file are read and written through."""
        return self._connections

    def copy_to(self, target: Path) -> None:
        """Write a consistent copy of the live file (SQLite's online backup) to a path that doesn't exist yet.

        Raises:
            StoreError: the copy can't be written.
        """
        self._connections.copy_to(target)

    @contextmanager
    def held_alone(self) -> Iterator[None]:
        """Keep everybody else from the file, which is then without a write-ahead log; to replace it.

        Raises:
            MemoryLockedError: somebody else has the store open.
        """
        with self._connections.held_alone():
            yield

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
