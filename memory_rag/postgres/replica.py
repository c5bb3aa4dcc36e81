"""Reads from a server that follows the one with the memory, where what is read there is as new as what is here.

A replica is behind, by milliseconds or by hours. What it has applied shows in the numbers of the owner's changes and
vectors: are they those of the primary, it has everything that was acknowledged. It is asked for vectors and never for
words: the index of pg_textsearch isn't right on a replica.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from memory_rag.errors import StoreError
from memory_rag.store.engine import Connection

T = TypeVar("T")
RESTS_S: Final = 30.0
"""After it couldn't be read it isn't asked for so long: each search would wait for it."""
TIMEOUT_S: Final = 2
IDENTITY: Final = "SELECT system_identifier FROM pg_control_system()"
_NUMBERS: Final = "SELECT name, seq FROM numbers_kept"
_CHANGES: Final = "changes"
_WRITTEN: Final = "SELECT pg_current_wal_lsn()::text"
_MISSING: Final = "SELECT coalesce(pg_wal_lsn_diff(?::text::pg_lsn, pg_last_wal_replay_lsn()), 0)::bigint"
_FOLLOWS: Final = "SELECT pg_is_in_recovery()"


class _Behind(StoreError):
    """The replica hasn't got everything yet, or follows nobody any more."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a replica has come: changes of the owner that it lacks, and bytes of the primary's log."""

    follows: bool
    n_changes_behind: int = 0
    n_bytes_behind: int = 0


class _Found(Protocol):
    def fetchone(self) -> Any: ...


class _Reads(Protocol):
    def reading(self) -> AbstractContextManager[Connection]: ...
    def close(self) -> None: ...


class Replica:
    """One owner's part of the replica, as far as it is right to read there."""

    def __init__(self, connections: _Reads, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._connections = connections
        self._clock = clock
        self._asked_from = -float("inf")
        self.n_read = 0
        """Reads that it answered."""

    def rest(self) -> None:
        """Let it not be asked for a while."""
        self._asked_from = self._clock() + RESTS_S

    def read(self, work: Callable[[Connection], T], *, primary: _Reads) -> T:
        """Return what is read on the replica, or on the primary if the replica is behind or can't be read.

        Raises:
            StoreError: the primary can't be read.
        """
        if self._clock() >= self._asked_from:
            with primary.reading() as connection:
                newest = _numbers(connection)
            try:
                return self._read(work, newest)
            except _Behind:
                pass
            except StoreError:
                self.rest()
        with primary.reading() as connection:
            return work(connection)

    def _read(self, work: Callable[[Connection], T], newest: Mapping[str, int]) -> T:
        with self._connections.reading() as connection:
            (follows,) = connection.execute(_FOLLOWS).fetchone()
            here = _numbers(connection)
            if not follows or any(here.get(name, -1) < seq for name, seq in newest.items()):
                raise _Behind("the replica has not everything")
            found = work(connection)
        self.n_read += 1
        return found

    def standing(self, *, primary: _Reads) -> Standing:
        """Return how far the replica has come.

        Raises:
            StoreError: it can't be read, or the primary can't.
        """
        with primary.reading() as connection:
            newest = _numbers(connection).get(_CHANGES, 0)
            (written,) = connection.execute(_WRITTEN).fetchone()
        with self._connections.reading() as connection:
            (follows,) = connection.execute(_FOLLOWS).fetchone()
            if not follows:
                return Standing(follows=False)
            missing = newest - _numbers(connection).get(_CHANGES, 0)
            (n_bytes,) = connection.execute(_MISSING, (written,)).fetchone()
        return Standing(True, max(missing, 0), max(int(n_bytes), 0))

    def close(self) -> None:
        self._connections.close()


def refuse_stranger(here: _Found, there: _Found, server: str, primary: str) -> None:
    """Fail if two servers' identities, which a replica has from its primary, aren't the same.

    Raises:
        StoreError: they aren't.
    """
    if tuple(here.fetchone()) != tuple(there.fetchone()):
        raise StoreError(
            f"{server}, which the setting replica names, doesn't follow {primary}; name a replica of it, or leave the "
            "setting empty"
        )


def _numbers(connection: Connection) -> dict[str, int]:
    return {str(name): int(seq) for name, seq in connection.execute(_NUMBERS)}
