"""One SQLite connection a thread, one writer at a time, and SQLite's errors as ours."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from memory_rag.errors import DiskFullError, MemoryLockedError, NotAMemoryError, StoreError
from memory_rag.store.catalogue import SqliteCatalogue
from memory_rag.store.folder import IF_DAMAGED, damaged_text
from memory_rag.store.held_files import HeldFiles
from memory_rag.store.in_use import InUse
from memory_rag.store.open_file import OpenFile
from memory_rag.store.own_connection import OwnConnection
from memory_rag.store.screening import OpenDoor, Screen
from memory_rag.store.snapshot import Snapshot

Connection = sqlite3.Connection
_Opened = OwnConnection[Connection]


class SqliteErrors:
    """Turns SQLite's errors, and with ``garbled`` sqlite3's on a text that can't be one, into ours, which help."""

    __slots__ = ("_garbled", "_path")

    def __init__(self, path: Path, *, garbled: bool = False) -> None:
        self._path = path
        self._garbled = garbled

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise _as_ours(error, self._path) from error
        if self._garbled and isinstance(error, UnicodeDecodeError):
            raise StoreError(damaged_text(self._path, str(error))) from error


class Connections:
    """The connections of one process to one file.

    Readers see the last committed state (WAL); writers of this process queue at ``_writer``, writers of other
    processes at SQLite's own lock for ``busy_timeout_s``. ``admit`` is called with each new connection before
    anything of the file is changed, and raises for a file that isn't ours.
    """

    def __init__(
        self, path: Path, *, durability: str, busy_timeout_s: float, admit: Callable[[Connection], object]
    ) -> None:
        self.path = path
        self.place = str(path.parent)
        self._admit = admit
        self._synchronous = "FULL" if durability == "full" else "NORMAL"
        self._busy_timeout_ms = int(busy_timeout_s * 1000)
        self._errors, self._garbled = SqliteErrors(path), SqliteErrors(path, garbled=True)
        self._local = threading.local()
        self._writer = threading.RLock()
        self._all: weakref.WeakSet[_Opened] = weakref.WeakSet()
        self._all_lock = threading.Lock()
        self._closed = False
        self.screen: Screen = OpenDoor()
        """What every text passes before it is written, in whichever table."""
        self.catalogue = SqliteCatalogue()
        try:
            self._file = OpenFile(path)
            self.held_files = HeldFiles(path)
        except OSError as error:
            raise StoreError(f"{path} can't be read ({error.strerror})") from error

    @property
    def is_forked(self) -> bool:
        """Whether this process was forked after the file was opened."""
        return self._file.pid != os.getpid()

    def refuse_if_forked(self) -> None:
        """Fail in a process that was forked after the memory was opened.

        An SQLite handle and FAISS's thread pool are both broken in a forked child, and so is a lock that another
        thread held: ask before waiting for one.

        Raises:
            StoreError: this process was forked since.
        """
        if self.is_forked:
            raise StoreError(
                f"the memory at {self.place} was opened before this process was forked; open it in the child"
            )

    def errors(self) -> AbstractContextManager[None]:
        """Turn SQLite's errors into ours."""
        return self._errors

    def acquired(self, name: str) -> _Opened:
        """Return this thread's connection of a name, opened if there is none, with its lock, so that nobody closes it.

        Raises:
            StoreError: the memory is closed, its file was deleted or replaced, or this process was forked since.
        """
        self.refuse_if_forked()
        opened: _Opened | None = getattr(self._local, name, None)
        if opened is not None and opened.n_uses:
            # Within another reading, which has looked at the file and keeps it from being closed.
            opened.in_use.acquire()
            opened.n_uses += 1
            return opened
        self._refuse_if_closed()
        self._refuse_if_gone()
        if opened is None:
            opened = self._open()
            setattr(self._local, name, opened)
        opened.in_use.acquire()
        if self._closed:
            opened.in_use.release()
            self._refuse_if_closed()
        opened.n_uses += 1
        return opened

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreError(f"the memory at {self.place} is closed; open it again with Memory.open")

    def _refuse_if_gone(self) -> None:
        if not self._file.is_in_place():
            raise StoreError(
                f"{self.path} was deleted or replaced while it was open, and what is written now would be lost; "
                "put it back, or close this memory and open it again"
            )

    def _open(self) -> _Opened:
        # SQLite would make what isn't there, and write to another store that is.
        self._refuse_if_gone()
        with SqliteErrors(self.path, garbled=True):
            connection = sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False, cached_statements=256
            )
            try:
                self._refuse_if_gone()
                connection.execute(f"PRAGMA busy_timeout = {self._busy_timeout_ms}")
                self._admit(connection)
                self._log_ahead(connection)
                connection.execute(f"PRAGMA synchronous = {self._synchronous}")
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("PRAGMA cache_size = -16384")
                opened = _Opened(connection, self._file)
            except BaseException:
                connection.close()
                raise
        with self._all_lock:
            self._refuse_if_closed()
            self._all.add(opened)
        return opened

    def _log_ahead(self, connection: Connection) -> None:
        """Go over to a write-ahead log, which SQLite refuses at once, without waiting, while another process does."""
        deadline = time.monotonic() + self._busy_timeout_ms / 1000
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(0.005)

    @contextmanager
    def writing(self, *, discard: bool = False) -> Iterator[Connection]:
        """A transaction that either is committed whole or leaves nothing; ``discard`` leaves nothing in any case.

        Raises:
            StoreError: it can't be written, or this thread is in the midst of another transaction.
        """
        self.refuse_if_forked()
        with self._writer, InUse(self.acquired, "main", self._errors) as connection:
            if connection.in_transaction:
                raise StoreError(
                    f"the memory at {self.place} was written to while it is storing turns, by what yields "
                    "these turns; make the list of turns first, then store it"
                )
            connection.execute("BEGIN IMMEDIATE")
            self._local.is_storing = True
            try:
                yield connection
                connection.execute("ROLLBACK" if discard else "COMMIT")
            except BaseException:
                # A full disk has already rolled back; a second ROLLBACK would hide the first error.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._local.is_storing = False

    def reading(self) -> InUse[Connection]:
        """A connection to read from, with SQLite's errors turned into ours; it sees what is committed.

        What yields turns may read while they are stored: it, and an index that it searches, must not see what may
        yet be rolled back.

        Raises:
            StoreError: it can't be read.
        """
        return InUse(self.acquired, "aside" if getattr(self._local, "is_storing", False) else "main", self._garbled)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """The file as it is now, whatever is written while it is read.

        Raises:
            StoreError: it can't be read.
        """
        self.refuse_if_forked()
        self._refuse_if_closed()
        with self._garbled, self._opened_apart() as opened:
            opened.connection.execute("BEGIN")
            yield Snapshot(opened.connection, opened.in_use)

    @contextmanager
    def apart(self) -> Iterator[Connection]:
        """A connection that has read nothing of the file yet; this process writes nothing meanwhile.

        Raises:
            StoreError: the file can't be read or written.
        """
        self.refuse_if_forked()
        with self._writer, self._errors, self._opened_apart() as opened:
            yield opened.connection

    @contextmanager
    def _opened_apart(self) -> Iterator[_Opened]:
        opened = self._open()
        try:
            yield opened
        finally:
            with opened.in_use:
                opened.close()

    def copy_to(self, target: Path) -> None:
        """Write a consistent copy of the live file to a path that doesn't exist yet, readable by its owner only."""
        with self.reading() as connection, SqliteErrors(target):
            target.touch(mode=0o600, exist_ok=False)
            copy = sqlite3.connect(target)
            try:
                connection.backup(copy)
            finally:
                copy.close()

    @contextmanager
    def held_alone(self) -> Iterator[None]:
        """Fold the write-ahead log into the file, go without one, and keep everybody else out.

        Raises:
            MemoryLockedError: somebody else has the file open.
        """
        self.refuse_if_forked()
        with self._writer, InUse(self.acquired, "main", self._errors) as connection:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("BEGIN EXCLUSIVE")
            try:
                yield
            finally:
                connection.execute("ROLLBACK")
                # Without a log there is no name by which closing could delete another store's.
                connection.close()

    def close(self) -> None:
        """Close every thread's connection; the last one out folds the write-ahead log into the file.

        What another thread is doing is waited for. In a forked child nothing is closed: it is the parent's.
        """
        if self.is_forked:
            return
        with self._writer, self._all_lock:
            self._closed = True
            for opened in list(self._all):
                # Closing what another thread is reading from would end the process.
                with opened.in_use:
                    opened.close()
            self._all.clear()
            self.held_files.release()


@contextmanager
def damaged(path: Path) -> Iterator[Connection]:
    """A connection to a file that may be damaged, without any look at what it is; for a copy, since it may be changed.

    Raises:
        StoreError: SQLite can't read it at all.
    """
    with SqliteErrors(path, garbled=True):
        connection = sqlite3.connect(path, isolation_level=None)
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            yield connection
        finally:
            connection.close()


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _is_busy(error: sqlite3.Error) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _as_ours(error: sqlite3.Error, path: Path) -> StoreError:
    text, code = str(error), _code(error)
    if _is_busy(error):
        return MemoryLockedError(f"{path} is locked by another process ({text}); wait for it, or raise busy_timeout_s")
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        how = "full" if code == sqlite3.SQLITE_FULL else "full, over its quota or faulty"
        return DiskFullError(f"the disk that holds {path} is {how} ({text})")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreError(f"{path} can't be written ({text}); a memory needs a folder and files that you may write to")
    if code == sqlite3.SQLITE_CORRUPT:
        return StoreError(damaged_text(path, text))
    if code == sqlite3.SQLITE_NOTADB:
        return NotAMemoryError(f"{path} is not a store of memory_rag ({text}); {IF_DAMAGED}")
    if "closed database" in text:
        return StoreError(f"the memory at {path.parent} is closed; open it again with Memory.open")
    return StoreError(f"{path}: {text}; check the file with: memory-rag doctor")
