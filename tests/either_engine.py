"""Memories of either engine: what holds for one holds for the other.

A fixture with ``params=ENGINES`` runs its tests over both; those over PostgreSQL need a server, and are slow ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memory_rag.memory import Memory
from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.store.turn_writer import TurnWriter

ENGINES = ["sqlite", "postgres"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory lies: in a folder, or on a server, for an owner of the folder's name."""

    folder: Path
    server: str = ""

    @classmethod
    def of_engine(cls, request: pytest.FixtureRequest, folder: Path) -> Place:
        """Return the place for the engine that a fixture is asked for."""
        return cls(folder, "" if request.param == "sqlite" else request.getfixturevalue("postgres_url"))

    def open(self, **given: Any) -> Memory:
        if self.server:
            return Memory.open(self.server, owner=str(self.folder), **given)
        return Memory.open(self.folder, **given)

    def open_store(self) -> TurnWriter:
        if self.server:
            return PostgresTurnStore(self.server, owner=str(self.folder))
        return SqliteTurnStore(self.folder)

    @contextmanager
    def stores(self) -> Iterator[Callable[[], TurnWriter]]:
        """Give what opens the store, as often as it is called; all are closed at the end."""
        stores: list[TurnWriter] = []

        def opened() -> TurnWriter:
            stores.append(self.open_store())
            return stores[-1]

        try:
            yield opened
        finally:
            for one in stores:
                one.close()

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Return what a query of the tables gives, as another process would see it."""
        with self.stores() as opened, opened().connections.reading() as connection:
            return list(connection.execute(statement).fetchall())

    def everything(self) -> bytes:
        """Return every byte that is kept: the files, or all that the tables give."""
        if not self.server:
            return b"\n".join(path.read_bytes() for path in sorted(self.folder.rglob("*")) if path.is_file())
        with self.stores() as opened:
            connections = opened().connections
            with connections.reading() as connection:
                tables = connections.catalogue.tables(connection)
                rows = [row for table in tables for row in connection.execute(f"SELECT * FROM {table}").fetchall()]
        values = (value for row in rows for value in row)
        return b"\n".join(value if isinstance(value, bytes) else str(value).encode() for value in values)
