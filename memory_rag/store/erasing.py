"""Bytes of what was removed: noted until they are overwritten, and overwritten as far as the engine can.

In SQLite's file they are, once nobody reads an old state any more. ``secure_delete`` writes zeros over what is
deleted, but a page that was split keeps a stale copy of cells that moved, and the write-ahead log keeps whole pages as
they were. ``VACUUM`` writes every page anew; a truncating checkpoint then folds the log into the file and cuts it to
nothing, which has to wait for whoever still reads an older state.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

from memory_rag.errors import MemoryLockedError
from memory_rag.store.engine import Connection, Connections

READERS: Final = "another process, or a thread of this one, still reads an older state of the memory"
_LOOKED_EVERY_S: Final = 0.02


class Eraser(Protocol):
    """What an engine does to the bytes that it left of removed rows."""

    def overwrite(self, *, timeout_s: float, anew: bool = False) -> str:
        """Do away with them, and return why some may be left; empty if none are.

        Waits ``timeout_s`` at most for others who hold on to an older state. With ``anew`` the files are written anew
        where that isn't done in any case, and others wait meanwhile.

        Raises:
            MemoryLockedError: another process writes for longer than ``timeout_s``.
            StoreError: it can't be done; it can be tried again.
        """
        ...


@dataclass(frozen=True, slots=True)
class Cell:
    """A value that is kept: its table, column and row, and its bytes."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What was done to the bytes of removed rows on a server, and what nobody can know from here, a line each."""

    done: tuple[str, ...]
    beyond: tuple[str, ...]


@runtime_checkable
class ServerEraser(Eraser, Protocol):
    """That of an engine whose files can't be read from here; what is kept can be asked for, row by row."""

    def rows(self) -> Iterator[Sequence[Cell]]:
        """Yield every row of the memory, in every table of it, as they are at this moment."""
        ...

    def words(self) -> Iterator[str]:
        """Yield the words that the engine writes into its rows itself."""
        ...

    def vectors(self) -> Iterator[tuple[Sequence[int], Any]]:
        """Yield, embedder by embedder, the rows of the turns that have vectors, and these, shapes (n,) and (n, dim)."""
        ...

    @property
    def aftermath(self) -> Aftermath: ...


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The rows whose bytes are still to be overwritten, each with when that was noted, and those of them whose files
    beside the store are done.

    A row that is noted again meanwhile, by another process, has another instant: what was done for the first is not
    done for the second.
    """

    since: Mapping[int, int]
    files_done: frozenset[int]

    def __bool__(self) -> bool:
        return bool(self.since)

    @property
    def files_waiting(self) -> dict[int, int]:
        return {row: since for row, since in self.since.items() if row not in self.files_done}


class Erasing:
    """What of a store's file, and of the files beside it, is still to be overwritten."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def unfinished(self) -> Unfinished:
        with self._connections.reading() as connection:
            found = connection.execute("SELECT row, since, files_done FROM erasing ORDER BY row").fetchall()
        return Unfinished(
            {int(row): int(since) for row, since, _ in found}, frozenset(int(row) for row, _, done in found if done)
        )

    def note_files_done(self, since: Mapping[int, int]) -> None:
        """Note that the files beside the store hold nothing any more of these rows, as they were noted ``since``."""
        with self._connections.writing() as connection:
            connection.executemany("UPDATE erasing SET files_done = 1 WHERE row = ? AND since = ?", since.items())

    def done(self, since: Mapping[int, int]) -> None:
        """Note that nothing is left anywhere of these rows, as they were noted ``since``."""
        with self._connections.writing() as connection:
            connection.executemany("DELETE FROM erasing WHERE row = ? AND since = ? AND files_done = 1", since.items())


class SqliteEraser:
    """Writes SQLite's file anew."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def overwrite(self, *, timeout_s: float, anew: bool = False) -> str:
        """Write every page anew, which ``anew`` needn't ask for, and fold the log; say why if that can't be done."""
        del anew
        self._rewrite(timeout_s=timeout_s)
        return "" if self._fold(timeout_s=timeout_s) else READERS

    def _rewrite(self, *, timeout_s: float) -> None:
        """Write every page of the file anew, into the write-ahead log.

        Raises:
            MemoryLockedError: another process writes for longer than ``timeout_s``.
            StoreError: the disk is full.
        """
        with self._connections.reading() as connection, _waiting(connection, timeout_s):
            connection.execute("VACUUM")

    def _fold(self, *, timeout_s: float) -> bool:
        """Fold the write-ahead log into the file and cut it to nothing; False if somebody read an old state so long.

        Asked again and again rather than waited for: a checkpoint that waits keeps every writer out meanwhile.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            with self._connections.reading() as connection, _waiting(connection, 0):
                try:
                    is_busy, _log, _folded = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                except Exception as error:
                    if not _is_locked(error):
                        raise
                    is_busy = 1
            if not is_busy:
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(_LOOKED_EVERY_S)


def is_unfinished(connections: Connections) -> bool:
    """Tell whether something was removed of which bytes may be left."""
    return n_unfinished(connections) > 0


def n_unfinished(connections: Connections) -> int:
    """Count the turns of which bytes that were removed may be left."""
    with connections.reading() as connection:
        return int(connection.execute("SELECT count(*) FROM erasing").fetchone()[0])


def has_rules(connections: Connections) -> bool:
    """Tell whether turns go by themselves after some time."""
    with connections.reading() as connection:
        return connection.execute("SELECT 1 FROM retention LIMIT 1").fetchone() is not None


@contextmanager
def _waiting(connection: Connection, timeout_s: float) -> Iterator[None]:
    """Let a connection wait for others so long."""
    before = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {int(timeout_s * 1000)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {before}")


def _is_locked(error: Exception) -> bool:
    return isinstance(error, MemoryLockedError) or "locked" in str(error)
