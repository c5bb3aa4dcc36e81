"""Bytes of what was removed: noted until they are overwritten, and overwritten as far as the engine can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from memory_rag.store.engine import Connections


class Eraser(Protocol):
    """What an engine does to the bytes that it left of removed rows."""

    def overwrite(self, *, timeout_s: float, anew: bool = False) -> str:
        """Do away with them, and return why some may be left; empty if none are.

        Waits ``timeout_s`` at most for others who hold on to an older state. With ``anew`` the files are written anew
        where that isn't done in any case, and others wait meanwhile.

        Raises:
            MemoryLockedError: another process writes for longer than ``timeout_s``.
            StoreError: it can't be done; it can be tried again.
        """
        ...


@dataclass(frozen=True, slots=True)
class Cell:
    """A value that is kept: its table, column and row, and its bytes."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What was done to the bytes of removed rows on a server, and what nobody can know from here, a line each."""

    done: tuple[str, ...]
    beyond: tuple[str, ...]


@runtime_checkable
class ServerEraser(Eraser, Protocol):
    """That of an engine whose files can't be read from here; what is kept can be asked for, row by row."""

    def rows(self) -> Iterator[Sequence[Cell]]:
        """Yield every row of the memory, in every table of it, as they are at this moment."""
        ...

    def words(self) -> Iterator[str]:
        """Yield the words that the engine writes into its rows itself."""
        ...

    def vectors(self) -> Iterator[tuple[Sequence[int], Any]]:
        """Yield, embedder by embedder, the rows of the turns that have vectors, and these, shapes (n,) and (n, dim)."""
        ...

    @property
    def aftermath(self) -> Aftermath: ...


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The rows whose bytes are still to be overwritten, each with when that was noted, and those of them whose files
    beside the store are done.

    A row that is noted again meanwhile, by another process, has another instant: what was done for the first is not
    done for the second.
    """

    since: Mapping[int, int]
    files_done: frozenset[int]

    def __bool__(self) -> bool:
        return bool(self.since)

    @property
    def files_waiting(self) -> dict[int, int]:
        return {row: since for row, since in self.since.items() if row not in self.files_done}


class Erasing:
    """What of a store's file, and of the files beside it, is still to be overwritten."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def unfinished(self) -> Unfinished:
        with self._connections.reading() as connection:
            found = connection.execute("SELECT row, since, files_done FROM erasing ORDER BY row").fetchall()
        return Unfinished(
            {int(row): int(since) for row, since, _ in found}, frozenset(int(row) for row, _, done in found if done)
        )

    def note_files_done(self, since: Mapping[int, int]) -> None:
        """Note that the files beside the store hold nothing any more of these rows, as they were noted ``since``."""
        with self._connections.writing() as connection:
            connection.executemany("UPDATE erasing SET files_done = 1 WHERE row = ? AND since = ?", since.items())

    def done(self, since: Mapping[int, int]) -> None:
        """Note that nothing is left anywhere of these rows, as they were noted ``since``."""
        with self._connections.writing() as connection:
            connection.executemany("DELETE FROM erasing WHERE row = ? AND since = ? AND files_done = 1", since.items())


def is_unfinished(connections: Connections) -> bool:
    """Tell whether something was removed of which bytes may be left."""
    return n_unfinished(connections) > 0


def n_unfinished(connections: Connections) -> int:
    """Count the turns of which bytes that were removed may be left."""
    with connections.reading() as connection:
        return int(connection.execute("SELECT count(*) FROM erasing").fetchone()[0])


def has_rules(connections: Connections) -> bool:
    """Tell whether turns go by themselves after some time."""
    with connections.reading() as connection:
        return connection.execute("SELECT 1 FROM retention LIMIT 1").fetchone() is not None
