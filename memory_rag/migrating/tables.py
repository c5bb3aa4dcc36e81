"""The tables of a memory as they are copied: which, in what order, and a row as bytes that say the same anywhere."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from memory_rag.errors import StoreError
from memory_rag.store.engine import Connections
from memory_rag.store.snapshot import Snapshot
from memory_rag.store.whole import MIGRATING, select_all

NOT_COPIED: Final = frozenset({"migrations", "summary_claims", "erasing", "vectors", "vector_spaces", "words"})
"""The format itself, who works at this moment, bytes to be overwritten at the old place; and what is copied apart, or
made anew."""
_FIRST: Final = ("turns", "changes", "versions")
_SKIPPED: Final = f" LIMIT {2**62} OFFSET "

Record = tuple[Any, ...]
Tables = Mapping[str, Mapping[str, str]]


def tables_of(connections: Connections) -> dict[str, Mapping[str, str]]:
    """Return the tables that are copied, turns and what is numbered with them first: their columns with their kinds."""
    with connections.reading() as connection:
        tables = connections.catalogue.tables(connection)
    names = [*_FIRST, *sorted(tables.keys() - NOT_COPIED - set(_FIRST))]
    return {name: tables[name] for name in names}


def refuse_other_tables(source: Tables, target: Tables, *, place: str) -> None:
    """Make sure that a target can hold every table.

    Raises:
        StoreError: it has not the same tables and columns.
    """
    unlike = [name for name in {**source, **target} if list(source.get(name, ())) != list(target.get(name, ()))]
    if unlike:
        raise StoreError(
            f"{place} has other tables than what is to be copied ({', '.join(unlike)}); open both with this release "
            "of memory_rag once, then try again"
        )


def records(snapshot: Snapshot, table: str, columns: Iterable[str], *, skipped: int = 0) -> Iterator[Record]:
    """Yield the rows of a table, in the same order from any engine, but for the first ``skipped``."""
    query = select_all(table, columns) + (f"{_SKIPPED}{skipped}" if skipped else "")
    for record in snapshot.rows(query):
        if table != "facts" or record[0] != MIGRATING:
            yield tuple(record)


def numbers(snapshot: Snapshot, tables: Iterable[str]) -> dict[str, int]:
    """Return the highest number that each of these tables ever gave."""
    known = set(tables)
    found = snapshot.rows("SELECT name, seq FROM sqlite_sequence WHERE seq > 0 ORDER BY name")
    return {str(name): int(seq) for name, seq in found if name in known}


def mark(snapshot: Snapshot, tables: Tables) -> str:
    """Return what tells a state of a memory from a later one.

    Turns with their versions change with an entry of the log, so its end and their number say enough of them; every
    row of the other tables is looked at.
    """
    seen = hashlib.sha256(repr(numbers(snapshot, tables)).encode())
    for table, columns in tables.items():
        if table in _FIRST:
            (count,) = snapshot.rows(f'SELECT count(*) FROM "{table}"')
            seen.update(repr((table, count)).encode())
            continue
        seen.update(table.encode())
        for record in records(snapshot, table, columns):
            seen.update(canonical(record))
    return seen.hexdigest()


def canonical(record: Sequence[Any]) -> bytes:
    """Return a row as bytes: of each value its kind, its length and itself, so that no two rows have the same."""
    return b"".join(map(_canonical, record))


def _canonical(value: Any) -> bytes:
    match value:
        case None:
            return b"n"
        case bytes():
            kind, data = b"b", value
        case str():
            kind, data = b"t", value.encode("utf-8", "surrogatepass")
        case float():
            kind, data = b"f", struct.pack(">d", value)
        case _:
            kind, data = b"i", str(int(value)).encode()
    return b"%s%d:%s" % (kind, len(data), data)
