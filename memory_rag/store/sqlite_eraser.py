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
_BETWEEN_WRITES_S: Final = 0.001
_LONGEST_MS: Final = 2**31 - 1
"""SQLite takes a longer time for none."""
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
        while True:
            try:
                # The log is folded where nobody of this process writes meanwhile. Asked again and again rather than
                # waited for: a checkpoint that waits keeps every writer out.
                with self._connections.apart() as connection:
                    why = WRITERS if self._is_folded(connection) else READERS
                    if why == WRITERS and self._is_cleaned(connection, deadline=deadline):
                        return ""
            except UnknownLayoutError:
                if is_rewritten:
                    return ""
                self._rewrite(deadline=deadline)
                is_rewritten = True
                continue
            if time.monotonic() >= deadline:
                return why
            time.sleep(_LOOKED_EVERY_S if why == READERS else _BETWEEN_WRITES_S)

    def _is_much_free(self) -> bool:
        with self._connections.reading() as connection:
            (n_free,), (n_pages,) = (
                connection.execute(f"PRAGMA {what}").fetchone() for what in ("freelist_count", "page_count")
            )
        return bool(n_free > n_pages * _FREE_SHARE)

    def _is_folded(self, connection: Connection) -> bool:
        """Fold the write-ahead log into the file and cut it to nothing; False while somebody reads an old state."""
        try:
            with _waiting(connection, 0), self._connections.errors():
                is_held, _log, _folded = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except MemoryLockedError:
            return False
        return not is_held

    def _is_cleaned(self, connection: Connection, *, deadline: float) -> bool:
        """Write zeros over what belongs to nothing in the file; False if somebody wrote since the log was folded.

        Raises:
            UnknownLayoutError: only SQLite knows what belongs to nothing in it.
        """
        path = self._connections.path
        log = path.with_name(f"{path.name}-wal")
        with _waiting(connection, deadline):
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
                raise StoreError(
                    f"{path} can't be written ({error.strerror}); bytes of what was removed may be left in it"
                ) from error
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        return True

    def _rewrite(self, *, deadline: float) -> None:
        """Write every page of the file anew, into the write-ahead log."""
        with self._connections.reading() as connection, _waiting(connection, deadline):
            connection.execute("VACUUM")


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
    left_ms = min(max(0.0, (deadline - time.monotonic()) * 1000), _LONGEST_MS)
    connection.execute(f"PRAGMA busy_timeout = {int(left_ms)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {before}")
