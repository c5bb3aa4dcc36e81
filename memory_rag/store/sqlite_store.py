"""The only copy of the words: turns in one SQLite file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from memory_rag.store import engine
from memory_rag.store.connections import Connections
from memory_rag.store.folder import FILE_NAME, prepare_folder
from memory_rag.store.migrations import applied_steps, migrate
from memory_rag.store.screening import OpenDoor, Screen
from memory_rag.store.sqlite_eraser import SqliteEraser
from memory_rag.store.turn_writer import TurnWriter


class SqliteTurnStore(TurnWriter):
    """Turns in one SQLite file in WAL mode; safe for many threads and processes at once."""

    def __init__(
        self,
        folder: Path,
        *,
        durability: str = "normal",
        busy_timeout_s: float = 30.0,
        create: bool = True,
        screen: Screen | None = None,
    ) -> None:
        """Open the store in a folder, making both if ``create``. Whatever is stored passes ``screen`` first.

        Raises:
            NotAMemoryError: the folder holds no store and ``create`` is False, or its file is something else.
            NewerFormatError: the store was written by a later release.
        """
        self.path = folder / FILE_NAME
        prepare_folder(folder, create=create)
        path = str(self.path)
        connections = Connections(
            self.path,
            durability=durability,
            busy_timeout_s=busy_timeout_s,
            admit=lambda connection: applied_steps(connection, path=path),
        )
        connections.screen = screen or OpenDoor()
        super().__init__(connections)
        self._file = connections
        try:
            with connections.reading() as connection:
                migrate(connection, path=path)
        except BaseException:
            connections.close()
            raise

    @classmethod
    @contextmanager
    def opened(cls, folder: Path) -> Iterator[Self]:
        """The store that is there already, closed at the end.

        Raises:
            NotAMemoryError: the folder holds no store.
            NewerFormatError: the store was written by a later release.
        """
        store = cls(folder, create=False)
        try:
            yield store
        finally:
            store.close()

    @property
    def connections(self) -> Connections:
        """What the other tables of the same file are read and written through."""
        return self._file

    @property
    def eraser(self) -> SqliteEraser:
        return SqliteEraser(self._file)

    def copy_to(self, target: Path) -> None:
        """Write a consistent copy of the live file (SQLite's online backup) to a path that doesn't exist yet.

        Raises:
            StoreError: the copy can't be written.
        """
        self._file.copy_to(target)

    @contextmanager
    def held_alone(self) -> Iterator[None]:
        """Keep everybody else from the file, which is then without a write-ahead log; to replace it.

        Raises:
            MemoryLockedError: somebody else has the store open.
        """
        with self._file.held_alone():
            yield

    def _faults(self, connection: engine.Connection) -> list[str]:
        return [str(said) for (said,) in connection.execute("PRAGMA integrity_check") if said != "ok"]
