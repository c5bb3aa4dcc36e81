"""Many small appends in one transaction, each whole or not at all: a commit costs as much as fifty turns."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from memory_rag.errors import StoreError
from memory_rag.store.engine import Connection, Connections

_MOST_CHANGES: Final = 4000
_MOST_PIECES: Final = 100
"""After so many changed rows, or so many appends, what waits is committed: others want to write as well."""


class Together:
    """What the appends of a thread are written in: a transaction each, or within :meth:`open` one for several."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._local = threading.local()

    @contextmanager
    def open(self) -> Iterator[None]:
        """Commit this thread's appends together, those that are whole when something goes wrong amid another too.

        Raises:
            StoreError: they can't be written.
        """
        if self._shared is not None:
            yield
            return
        shared = self._local.shared = _Shared(self._connections)
        try:
            yield
        finally:
            self._local.shared = None
            shared.commit()

    @contextmanager
    def writing(self, *, discard: bool = False) -> Iterator[Connection]:
        """A transaction, or a part of one, that is written whole or leaves nothing; ``discard`` leaves nothing.

        Raises:
            StoreError: it can't be written, or this thread is in the midst of another one.
        """
        shared = self._shared
        if shared is None or shared.is_busy:
            written = self._connections.writing(discard=discard)
        else:
            written = shared.piece(discard=discard)
        with written as connection:
            yield connection

    def settle(self) -> None:
        """Commit what waits, for what needs a transaction of its own."""
        if self._shared is not None and not self._shared.is_busy:
            self._shared.commit()

    @property
    def _shared(self) -> _Shared | None:
        shared: _Shared | None = getattr(self._local, "shared", None)
        return shared


class _Shared:
    """A transaction that is begun when it is needed, and its parts."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._held: AbstractContextManager[Connection] | None = None
        self._connection: Connection | None = None
        self._changes_before = 0
        self._n_pieces = 0
        self.is_busy = False

    @contextmanager
    def piece(self, *, discard: bool) -> Iterator[Connection]:
        connection = self._connection or self._begun()
        self.is_busy = True
        try:
            with self._connections.errors():
                connection.execute("SAVEPOINT piece")
                try:
                    yield connection
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK TO piece")
                        connection.execute("RELEASE piece")
                    raise
                if discard:
                    connection.execute("ROLLBACK TO piece")
                connection.execute("RELEASE piece")
        finally:
            self.is_busy = False
        self._n_pieces += 1
        if connection.total_changes - self._changes_before >= _MOST_CHANGES or self._n_pieces >= _MOST_PIECES:
            self.commit()

    def commit(self) -> None:
        held, connection = self._held, self._connection
        self._held = self._connection = None
        if held is None or connection is None:
            return
        if connection.in_transaction:
            held.__exit__(None, None, None)
        else:
            # A full disk has rolled it back: that error is on its way, and there is nothing to commit.
            held.__exit__(StoreError, StoreError("rolled back"), None)

    def _begun(self) -> Connection:
        self._held = self._connections.writing()
        self._connection = connection = self._held.__enter__()
        self._changes_before, self._n_pieces = connection.total_changes, 0
        return connection
