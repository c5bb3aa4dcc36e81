"""Who summarises a conversation now: one thread of one process at a time, and none that was killed."""

from __future__ import annotations

import os
import socket
import threading
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Final

from memory_rag.store.engine import Connection, Connections
from memory_rag.turns import from_microseconds, to_microseconds

LEASE_S: Final = 900.0
"""Seconds after which somebody else may take over from a process that gave no sign of its end."""


class Claims:
    """The rights to summarise that this object took, kept beside the turns so that other processes see them."""

    def __init__(self, connections: Connections, *, clock: Callable[[], datetime]) -> None:
        self._connections = connections
        self._clock = clock
        self._name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4()}"
        self._held: set[str] = set()
        self._given_up = False
        self._taking = threading.Lock()

    def take(self, conversation_id: str) -> bool:
        """Take the right to summarise a conversation; False while a living process, or another thread, has it.

        A process that was killed has it no more; one on another machine loses it after :data:`LEASE_S`.
        """
        with self._taking:
            if self._given_up or not self._written(conversation_id):
                return False
            self._held.add(conversation_id)
            return True

    def _written(self, conversation_id: str) -> bool:
        now = self._clock()
        with self._connections.writing() as connection:
            found = connection.execute(
                "SELECT claimant, claimed_at FROM summary_claims WHERE conversation_id = ?", (conversation_id,)
            ).fetchone()
            if found is not None:
                age_s = (now - from_microseconds(found[1])).total_seconds()
                # A clock that was put back makes a claim of the future; it counts no longer than another.
                if abs(age_s) < LEASE_S and _is_alive(found[0]):
                    return False
            connection.execute(
                "INSERT INTO summary_claims VALUES (?, ?, ?) ON CONFLICT (conversation_id) DO UPDATE SET "
                "claimant = excluded.claimant, claimed_at = excluded.claimed_at",
                (conversation_id, self._name, to_microseconds(now)),
            )
        return True

    def release(self, conversation_id: str) -> None:
        """Give the right back, if it is still ours."""
        with self._connections.writing() as connection:
            connection.execute(
                "DELETE FROM summary_claims WHERE conversation_id = ? AND claimant = ?", (conversation_id, self._name)
            )
        # Held until it is gone: a memory that is closed meanwhile gives it back, as this thread no longer can.
        self._held.discard(conversation_id)

    def give_up(self) -> None:
        """Give back every right and take none any more: what is being made comes too late to be kept."""
        with self._taking:
            self._given_up = True
        for conversation_id in tuple(self._held):
            self.release(conversation_id)

    def are_ours(self, connection: Connection, conversation_id: str) -> bool:
        """Tell, within a transaction, whether nobody took the right from us."""
        held = connection.execute(
            "SELECT claimant FROM summary_claims WHERE conversation_id = ?", (conversation_id,)
        ).fetchone()
        return held is not None and held[0] == self._name


def _is_alive(claimant: str) -> bool:
    """Tell whether the process that claimed something may still run; one on another machine may."""
    host, pid, _name = claimant.rsplit(":", 2)
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
