"""Rows that SQLite still gives of a damaged file: from the first on, and from the last back, until it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_rag.errors import StoreError
from memory_rag.store.connections import Connection, SqliteErrors
from memory_rag.store.whole import LEFT_OUT

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What was read of one table: its columns with their declared kinds, rows as SQLite gives them, and if all are."""

    table: str
    columns: dict[str, str]
    rows: Rows
    is_whole: bool


def salvaged(connection: Connection) -> Iterator[Salvaged]:
    """Yield every table of a file that may be damaged, by name.

    Raises:
        StoreError: not even the names of its tables can be read.
    """
    with SqliteErrors(Path("main"), garbled=True):
        names = [
            str(name)
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            if not name.startswith("sqlite_") and name not in LEFT_OUT
        ]
    for name in names:
        yield _table(connection, name)


def _table(connection: Connection, name: str) -> Salvaged:
    columns: dict[str, str] = {}
    rows: Rows = []
    with suppress(StoreError), SqliteErrors(Path(name), garbled=True):
        described = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
        columns = {str(c[1]): str(c[2]).upper() for c in described}
        keys = [f'"{c[1]}"' for c in sorted(described, key=lambda c: int(c[5])) if c[5]] or ["rowid"]
        if _read(connection, name, ", ".join(keys), rows):
            return Salvaged(name, columns, rows, is_whole=True)
        backwards: Rows = []
        _read(connection, name, ", ".join(f"{key} DESC" for key in keys), backwards)
        known = set(map(repr, rows))
        rows += [row for row in reversed(backwards) if repr(row) not in known]
    return Salvaged(name, columns, rows, is_whole=False)


def _read(connection: Connection, name: str, order: str, rows: Rows) -> bool:
    """Read rows until there are no more, or one can't be read; tell whether there were no more."""
    with suppress(StoreError), SqliteErrors(Path(name), garbled=True):
        for record in connection.execute(f'SELECT * FROM "{name}" ORDER BY {order}'):
            rows.append(record)
        return True
    return False
