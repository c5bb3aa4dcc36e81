"""One SQLite connection a thread, one writer at a time, and SQLite's errors as ours."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_rag.errors import MemoryLockedError, NotAMemoryError, StoreError


class Connections:
    """The connections of one process to one file.

    Readers see the last committed state (WAL); writers of this process queue at ``_writer``, writers of other
    processes at SQLite's own lock for ``busy_timeout_s``.
    """

    def __init__(self, path: Path, *, durability: str, busy_timeout_s: float) -> None:
        self.path = path
        self._synchronous = "FULL" if durability == "full" else "NORMAL"
        self._busy_timeout_ms = int(busy_timeout_s * 1000)
        self._local = threading.local()
        self._writer = threading.RLock()
        self._all: list[sqlite3.Connection] = []
        self._all_lock = threading.Lock()
        self._pid = os.getpid()
        self._closed = False

    @property
    def here(self) -> sqlite3.Connection:
        """This thread's connection.

        Raises:
            StoreError: the memory is closed, or was opened before this process was forked.
        """
        if self._closed:
            raise StoreError(f"the memory at {self.path.parent} is closed; open it again with Memory.open")
        if self._pid != os.getpid():
            # An SQLite handle and FAISS's thread pool are both broken in a forked child.
            raise StoreError(
                f"the memory at {self.path.parent} was opened before this process was forked; open it in the child"
            )
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
        return connection

    def _connect(self) -> sqlite3.Connection:
        with sqlite_errors(self.path):
            connection = sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False, cached_statements=256
            )
            connection.execute(f"PRAGMA busy_timeout = {self._busy_timeout_ms}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA cache_size = -16384")
        with self._all_lock:
            self._all.append(connection)
        return connection

    @contextmanager
    def writing(self, *, discard: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction that either is committed whole or leaves nothing; ``discard`` leaves nothing in any case."""
        with self._writer, sqlite_errors(self.path):
            connection = self.here
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("ROLLBACK" if discard else "COMMIT")
            except BaseException:
                # A full disk has already rolled back; a second ROLLBACK would hide the first error.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection to read from, with SQLite's errors turned into ours."""
        with sqlite_errors(self.path):
            yield self.here

    def close(self) -> None:
        """Close every thread's connection; the last one out folds the write-ahead log into the file."""
        self._closed = True
        with self._all_lock:
            while self._all:
                self._all.pop().close()


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn an SQLite error into one of ours that says what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            raise MemoryLockedError(
                f"{path} is locked by another process ({text}); wait for it, or raise busy_timeout_s"
            ) from error
        if "full" in text:
            raise StoreError(
                f"the disk that holds {path} is full ({text}); nothing of this change was stored, free some space and repeat it"
            ) from error
        if "readonly" in text or "unable to open" in text:
            raise StoreError(
                f"{path} can't be written ({text}); a memory needs a folder and files that you may write to"
            ) from error
        if "not a database" in text:
            raise NotAMemoryError(f"{path} is not a store of memory_rag ({text})") from error
        raise StoreError(f"{path}: {text}; check the file with: memory-rag doctor") from error
