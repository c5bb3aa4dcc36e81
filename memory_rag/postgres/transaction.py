"""A transaction on a server, spoken to in the store's words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Protocol, overload

from memory_rag.errors import StoreError
from memory_rag.postgres.dialect import in_postgres
from memory_rag.postgres.table import SCHEMA
from memory_rag.store.engine import Values

_LAST_NUMBER: Final = f"SELECT current_setting('{SCHEMA}.last_number', true)"


class _Cursor(Protocol):
    """As much of a cursor as is used here."""

    @property
    def rowcount(self) -> int: ...
    @property
    def description(self) -> Any: ...
    def execute(self, statement: Any, values: Sequence[Any], /) -> Any: ...
    def executemany(self, statement: Any, values: Iterable[Sequence[Any]], /) -> Any: ...
    def fetchone(self) -> Any: ...
    def fetchmany(self, size: int, /) -> list[Any]: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...
    def close(self) -> None: ...


class _Info(Protocol):
    @property
    def backend_pid(self) -> int: ...


class _Connection(Protocol):
    """As much of a connection as is used here."""

    @property
    def info(self) -> _Info: ...
    @overload
    def cursor(self, *, binary: bool = ...) -> _Cursor: ...
    @overload
    def cursor(self, name: str, *, binary: bool = ...) -> _Cursor: ...


class Result:
    """What a statement gave."""

    def __init__(self, cursor: _Cursor, connection: _Connection) -> None:
        self._cursor = cursor
        self._connection = connection

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    @property
    def lastrowid(self) -> int | None:
        """The number that this transaction gave last."""
        cursor = self._connection.cursor()
        cursor.execute(_LAST_NUMBER, ())
        (number,) = cursor.fetchone()
        return int(number) if number else None

    def fetchone(self) -> Any:
        return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        return self._cursor.fetchall()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cursor)


class Transaction:
    """One transaction's way to the tables of its owner."""

    def __init__(self, connection: _Connection, *, is_open: Callable[[], bool]) -> None:
        self._connection = connection
        self._is_open = is_open
        self._n_changed = 0

    @property
    def in_transaction(self) -> bool:
        """Whether it may still be committed or rolled back."""
        return self._is_open()

    @property
    def told_pid(self) -> int:
        """The server's process that we were told of when we connected; behind a pooler, others answer."""
        return self._connection.info.backend_pid

    @property
    def total_changes(self) -> int:
        """How many rows were stored, changed or removed so far."""
        return self._n_changed

    def execute(self, statement: str, values: Values = (), /) -> Result:
        spoken = in_postgres(statement)
        cursor = self._connection.cursor(binary=True)
        try:
            cursor.execute(spoken.statement, spoken.placed(values))
        except UnicodeEncodeError as error:
            raise _unwritable(error) from error
        return self._counted(cursor)

    def executemany(self, statement: str, values: Iterable[Values], /) -> Result:
        spoken = in_postgres(statement)
        cursor = self._connection.cursor(binary=True)
        try:
            cursor.executemany(spoken.statement, [spoken.placed(one) for one in values])
        except UnicodeEncodeError as error:
            raise _unwritable(error) from error
        return self._counted(cursor)

    def _counted(self, cursor: _Cursor) -> Result:
        if cursor.description is None:
            self._n_changed += max(cursor.rowcount, 0)
        return Result(cursor, self._connection)


class Upkeep:
    """A connection outside any transaction; ``warnings`` are what the server said beside its answers."""

    def __init__(self, connection: _Connection, warnings: list[str]) -> None:
        self._connection = connection
        self.warnings = warnings

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> list[Any]:
        """Run a statement with its values at ``$1``, ``$2`` …, and return its rows."""
        cursor = self._connection.cursor(binary=True)
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description is not None else []


class Streaming:
    """A transaction whose queries come a part at a time, whatever their length."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection
        self._open: list[_Cursor] = []
        self._n_queries = 0

    def execute(self, statement: str, values: Sequence[Any], /) -> _Streamed:
        self._n_queries += 1
        spoken = in_postgres(statement)
        cursor = self._connection.cursor(f"rows_{self._n_queries}", binary=True)
        self._open.append(cursor)
        cursor.execute(spoken.statement, spoken.placed(values))
        return _Streamed(cursor, self._open)

    def close(self) -> None:
        """End the queries that weren't read to their end, while the transaction is still open."""
        for cursor in self._open:
            cursor.close()


class _Streamed:
    """What a query gives, until its end."""

    def __init__(self, cursor: _Cursor, still_open: list[_Cursor]) -> None:
        self._cursor = cursor
        self._still_open = still_open

    def fetchmany(self, size: int, /) -> list[Any]:
        some = self._cursor.fetchmany(size) if self._cursor in self._still_open else []
        if not some and self._cursor in self._still_open:
            self._still_open.remove(self._cursor)
            self._cursor.close()
        return some


def _unwritable(error: UnicodeEncodeError) -> StoreError:
    return StoreError(f"{error.object[error.start : error.end]!r} in a name can't be stored; take it out of the name")
