"""A thread's own connection, which goes with the thread."""

from __future__ import annotations

import os
import threading
from typing import Final, Generic, Protocol, TypeVar

from memory_rag.store.open_file import OpenFile


class Closable(Protocol):
    """What can be closed."""

    def close(self) -> None: ...


Made = TypeVar("Made", bound=Closable)
_LEFT_OPEN: Final[list[Closable]] = []
"""Connections that must not be closed by this process; see :meth:`OwnConnection.close`."""


class OwnConnection(Generic[Made]):
    """A connection that is closed with the thread that asked for it."""

    def __init__(self, connection: Made, file: OpenFile) -> None:
        self.connection = connection
        self.in_use = threading.RLock()
        self.n_uses = 0
        """How deep its thread is in readings and writings, each within the other."""
        self._file = file

    def close(self) -> None:
        # SQLite's close deletes the write-ahead log by its name, which may be another store's by now; and in a
        # forked child it is undefined.
        if self._file.pid != os.getpid() or not self._file.is_in_place():
            _LEFT_OPEN.append(self.connection)
        else:
            self.connection.close()

    def __del__(self) -> None:
        self.close()
