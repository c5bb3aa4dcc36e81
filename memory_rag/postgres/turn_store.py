"""Turns on a PostgreSQL server, kept as SQLite's store keeps them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from memory_rag.errors import MissingExtraError, StoreError
from memory_rag.store.screening import Screen
from memory_rag.store.turn_rows import can_be_id
from memory_rag.store.turn_writer import TurnWriter

if TYPE_CHECKING:
    from memory_rag.postgres.connections import PostgresConnections
    from memory_rag.postgres.erasing import PostgresEraser

EXTRA: Final = "postgres"
_LONGEST_OWNER: Final = 200


class PostgresTurnStore(TurnWriter):
    """One owner's turns in a database of many; safe for many threads, processes and machines at once."""

    def __init__(
        self,
        url: str,
        *,
        owner: str = "main",
        busy_timeout_s: float = 30.0,
        create: bool = True,
        screen: Screen | None = None,
        n_partitions: int = 0,
        replica: str = "",
    ) -> None:
        """Open an owner's store, making tables and owner if ``create``. Whatever is stored passes ``screen`` first.

        ``n_partitions`` splits the tables of a new database by owner; 0 leaves them whole. ``replica`` is the URL of a
        server that follows this one.

        Raises:
            NotAMemoryError: the server or the owner has nothing yet, and ``create`` is False.
            NewerFormatError: the tables were written by a later release.
            StoreError: the server can't be reached, or our role there would see what is others'.
            MissingExtraError: the client isn't installed.
        """
        if not can_be_id(owner) or len(owner) > _LONGEST_OWNER:
            raise StoreError(
                f"{owner[:80]!r} can't be an owner; an owner is 1 to {_LONGEST_OWNER} characters without NUL and lone "
                "surrogates"
            )
        try:
            from memory_rag.postgres.connections import PostgresConnections
        except ImportError as error:
            raise MissingExtraError("psycopg, which speaks to PostgreSQL,", extra=EXTRA) from error
        connections = PostgresConnections(url, owner=owner, busy_timeout_s=busy_timeout_s)
        if screen is not None:
            connections.screen = screen
        super().__init__(connections)
        self._server = connections
        connections.open(create=create, n_partitions=n_partitions)
        self.owner = owner
        if replica:
            self._read_also(replica)

    def _read_also(self, url: str) -> None:
        from memory_rag.postgres.connections import PostgresConnections
        from memory_rag.postgres.replica import TIMEOUT_S, Replica

        there = PostgresConnections(url, owner=self.owner, busy_timeout_s=0, connect_timeout_s=TIMEOUT_S)
        self._server.replica = replica = Replica(there)
        try:
            if not there.open_beside(self._server):
                replica.rest()
        except BaseException:
            self.close()
            raise

    @cached_property
    def eraser(self) -> PostgresEraser:
        from memory_rag.postgres.erasing import PostgresEraser

        return PostgresEraser(self._server)

    @property
    def connections(self) -> PostgresConnections:
        return self._server
