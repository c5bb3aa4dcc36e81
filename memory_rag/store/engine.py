"""What a store asks of the engine that keeps its tables; SQLite's connections are one, PostgreSQL's another.

Statements are written once, in the SQL that both understand: values stand at ``?``, ``?1`` or ``:name``, a key is named
without whose it is, and what one engine calls otherwise is put into its words by its own connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from memory_rag.store.screening import Screen
from memory_rag.store.snapshot import Snapshot

Values = Sequence[Any] | Mapping[str, Any]


class Cursor(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int: ...
    @property
    def lastrowid(self) -> int | None: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """One transaction's way to the tables."""

    @property
    def in_transaction(self) -> bool: ...
    @property
    def total_changes(self) -> int: ...
    def execute(self, statement: str, values: Values = ..., /) -> Cursor: ...
    def executemany(self, statement: str, values: Iterable[Values], /) -> Cursor: ...


class Catalogue(Protocol):
    """What an engine tells of the tables themselves, within a transaction of theirs."""

    def tables(self, connection: Connection, /) -> dict[str, dict[str, str]]:
        """Return the tables by name: their columns in order with what they hold, TEXT, BLOB, INTEGER or REAL."""
        ...

    def count_from(self, connection: Connection, table: str, seq: int, /) -> None:
        """Let the next row of a numbered table have a number over this one."""
        ...

    def count_anew(self, connection: Connection, /) -> None:
        """Let every numbered table begin with 1 again; they hold nothing."""
        ...

    def n_bytes(self, connection: Connection, /) -> dict[str, int]:
        """Return how many bytes the memory takes: its ``words``, its ``vectors``, and what is ``derived`` from them."""
        ...


class Connections(Protocol):
    """The connections of one process to one memory: readers see what is committed, writers come one after the other."""

    screen: Screen
    """What every text passes before it is written, in whichever table."""

    @property
    def catalogue(self) -> Catalogue: ...
    @property
    def place(self) -> str:
        """Where the memory is, as messages name it."""
        ...

    @property
    def is_forked(self) -> bool: ...
    def refuse_if_forked(self) -> None: ...
    def errors(self) -> AbstractContextManager[None]:
        """Turn the engine's errors into ours."""
        ...

    def writing(self, *, discard: bool = False) -> AbstractContextManager[Connection]: ...
    def reading(self) -> AbstractContextManager[Connection]: ...
    def snapshot(self) -> AbstractContextManager[Snapshot]: ...
    def close(self) -> None: ...
