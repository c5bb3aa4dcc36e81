"""Rows of a table some at a time, within a transaction: all of them together may be more than memory holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from memory_rag.store.engine import Connection

_AT_ONCE: Final = 200


def row_pages(
    connection: Connection, table: str, columns: Sequence[str], *, key: Sequence[str] = ("row",), where: str = ""
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a table by their key, at most 200 together; ``where`` leaves others out.

    A key is made of numbers. What was yielded may be changed or deleted before the next are asked for.
    """
    keys = ", ".join(key)
    marks = ", ".join("?" * len(key))
    kept = f" AND {where}" if where else ""
    query = (
        f"SELECT {keys}, {', '.join(columns)} FROM {table} WHERE ({keys}) > ({marks}){kept} "
        f"ORDER BY {keys} LIMIT {_AT_ONCE}"
    )
    last: tuple[Any, ...] = (-1,) * len(key)
    while rows := connection.execute(query, last).fetchall():
        yield [tuple(row[len(key) :]) for row in rows]
        last = tuple(rows[-1][: len(key)])
        if len(rows) < _AT_ONCE:
            return
