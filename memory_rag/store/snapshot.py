"""One state of all tables, whatever is written while it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

_FETCH: Final = 100


class _Records(Protocol):
    def fetchmany(self, size: int, /) -> list[Any]: ...


class _Readable(Protocol):
    def execute(self, statement: str, values: Sequence[Any], /) -> _Records: ...


class Snapshot:
    """What is read on a connection of its own, which nobody closes while ``in_use``."""

    def __init__(self, connection: _Readable, in_use: AbstractContextManager[Any]) -> None:
        self._connection = connection
        self._in_use = in_use

    def rows(self, statement: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield what a query gives, a few hundred rows in memory at a time."""
        with self._in_use:
            cursor = self._connection.execute(statement, values)
        while True:
            # Not held while the caller works: closing the memory waits for it.
            with self._in_use:
                some = cursor.fetchmany(_FETCH)
            if not some:
                return
            yield from some
