"""Whether anything that is made of talks was added to a table, or taken from it."""

from __future__ import annotations

from memory_rag.store.engine import Connections


def shelf_version(connections: Connections, table: str, *, number: str) -> tuple[int, int]:
    """Return how many rows a table has and the last one's number: what changes when they do, as none is given twice.

    Each is asked for by itself: counted beside the greatest number, every row would be looked at.
    """
    with connections.reading() as connection:
        (n,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        (last,) = connection.execute(f"SELECT coalesce(max({number}), 0) FROM {table}").fetchone()
    return int(n), int(last)
