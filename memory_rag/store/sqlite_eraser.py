"""What SQLite leaves of removed rows, overwritten where it lies while the memory is in use.

``secure_delete`` writes zeros over what is deleted. Two things stay: old copies of cells in gaps of pages
(:mod:`memory_rag.store.remnants`), and whole pages as they were in the write-ahead log. A truncating checkpoint folds
the log into the file and cuts it to nothing, which has to wait for whoever still reads an older state; then zeros are
written over the gaps. ``VACUUM``, which writes every page of the file anew, is left for a file of which a good part is
free, and for one that is laid out otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from memory_rag.errors import MemoryLockedError, StoreError
from memory_rag.store.connections import Connection, Connections
from memory_rag.store.remnants import Layout, UnknownLayoutError, erase, remnants

READERS: Final = "another process, or a thread of this one, still reads an older state of the memory"
WRITERS: Final = "another process writes to the memory all the time"
_LOOKED_EVERY_S: Final = 0.02
_FREE_SHARE: Final = 0.25
"""Of the pages, so many may be free before the file is written anew, and so made smaller."""


class SqliteEraser:
    """Overwrites what is left in SQLite's file and its write-ahead log."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def overwrite(self, *, timeout_s: float, anew: bool = False) -> str:
        """Fold the log and write zeros over what belongs to nothing, or every page anew; say why if it can't be done.

        Raises:
            MemoryLockedError: another process writes for longer than ``timeout_s``.
            StoreError: the disk is full or can't be written.
        """
        deadline = time.monotonic() + timeout_s
        if is_rewritten := anew or self._is_much_free():
            self._rewrite(deadline=deadline)
        while self._fold(deadline=deadline):
            try:
                if self._cleaned(deadline=deadline):
                    return ""
            except UnknownLayoutError:
                if is_rewritten:
                    return ""
                self._rewrite(deadline=deadline)
                is_rewritten = True
            else:
                if time.monotonic() >= deadline:
                    return WRITERS
        return READERS

    def _is_much_free(self) -> bool:
        with self._connections.reading() as connection:
            (n_free,), (n_pages,) = (
                connection.execute(f"PRAGMA {what}").fetchone() for what in ("freelist_count", "page_count")
            )
        return bool(n_free > n_pages * _FREE_SHARE)

    def _cleaned(self, *, deadline: float) -> bool:
        """Write zeros over what belongs to nothing in the file; False if somebody wrote since the log was folded.

        Raises:
            UnknownLayoutError: only SQLite knows what belongs to nothing in it.
        """
        path = self._connections.path
        log = path.with_name(f"{path.name}-wal")
        with self._connections.apart() as connection, _waiting(connection, deadline):
            # With this lock and an empty log nobody can change a page of the file, not even by a checkpoint.
            connection.execute("BEGIN IMMEDIATE")
            try:
                if log.exists() and log.stat().st_size:
                    return False
                descriptor = self._connections.held_files.descriptor(path, writable=True)
                erase(descriptor, remnants(descriptor, Layout.of(descriptor)))
                # Even if nothing was left: whoever was killed before this may have written over it.
                _let_others_read_anew(connection)
                connection.execute("COMMIT")
            except OSError as error:
                raise StoreError(f"{path} can't be written ({error.strerror})") from error
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        return True

    def _rewrite(self, *, deadline: float) -> None:
        """Write every page of the file anew, into the write-ahead log."""
        with self._connections.reading() as connection, _waiting(connection, deadline):
            connection.execute("VACUUM")

    def _fold(self, *, deadline: float) -> bool:
        """Fold the write-ahead log into the file and cut it to nothing; False if somebody read an old state so long.

        Asked again and again rather than waited for: a checkpoint that waits keeps every writer out meanwhile.
        """
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


def _let_others_read_anew(connection: Connection) -> None:
    """Change the file in nothing, by a commit after which every connection drops the pages that it has read.

    A page that one has in memory still has its gap as it was, which would come back with the next row that is written
    there.
    """
    connection.execute("INSERT INTO erasing VALUES (0, 0, 1)")
    connection.execute("DELETE FROM erasing WHERE row = 0")


@contextmanager
def _waiting(connection: Connection, deadline: float) -> Iterator[None]:
    """Let a connection wait for others until then."""
    before = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {max(0, int((deadline - time.monotonic()) * 1000))}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {before}")


def _is_locked(error: Exception) -> bool:
    return isinstance(error, MemoryLockedError) or "locked" in str(error)
