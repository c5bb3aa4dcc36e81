"""The only copy of the words: turns in SQLite, each change numbered."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

from memory_rag.errors import NotAMemoryError, TurnError, UnknownTurnError
from memory_rag.store.connections import Connections
from memory_rag.store.migrations import migrate
from memory_rag.turns import (
    Block,
    Conversation,
    Role,
    Source,
    Span,
    Turn,
    from_microseconds,
    text_bytes,
    text_from_bytes,
    to_microseconds,
)

FILE_NAME: Final = "turns.sqlite"
NEXT: Final = -1
"""As a turn's ordinal: the next free one of its conversation."""

_COLUMNS: Final = (
    "row, turn_id, conversation_id, session_id, ordinal, role, speaker, text, said_at, said_at_text, "
    "blocks, source_name, source_id, raw, recalled, indexed_start, indexed_end"
)
_FETCH: Final = 500


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the change log; ``row`` is the turn's number in this store, never given twice."""

    seq: int
    kind: str
    row: int


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append did: the ids of the turns stored now, in order, and how many were there already.

    ``differing`` names those of the latter whose source now gives another text; the stored text stays.
    """

    turn_ids: tuple[str, ...] = ()
    already_there: int = 0
    differing: tuple[str, ...] = ()


class TurnStore(Protocol):
    """Where words are kept. One contract suite (tests/contracts) holds for every implementation."""

    @property
    def last_seq(self) -> int: ...
    def add(self, turn: Turn) -> Turn: ...
    def append(self, items: Iterable[Turn | Conversation], *, dry_run: bool = False) -> Appended: ...
    def correct(
        self,
        turn_id: str,
        *,
        text: str | None = None,
        speaker: str | None = None,
        said_at: datetime | None = None,
        keep_old: bool = True,
    ) -> Turn: ...
    def remove(self, turn_ids: Sequence[str]) -> int: ...
    def get(self, turn_ids: Sequence[str]) -> list[Turn]: ...
    def turns_at(self, rows: Sequence[int]) -> dict[int, Turn]: ...
    def scan(self, *, conversation_id: str | None = None) -> Iterator[tuple[int, Turn]]: ...
    def changes_since(self, seq: int) -> list[Change]: ...
    def __len__(self) -> int: ...


class SqliteTurnStore:
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
        if not self.path.is_file() and not create:
            raise NotAMemoryError(
                f"{folder} holds no memory (no {FILE_NAME}); make one with: memory-rag add or memory-rag import"
            )
        _make_private_folder(folder)
        if not self.path.exists():
            # Made by us and not by SQLite, so that the file and its WAL (which copies its mode) are ours alone.
            self.path.touch(mode=0o600, exist_ok=True)
        self._connections = Connections(self.path, durability=durability, busy_timeout_s=busy_timeout_s)
        try:
            with self._connections.reading() as connection:
                migrate(connection, path=str(self.path))
        except BaseException:
            self._connections.close()
            raise

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
                return self._one(connection, twin[0])[1]
            return _insert(connection, turn, _now())

    def append(self, items: Iterable[Turn | Conversation], *, dry_run: bool = False) -> Appended:
        """Store turns verbatim, all in one transaction, and say which of them were there already.

        A turn with a source is there already when its (source name, conversation, native id) is. An empty
        ``turn_id`` is filled in (``t17``); an ordinal of ``NEXT`` becomes the next of its conversation. If the
        iterable raises, nothing of it is stored; a dry run stores nothing either and says what it would have done.

        Raises:
            TurnError: an id that can't be an id, or that another turn has.
            StoreError: the file can't be written; nothing was stored.
        """
        stored: list[str] = []
        already_there = 0
        differing: list[str] = []
        now = _now()
        with self._connections.writing(discard=dry_run) as connection:
            for item in items:
                if isinstance(item, Conversation):
                    _store_title(connection, item)
                    continue
                twin = _twin(connection, item)
                if twin is None:
                    stored.append(_insert(connection, item, now).turn_id)
                    continue
                already_there += 1
                if twin[1] != _digest(item.text):
                    differing.append(twin[0])
        return Appended(tuple(stored), already_there, tuple(differing))

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
            seq = _log(connection, "correct", row, _now())
            if keep_old:
                connection.execute(
                    "INSERT INTO versions VALUES (?, ?, ?, ?, ?)",
                    (row, seq, text_bytes(old.text), text_bytes(old.speaker), _instant(old.said_at)),
                )
            span = new.indexed
            connection.execute(
                "UPDATE turns SET text = ?, sha256 = ?, speaker = ?, said_at = ?, said_at_text = ?, "
                "indexed_start = ?, indexed_end = ? WHERE row = ?",
                (
                    text_bytes(new.text),
                    _digest(new.text),
                    text_bytes(new.speaker),
                    _instant(new.said_at),
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
                _log(connection, "remove", row, now)
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

    # -- reading

    @property
    def last_seq(self) -> int:
        """The number of the newest change; 0 for a store in which nothing ever happened."""
        with self._connections.reading() as connection:
            return int(connection.execute("SELECT ifnull(max(seq), 0) FROM changes").fetchone()[0])

    def fact(self, name: str) -> str | None:
        with self._connections.reading() as connection:
            found = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def __len__(self) -> int:
        with self._connections.reading() as connection:
            return int(connection.execute("SELECT count(*) FROM turns").fetchone()[0])

    def get(self, turn_ids: Sequence[str]) -> list[Turn]:
        """Return the turns with these ids, in this order.

        Raises:
            UnknownTurnError: no turn has one of them.
        """
        with self._connections.reading() as connection:
            return [self._one(connection, turn_id)[1] for turn_id in turn_ids]

    def row_of(self, turn_id: str) -> int:
        """Return the number under which the indexes know a turn.

        Raises:
            UnknownTurnError: no turn has this id.
        """
        with self._connections.reading() as connection:
            return self._one(connection, turn_id)[0]

    def turns_at(self, rows: Sequence[int]) -> dict[int, Turn]:
        """Return the turns at these row numbers; a row whose turn is gone is left out."""
        found: dict[int, Turn] = {}
        with self._connections.reading() as connection:
            for start in range(0, len(rows), _FETCH):
                part = [int(row) for row in rows[start : start + _FETCH]]
                marks = ",".join("?" * len(part))
                for record in connection.execute(
                    f"SELECT {_COLUMNS} FROM turns WHERE row IN ({marks})", part
                ):
                    found[record[0]] = _turn(record)
        return found

    def scan(self, *, conversation_id: str | None = None) -> Iterator[tuple[int, Turn]]:
        """Yield (row, turn): a conversation in spoken order, or everything in stored order."""
        where, order = "", "row"
        values: tuple[str, ...] = ()
        if conversation_id is not None:
            where, order, values = "WHERE conversation_id = ?", "ordinal, row", (conversation_id,)
        # A cursor of its own connection state: the caller may write between two turns.
        with self._connections.reading() as connection:
            rows = [r[0] for r in connection.execute(f"SELECT row FROM turns {where} ORDER BY {order}", values)]
        for start in range(0, len(rows), _FETCH):
            part = rows[start : start + _FETCH]
            turns = self.turns_at(part)
            yield from ((row, turns[row]) for row in part if row in turns)

    def containing(self, text: str) -> Iterator[tuple[int, Turn]]:
        """Yield (row, turn) of those whose stored text holds these exact code points, in stored order."""
        with self._connections.reading() as connection:
            # instr on BLOBs compares bytes; LIKE on a trigram table loses two-character words in SQLite 3.40.
            rows = [
                r[0]
                for r in connection.execute(
                    "SELECT row FROM turns WHERE instr(text, ?) > 0 ORDER BY row", (text_bytes(text),)
                )
            ]
        for start in range(0, len(rows), _FETCH):
            part = rows[start : start + _FETCH]
            turns = self.turns_at(part)
            yield from ((row, turns[row]) for row in part if row in turns)

    def changes_since(self, seq: int) -> list[Change]:
        """Return the changes after this one, oldest first."""
        with self._connections.reading() as connection:
            return [
                Change(*record)
                for record in connection.execute(
                    "SELECT seq, kind, row FROM changes WHERE seq > ? ORDER BY seq", (seq,)
                )
            ]

    def conversations(self) -> list[Conversation]:
        """Return every conversation that has turns, with the title its source gave it, by id."""
        with self._connections.reading() as connection:
            return [
                Conversation(record[0], text_from_bytes(record[1] or b""))
                for record in connection.execute(
                    "SELECT DISTINCT turns.conversation_id, title FROM turns LEFT JOIN conversations "
                    "USING (conversation_id) ORDER BY turns.conversation_id"
                )
            ]

    def neighbours(self, turn_id: str, *, before: int, after: int) -> list[Turn]:
        """Return a turn amid the turns said just before and after it in its conversation, in spoken order.

        Raises:
            UnknownTurnError: no turn has this id.
        """
        with self._connections.reading() as connection:
            row, turn = self._one(connection, turn_id)
            key = (turn.conversation_id, turn.ordinal, row)
            earlier = connection.execute(
                f"SELECT {_COLUMNS} FROM turns WHERE conversation_id = ? AND (ordinal, row) < (?, ?) "
                "ORDER BY ordinal DESC, row DESC LIMIT ?",
                (*key, before),
            ).fetchall()
            later = connection.execute(
                f"SELECT {_COLUMNS} FROM turns WHERE conversation_id = ? AND (ordinal, row) > (?, ?) "
                "ORDER BY ordinal, row LIMIT ?",
                (*key, after),
            ).fetchall()
        return [*(_turn(r) for r in reversed(earlier)), turn, *(_turn(r) for r in later)]

    def check(self) -> list[str]:
        """Return what is wrong with the file, a line each: SQLite's own check, and each text against its SHA-256."""
        with self._connections.reading() as connection:
            problems = [r[0] for r in connection.execute("PRAGMA integrity_check") if r[0] != "ok"]
            for turn_id, text, digest in connection.execute("SELECT turn_id, text, sha256 FROM turns"):
                if hashlib.sha256(text).digest() != digest:
                    problems.append(f"turn {turn_id}: its text doesn't have the SHA-256 it was stored with")
        return problems

    def copy_to(self, target: Path) -> None:
        """Write a consistent copy of the live file (SQLite's online backup) to a path that doesn't exist yet."""
        with self._connections.reading() as connection:
            copy = sqlite3.connect(target)
            try:
                connection.backup(copy)
            finally:
                copy.close()

    def close(self) -> None:
        self._connections.close()

    def _one(self, connection: sqlite3.Connection, turn_id: str) -> tuple[int, Turn]:
        record = connection.execute(f"SELECT {_COLUMNS} FROM turns WHERE turn_id = ?", (turn_id,)).fetchone()
        if record is None:
            raise UnknownTurnError(
                f"no turn has the id {turn_id!r} in {self.path.parent}; find ids with: memory-rag search"
            )
        return record[0], _turn(record)


def _insert(connection: sqlite3.Connection, turn: Turn, now: int) -> Turn:
    row = connection.execute("SELECT ifnull(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'turns'").fetchone()[0]
    turn_id = turn.turn_id or f"t{row}"
    if connection.execute("SELECT 1 FROM turns WHERE turn_id = ?", (turn_id,)).fetchone():
        if turn.turn_id:
            raise TurnError(
                f"a turn with the id {turn_id!r} is stored already; leave turn_id empty to get a new one, "
                "or correct the stored turn"
            )
        turn_id = f"t{row}-{now}"
    ordinal = turn.ordinal
    if ordinal == NEXT:
        ordinal = connection.execute(
            "SELECT ifnull(max(ordinal), -1) + 1 FROM turns WHERE conversation_id = ?", (turn.conversation_id,)
        ).fetchone()[0]
    source, span = turn.source, turn.indexed
    for name, value in (
        ("turn_id", turn_id),
        ("conversation_id", turn.conversation_id),
        ("session_id", turn.session_id),
        *((("source name", source.name), ("source id", source.native_id)) if source else ()),
    ):
        _check_id(name, value)
    connection.execute(
        "INSERT INTO turns VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            row,
            turn_id,
            turn.conversation_id,
            turn.session_id,
            ordinal,
            turn.role.value,
            text_bytes(turn.speaker),
            text_bytes(turn.text),
            _digest(turn.text),
            _instant(turn.said_at),
            None if turn.said_at_text is None else text_bytes(turn.said_at_text),
            _blocks_to_bytes(turn.blocks),
            source.name if source else None,
            source.native_id if source else None,
            text_bytes(source.raw) if source and source.raw is not None else None,
            int(turn.recalled),
            None if span is None else span.start,
            None if span is None else span.end,
        ),
    )
    _log(connection, "add", row, now)
    if turn_id == turn.turn_id and ordinal == turn.ordinal:
        return turn
    return replace(turn, turn_id=turn_id, ordinal=ordinal)


def _twin(connection: sqlite3.Connection, turn: Turn) -> tuple[str, bytes] | None:
    if turn.source is None:
        return None
    found: tuple[str, bytes] | None = connection.execute(
        "SELECT turn_id, sha256 FROM turns WHERE source_name = ? AND conversation_id = ? AND source_id = ?",
        (turn.source.name, turn.conversation_id, turn.source.native_id),
    ).fetchone()
    return found


def _store_title(connection: sqlite3.Connection, conversation: Conversation) -> None:
    _check_id("conversation_id", conversation.conversation_id)
    connection.execute(
        "INSERT INTO conversations VALUES (?, ?) ON CONFLICT (conversation_id) DO UPDATE SET title = excluded.title",
        (conversation.conversation_id, text_bytes(conversation.title)),
    )


def _log(connection: sqlite3.Connection, kind: str, row: int, now: int) -> int:
    cursor = connection.execute("INSERT INTO changes (kind, row, changed_at) VALUES (?, ?, ?)", (kind, row, now))
    return int(cursor.lastrowid or 0)


def _turn(record: Sequence[object]) -> Turn:
    (_row, turn_id, conversation_id, session_id, ordinal, role, speaker, text, said_at, said_at_text) = record[:10]
    blocks, source_name, source_id, raw, recalled, start, end = record[10:]
    return Turn(
        turn_id=turn_id,  # type: ignore[arg-type]
        conversation_id=conversation_id,  # type: ignore[arg-type]
        session_id=session_id,  # type: ignore[arg-type]
        ordinal=ordinal,  # type: ignore[arg-type]
        role=Role(str(role)),
        speaker=text_from_bytes(speaker),  # type: ignore[arg-type]
        text=text_from_bytes(text),  # type: ignore[arg-type]
        said_at=None if said_at is None else from_microseconds(said_at),  # type: ignore[arg-type]
        said_at_text=None if said_at_text is None else text_from_bytes(said_at_text),  # type: ignore[arg-type]
        blocks=_blocks_from_bytes(blocks),  # type: ignore[arg-type]
        source=None
        if source_name is None
        else Source(source_name, source_id, None if raw is None else text_from_bytes(raw)),  # type: ignore[arg-type]
        recalled=bool(recalled),
        indexed=None if start is None else Span(start, end),  # type: ignore[arg-type]
    )


def _blocks_to_bytes(blocks: tuple[Block, ...]) -> bytes | None:
    if not blocks:
        return None
    listed = [{"kind": b.kind, "data": b.data, "caption": b.caption} for b in blocks]
    return text_bytes(json.dumps(listed, ensure_ascii=False))


def _blocks_from_bytes(data: bytes | None) -> tuple[Block, ...]:
    if data is None:
        return ()
    return tuple(Block(b["kind"], b["data"], b["caption"]) for b in json.loads(text_from_bytes(data)))


def _now() -> int:
    return time.time_ns() // 1000


def _digest(text: str) -> bytes:
    return hashlib.sha256(text_bytes(text)).digest()


def _instant(value: datetime | None) -> int | None:
    return None if value is None else to_microseconds(value)


def _check_id(name: str, value: str) -> None:
    if not value or len(value) > 1000 or "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise TurnError(
            f"{name} {value[:80]!r} can't be an id; an id is 1 to 1000 characters without NUL and lone surrogates"
        )


def _make_private_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise NotAMemoryError(f"{folder} is a file, not the folder of a memory") from error
    except OSError as error:
        raise NotAMemoryError(
            f"the folder {folder} can't be made ({error.strerror}); choose another with --memory"
        ) from error
