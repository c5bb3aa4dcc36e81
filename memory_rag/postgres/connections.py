"""PostgreSQL's connections, each transaction of which is one owner's, and its errors as ours.

The change log's numbers come in the order of commits and leave no gap, so a reader that has seen number 7 has seen all
up to it. A sequence can't give that: 8 may be committed before 7, and a reader that goes on from 8 never sees 7. Here
whoever writes to a memory first locks the row that holds its last number, until the commit; the writers of one memory
come one after the other, as in SQLite, and those of others don't wait for them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, Final, TypeAlias

import psycopg
from pgvector.psycopg import register_vector
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from memory_rag.errors import NotAMemoryError, StoreError
from memory_rag.postgres.admission import refuse_role
from memory_rag.postgres.catalogue import PostgresCatalogue
from memory_rag.postgres.extensions import Extensions, extensions_of
from memory_rag.postgres.mending import Mending
from memory_rag.postgres.migrations import NUMBERED, migrate
from memory_rag.postgres.replica import IDENTITY, Replica, T, refuse_stranger
from memory_rag.postgres.server_errors import as_ours, is_damage, unreachable
from memory_rag.postgres.table import SCHEMA, SETTING
from memory_rag.postgres.transaction import Streaming, Transaction, Upkeep
from memory_rag.server_url import is_unclear, memory_of, server_of
from memory_rag.store.engine import Connection
from memory_rag.store.screening import OpenDoor, Screen
from memory_rag.store.snapshot import Snapshot

Raw: TypeAlias = psycopg.Connection[tuple[Any, ...]]

_MOST_CONNECTIONS: Final = 16
_CONNECT_TIMEOUT_S: Final = 10
_LOST: Final = ("08", "57P")
"""How the states begin that tell of a lost connection, or of a server that stops or starts."""
_READING: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
# After waiting for its turn, a statement is to see what the one before has committed.
_WRITING: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_LOOKING_AT_ONE_STATE: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_SET: Final = (
    f"SELECT set_config('{SETTING}', $1, true), set_config('search_path', $3, true), "
    "set_config('lock_timeout', $2, true), set_config('synchronous_commit', 'on', true)"
)
_TAKE_TURN: Final = "SELECT seq FROM numbers_kept WHERE name = 'changes' FOR UPDATE"
_KEEP_NUMBERS: Final = (
    f"UPDATE numbers_kept SET seq = current_setting('{SCHEMA}.last_' || name, true)::bigint "
    f"WHERE nullif(current_setting('{SCHEMA}.last_' || name, true), '')::bigint > seq"
)
_ENTER: Final = "INSERT INTO numbers_kept (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING"


class PostgresConnections:
    """The connections of one process to one owner's memory on a server.

    A transaction is set to its owner when it begins, not a connection for good: a pooler between us and the server
    gives each transaction another connection.
    """

    def __init__(
        self, url: str, *, owner: str, busy_timeout_s: float, connect_timeout_s: int = _CONNECT_TIMEOUT_S
    ) -> None:
        given = _read(url)
        self.server = server_of(url)
        self.place = memory_of(url, owner=owner)
        self.screen: Screen = OpenDoor()
        self.catalogue = PostgresCatalogue()
        self.extensions = Extensions({}, ())
        self._owner = owner
        self._lock_timeout = f"{max(1, int(busy_timeout_s * 1000))}ms"
        self._path = SCHEMA
        self._pid = os.getpid()
        self._local = threading.local()
        self._writer = threading.RLock()
        self._closed = False
        self._mending = Mending()
        self.replica: Replica | None = None
        self._how: dict[str, Any] = {
            "connect_timeout": connect_timeout_s,
            "application_name": "memory-rag",
            **given,
            "autocommit": True,
            "cursor_factory": psycopg.RawCursor,
        }
        self._pool: ConnectionPool[Raw] = ConnectionPool(
            kwargs=self._how,
            connection_class=psycopg.Connection[tuple[Any, ...]],
            configure=self._configure,
            min_size=0,
            max_size=_MOST_CONNECTIONS,
            timeout=busy_timeout_s + connect_timeout_s,
            open=False,
        )

    def open(self, *, create: bool, n_partitions: int) -> None:
        """Make the tables, or bring them to the present format, and let the owner in.

        Raises:
            NotAMemoryError: ``create`` is False, and the server or the owner has nothing yet.
            NewerFormatError: the tables were written by a later release.
            StoreError: the server can't be reached or is too old, or our role there would see what is others'.
        """
        try:
            connection: Raw = psycopg.connect(**self._how)
        except psycopg.Error as error:
            raise unreachable(self.server, str(error)) from error
        with self.errors(), connection:
            refuse_role(connection, server=self.server)
            with self._transaction(connection, _WRITING):
                self.extensions = extensions_of(connection, server=self.server, create=create)
            self._path = ", ".join((SCHEMA, *self.extensions.schemas))
            with self._transaction(connection, _WRITING):
                migrate(connection, place=self.server, create=create, n_partitions=n_partitions)
            with self._transaction(connection, _WRITING):
                if not create and connection.execute("SELECT 1 FROM numbers_kept").fetchone() is None:
                    raise NotAMemoryError(
                        f"{self.place}, holds no memory; check the name of the owner, or make one with: memory-rag add "
                        "or memory-rag import"
                    )
                connection.execute(_ENTER, (list(NUMBERED),))
        self._pool.open()
        self._mending.after_start(self)

    def open_beside(self, primary: PostgresConnections) -> bool:
        """Let this replica of an open server be read; False if it can't be reached yet.

        Raises:
            StoreError: it is no replica of that server, or our role there would see what is others'.
        """
        self._path = primary._path
        self._pool.open()
        try:
            connection: Raw = psycopg.connect(**self._how)
        except psycopg.Error:
            return False
        with self.errors(), connection, primary.reading() as there:
            refuse_role(connection, server=self.server)
            refuse_stranger(connection.execute(IDENTITY), there.execute(IDENTITY), self.server, primary.server)
        return True

    def read(self, work: Callable[[Connection], T]) -> T:
        """Return what is read in a transaction, here or on the replica; for what asks no index of words."""
        if self.replica is not None:
            return self.replica.read(work, primary=self)
        with self.reading() as connection:
            return work(connection)

    @property
    def is_forked(self) -> bool:
        """Whether this process was forked after the memory was opened."""
        return self._pid != os.getpid()

    def refuse_if_forked(self) -> None:
        """Fail in a process that was forked after the memory was opened: two would speak through one socket.

        Raises:
            StoreError: this process was forked since.
        """
        if self.is_forked:
            raise StoreError(
                f"the memory at {self.place} was opened before this process was forked; open it in the child"
            )

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what the server or its client says into an error of ours."""
        try:
            yield
        except PoolClosed as error:
            raise self._is_closed() from error
        except PoolTimeout as error:
            raise unreachable(self.server, str(error)) from error
        except psycopg.Error as error:
            state = error.sqlstate
            is_lost = isinstance(error, psycopg.OperationalError) and (state is None or state.startswith(_LOST))
            if is_lost and not self._closed:
                # The others that wait for use are gone with it: one call fails, not one for each of them.
                with suppress(psycopg.Error, PoolClosed):
                    self._pool.check()
            self._mending.may_be_needed |= is_lost or is_damage(state)
            raise as_ours(str(error), state=state, place=self.place, is_lost=is_lost) from error

    def _is_closed(self) -> StoreError:
        return StoreError(f"the memory at {self.place} is closed; open it again with Memory.open")

    @contextmanager
    def _connected(self) -> Iterator[Raw]:
        self.refuse_if_forked()
        if self._closed:
            raise self._is_closed()
        with self._pool.connection() as connection:
            yield connection

    @contextmanager
    def _transaction(
        self, connection: Raw, begin: str, *, take_turn: bool = False, discard: bool = False
    ) -> Iterator[None]:
        try:
            # One round trip for all of them.
            with connection.pipeline():
                connection.execute(begin)
                connection.execute(_SET, (self._owner, self._lock_timeout, self._path))
                turn = connection.execute(_TAKE_TURN) if take_turn else None
            if turn is not None and turn.fetchone() is None:
                raise StoreError(f"{self.place} was removed from the server while it was open; open it again")
            yield
            with connection.pipeline():
                if take_turn and not discard:
                    connection.execute(_KEEP_NUMBERS)
                connection.execute("ROLLBACK" if discard else "COMMIT")
        except BaseException:
            if _is_open(connection):
                # A lost connection has rolled back; another error here would hide the first one.
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
            raise

    @contextmanager
    def writing(self, *, discard: bool = False) -> Iterator[Transaction]:
        """A transaction that either is committed whole or leaves nothing; ``discard`` leaves nothing in any case.

        Raises:
            StoreError: it can't be written, or this thread is in the midst of another transaction.
        """
        self.refuse_if_forked()
        with self._writer:
            if getattr(self._local, "is_storing", False):
                raise StoreError(
                    f"the memory at {self.place} was written to while it is storing turns, by what yields "
                    "these turns; make the list of turns first, then store it"
                )
            self._mending.if_needed(self)
            with (
                self.errors(),
                self._connected() as connection,
                self._transaction(connection, _WRITING, take_turn=True, discard=discard),
            ):
                self._local.is_storing = True
                try:
                    yield Transaction(connection, is_open=lambda: _is_open(connection))
                finally:
                    self._local.is_storing = False

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A transaction to read in; it sees what is committed, not what this thread is about to.

        Raises:
            StoreError: it can't be read.
        """
        begun: Transaction | None = getattr(self._local, "reading", None)
        if begun is not None:
            yield begun
            return
        self._mending.if_needed(self)
        with self.errors(), self._connected() as connection, self._transaction(connection, _READING):
            self._local.reading = Transaction(connection, is_open=lambda: _is_open(connection))
            try:
                yield self._local.reading
            finally:
                self._local.reading = None

    @contextmanager
    def upkeep(self, *, timeout_s: float) -> Iterator[Upkeep]:
        """A connection outside any transaction, for VACUUM; it waits for other sessions so long.

        Raises:
            StoreError: it can't be done.
        """
        with self.errors(), self._connected() as connection:
            warnings: list[str] = []

            def hear(told: psycopg.errors.Diagnostic) -> None:
                if told.severity_nonlocalized == "WARNING":
                    warnings.append(told.message_primary or "")

            connection.add_notice_handler(hear)
            connection.execute(f"SET lock_timeout = {max(1, int(timeout_s * 1000))}")
            try:
                yield Upkeep(connection, warnings)
            finally:
                connection.remove_notice_handler(hear)
                with suppress(psycopg.Error):
                    connection.execute("RESET lock_timeout")

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """The tables as they are now, whatever is written while they are read.

        Raises:
            StoreError: they can't be read.
        """
        with (
            self.errors(),
            self._connected() as connection,
            self._transaction(connection, _LOOKING_AT_ONE_STATE),
            closing(Streaming(connection)) as streaming,
        ):
            yield Snapshot(streaming, threading.Lock())

    def _configure(self, connection: Raw) -> None:
        """Teach a new connection what is sent and read: small and large ints alike as bigint, and pgvector's vectors.

        A statement with a small number and one with a large are one prepared statement then.
        """
        connection.adapters.register_dumper(int, Int8Dumper)
        connection.server_cursor_factory = psycopg.RawServerCursor
        with connection.transaction():
            connection.execute("SELECT set_config('search_path', $1, true)", (self._path,))
            register_vector(connection)

    def close(self) -> None:
        """Close the connections; one that is in use is closed after it. In a forked child they are the parent's."""
        if self.is_forked:
            return
        with self._writer:
            self._closed = True
            self._pool.close()
            if self.replica is not None:
                self.replica.close()


def _read(url: str) -> dict[str, Any]:
    try:
        if not is_unclear(url):
            given: dict[str, Any] = conninfo_to_dict(url)
            return given
    except psycopg.Error:
        pass
    # What the client says may hold a part of the password; so may what it would say of a host that is none.
    raise StoreError(
        "the URL of the server can't be read; it is postgresql://user:password@host/database, with what is "
        "special in the password as percent and two digits, and ?name=value for what libpq knows beside"
    )


def _is_open(connection: Raw) -> bool:
    return bool(connection.info.transaction_status != TransactionStatus.IDLE)
