"""When a server's indexes are looked at: after its start, and after a connection was lost or pages were damaged."""

from __future__ import annotations

import threading
from contextlib import suppress

from memory_rag.errors import StoreError
from memory_rag.postgres.known_answers import check_after_start, remake_wrong
from memory_rag.store.engine import Connections


class Mending:
    """What one process does about indexes that may be wrong; words can be stored whatever comes of it."""

    def __init__(self) -> None:
        self.may_be_needed = False
        """A connection was lost, and the server may be another one now; or it spoke of damage."""
        self._lock = threading.Lock()

    def after_start(self, connections: Connections) -> None:
        """Look at the indexes if the server was started since they were looked at last.

        Raises:
            StoreError: the server can't be read or written to.
        """
        with self._lock:
            try:
                check_after_start(connections)
            finally:
                self.may_be_needed = False

    def if_needed(self, connections: Connections) -> None:
        """Make wrong indexes anew; tried once."""
        if self.may_be_needed and self._lock.acquire(blocking=False):
            try:
                with suppress(StoreError):
                    remake_wrong(connections)
            finally:
                self.may_be_needed = False
                self._lock.release()
