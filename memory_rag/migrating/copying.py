"""Rows from one memory into another, a few thousand at a time, each time with the note of how far it is.

Whoever is killed goes on behind the last rows that were committed: the note is written with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from memory_rag.errors import StoreError
from memory_rag.migrating.tables import Record, Tables, numbers, records
from memory_rag.store.engine import Connection, Connections
from memory_rag.store.snapshot import Snapshot
from memory_rag.store.whole import MIGRATING

Tell = Callable[[str, int, int], None]
_ROWS: Final = 2000
_BYTES: Final = 8 * 2**20
_NOTED: Final = "SELECT value FROM facts WHERE name = ?"


@dataclass(slots=True)
class Note:
    """How far a target is: the state of the source that it gets, and how many rows of each table it has."""

    mark: str
    done: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Note:
        """Return what was noted.

        Raises:
            StoreError: it is none of ours.
        """
        try:
            noted = json.loads(text)
            return cls(str(noted["mark"]), {str(name): int(n) for name, n in noted["done"].items()})
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise StoreError(f"what is noted of an earlier migration can't be read ({text[:80]!r})") from error

    def as_text(self) -> str:
        return json.dumps({"mark": self.mark, "done": self.done}, ensure_ascii=False)


class Copying:
    """Copies the tables of one state of a memory into another that holds nothing, or what an earlier run copied."""

    def __init__(self, source: Snapshot, target: Connections, tables: Tables, note: Note) -> None:
        self._source = source
        self._target = target
        self._tables = tables
        self._note = note
        self._noted = note.as_text()

    def begin(self) -> None:
        """Note in the target what is about to come; nothing for one that is being filled already."""
        with self._target.writing() as connection:
            if connection.execute(_NOTED, (MIGRATING,)).fetchone() is None:
                connection.execute("INSERT INTO facts VALUES (?, ?)", (MIGRATING, self._noted))

    def run(self, *, n_turns: int, tell: Tell | None) -> None:
        """Copy what isn't there yet; ``tell`` hears how many of ``n_turns`` turns are.

        Raises:
            StoreError: another process fills or changes the target, or it can't be written; what was committed stays.
        """
        for table, columns in self._tables.items():
            done = self._note.done.get(table, 0)
            names = ", ".join(f'"{name}"' for name in columns)
            insert = f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" * len(columns))})'
            if tell is not None and table == "turns":
                tell("copying", done, n_turns)
            for some in _in_batches(records(self._source, table, columns, skipped=done)):
                with self._target.writing() as connection:
                    self._refuse_others(connection)
                    connection.executemany(insert, some)
                    done += len(some)
                    self._note.done[table] = done
                    self._write_note(connection)
                self._noted = self._note.as_text()
                if tell is not None and table == "turns":
                    tell("copying", done, n_turns)
        with self._target.writing() as connection:
            self._refuse_others(connection)
            for table, seq in numbers(self._source, self._tables).items():
                self._target.catalogue.count_from(connection, table, seq)

    def finish(self) -> None:
        """Take the note away: the target is whole."""
        with self._target.writing() as connection:
            self._refuse_others(connection)
            connection.execute("DELETE FROM facts WHERE name = ?", (MIGRATING,))

    def _write_note(self, connection: Connection) -> None:
        connection.execute("UPDATE facts SET value = ? WHERE name = ?", (self._note.as_text(), MIGRATING))

    def _refuse_others(self, connection: Connection) -> None:
        found = connection.execute(_NOTED, (MIGRATING,)).fetchone()
        if found is None or found[0] != self._noted:
            raise StoreError(
                f"{self._target.place} is being filled by another process too; let one of them do it, then run this "
                "again"
            )


def noted_in(target: Connections) -> Note | None:
    """Return how far a target is; None if nothing is being moved into it."""
    with target.reading() as connection:
        found = connection.execute(_NOTED, (MIGRATING,)).fetchone()
    return None if found is None else Note.read(str(found[0]))


def counts(connections: Connections, tables: Tables) -> dict[str, int]:
    """Return how many rows each table has, but for the note of how far a target is."""
    with connections.reading() as connection:
        found = {table: int(connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]) for table in tables}
        found["facts"] -= connection.execute(_NOTED, (MIGRATING,)).fetchone() is not None
    return found


def empty(target: Connections, tables: Tables) -> None:
    """Take out of a target all that an unfinished migration brought, and its numbers."""
    with target.writing() as connection:
        for table in tables:
            connection.execute(f'DELETE FROM "{table}"')
        target.catalogue.count_anew(connection)


def _in_batches(rows: Iterator[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    n_bytes = 0
    for record in rows:
        batch.append(record)
        n_bytes += sum(_size(value) for value in record)
        if len(batch) == _ROWS or n_bytes >= _BYTES:
            yield batch
            batch, n_bytes = [], 0
    if batch:
        yield batch


def _size(value: Any) -> int:
    return len(value) if isinstance(value, bytes | str) else 8
