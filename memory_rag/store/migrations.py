"""The store's tables, as named steps that are applied in order and recorded."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime

from memory_rag.errors import NewerFormatError

Step = Callable[[sqlite3.Connection], None]


def m001_turns_and_changes(connection: sqlite3.Connection) -> None:
    """Turns with their earlier versions, the change log, conversations, and settings of the memory.

    Texts are BLOBs (UTF-8, surrogates passed through), so that no engine setting can touch them. ``row`` is an
    explicit INTEGER PRIMARY KEY: VACUUM renumbers implicit rowids, and AUTOINCREMENT never gives a number twice.
    """
    for statement in (
        """CREATE TABLE turns (
            row INTEGER PRIMARY KEY AUTOINCREMENT,
            turn_id TEXT NOT NULL UNIQUE,
            conversation_id TEXT NOT NULL,
            session_id TEXT NOT NULL,
            ordinal INTEGER NOT NULL,
            role TEXT NOT NULL,
            speaker BLOB NOT NULL,
            text BLOB NOT NULL,
            sha256 BLOB NOT NULL,
            said_at INTEGER,
            said_at_text BLOB,
            blocks BLOB,
            source_name TEXT,
            source_id TEXT,
            raw BLOB,
            recalled INTEGER NOT NULL,
            indexed_start INTEGER,
            indexed_end INTEGER)""",
        "CREATE UNIQUE INDEX turns_by_source ON turns (source_name, conversation_id, source_id) "
        "WHERE source_name IS NOT NULL",
        "CREATE INDEX turns_by_conversation ON turns (conversation_id, ordinal)",
        """CREATE TABLE versions (
            row INTEGER NOT NULL,
            replaced_by INTEGER NOT NULL,
            text BLOB NOT NULL,
            speaker BLOB NOT NULL,
            said_at INTEGER,
            PRIMARY KEY (row, replaced_by)) WITHOUT ROWID""",
        "CREATE TABLE conversations (conversation_id TEXT PRIMARY KEY, title BLOB NOT NULL) WITHOUT ROWID",
        """CREATE TABLE changes (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL CHECK (kind IN ('add', 'correct', 'remove')),
            row INTEGER NOT NULL,
            changed_at INTEGER NOT NULL)""",
        "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    ):
        connection.execute(statement)


STEPS: tuple[Step, ...] = (m001_turns_and_changes,)


def migrate(connection: sqlite3.Connection, *, path: str) -> None:
    """Bring the tables to the present format, one recorded step at a time, all or none.

    Raises:
        NewerFormatError: the file holds a step that this release doesn't know.
    """
    names = [step.__name__ for step in STEPS]
    if _applied(connection, path=path, known=names) == names:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) WITHOUT ROWID"
        )
        # Another process may have migrated between the look above and this lock.
        applied = _applied(connection, path=path, known=names)
        for step in STEPS[len(applied) :]:
            step(connection)
            connection.execute(
                "INSERT INTO migrations VALUES (?, ?)", (step.__name__, datetime.now(UTC).isoformat())
            )
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _applied(connection: sqlite3.Connection, *, path: str, known: list[str]) -> list[str]:
    exists = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").fetchone()
    applied = [row[0] for row in connection.execute("SELECT name FROM migrations ORDER BY name")] if exists else []
    unknown = [name for name in applied if name not in known]
    if unknown:
        raise NewerFormatError(
            f"{path} was written by a later release of memory_rag (it has {', '.join(unknown)}); "
            "nothing was changed; install that release or a later one to open it"
        )
    return applied
