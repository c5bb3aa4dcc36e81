"""Taking turns out of the tables, and remembering whose bytes are still to be overwritten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from memory_rag.store.engine import Connection

_AT_ONCE: Final = 500
IS_EMPTY: Final = "NOT EXISTS (SELECT 1 FROM turns WHERE turns.conversation_id = conversations.conversation_id)"
"""Asked of a row of ``conversations``. A list of what all turns have may not fit into what PostgreSQL gives a query,
and is then gone through for each row."""
_BY_ROW: Final = ("turns", "versions", "vanished", "returned_blocks", "erased")
"""Tables whose ``row`` is a turn's."""


def take_out(connection: Connection, rows: Sequence[int], *, now: int) -> None:
    """Remove the turns at these rows with all that is kept by row, and the titles of conversations that are empty now.

    Their bytes are still in the file, and what was made of them beside it: the rows are noted as ``erasing`` until
    that is done too.
    """
    for table in _BY_ROW:
        connection.executemany(f"DELETE FROM {table} WHERE row = ?", [(row,) for row in rows])
    note_erasing(connection, rows, now=now)
    connection.executemany(
        "INSERT INTO changes (kind, row, changed_at) VALUES ('remove', ?, ?)", [(row, now) for row in rows]
    )
    connection.execute(f"DELETE FROM conversations WHERE {IS_EMPTY}")


def note_erasing(connection: Connection, rows: Iterable[int], *, now: int) -> None:
    """Note that bytes of what these rows held are still to be overwritten, in the file and beside it."""
    connection.executemany(
        "INSERT INTO erasing VALUES (?, ?, 0) ON CONFLICT (row) DO UPDATE SET since = excluded.since, files_done = 0",
        [(row, now) for row in rows],
    )


def in_parts(rows: Sequence[int]) -> Iterator[tuple[list[int], str]]:
    """Yield rows a few hundred at a time, with as many question marks."""
    for start in range(0, len(rows), _AT_ONCE):
        part = list(rows[start : start + _AT_ONCE])
        yield part, ",".join("?" * len(part))
