"""Everything a store holds, row by row: to be written out, and put back into a store that holds nothing yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from memory_rag.errors import StoreError
from memory_rag.store.appending import store_title
from memory_rag.store.engine import Connection, Connections
from memory_rag.store.inserting import log
from memory_rag.store.snapshot import Snapshot
from memory_rag.store.turn_rows import COLUMNS, row_values, turn_of
from memory_rag.turns import Conversation, Turn, text_bytes, text_from_bytes

Tables = Mapping[str, Mapping[str, str]]
"""Tables by name: their columns in order with the declared kinds, TEXT, BLOB, INTEGER or REAL."""
Values = Mapping[str, Any]
"""A row by column, as JSON can say it: a BLOB that is text is a text, any other one ``{"hex": "…"}``; a value whose
kind is not its column's own, ``{"text": …}`` or ``{"blob": …}``."""

LEFT_OUT: Final = {
    "migrations": "the format of the file itself",
    "summary_claims": "who is summarising at this moment",
    "erasing": "bytes of this very file that are still to be overwritten",
    "talk_vectors": "made of the lines, and made again by any embedder",
    "talk_windows": "made of the turns, and made again by any embedder",
    "vectors": "made of the turns, and made again by any embedder",
    "vector_spaces": "the names of what made the vectors",
    "words": "made of the turns, and made again",
}
"""Tables that are no part of what was said or made of it, and why."""
MIGRATING: Final = "migrating"
"""The name of the fact in which a memory that another is copied into notes how far it is; gone when it is whole."""
_SHAPED: Final = frozenset({"turns", "conversations"})


class WholeStore:
    """One state of a store, every table of it."""

    def __init__(self, snapshot: Snapshot, tables: Tables) -> None:
        self._snapshot = snapshot
        self._tables = tables

    def numbers(self) -> dict[str, int]:
        """Return the highest number that each table ever gave, by table; a number is never given twice."""
        return {
            str(name): int(seq)
            for name, seq in self._snapshot.rows("SELECT name, seq FROM sqlite_sequence WHERE seq > 0 ORDER BY name")
            if name in self._tables or name in _SHAPED
        }

    def conversations(self) -> Iterator[Conversation]:
        """Yield every conversation by id, with its title ("" if its source gave none)."""
        for conversation_id, title in self._snapshot.rows(
            "SELECT conversation_id, title FROM (SELECT conversation_id FROM conversations UNION "
            "SELECT conversation_id FROM turns) AS named LEFT JOIN conversations USING (conversation_id) "
            "ORDER BY conversation_id"
        ):
            yield Conversation(conversation_id, text_from_bytes(title or b""))

    def turns(self) -> Iterator[tuple[int, Turn]]:
        """Yield (row, turn) in stored order."""
        for record in self._snapshot.rows(f"SELECT {COLUMNS} FROM turns ORDER BY row"):
            yield record[0], turn_of(record)

    def turns_of(self, conversation_id: str) -> Iterator[tuple[int, Turn]]:
        """Yield (row, turn) of a conversation in spoken order."""
        where = "WHERE conversation_id = ? ORDER BY ordinal, row"
        for record in self._snapshot.rows(f"SELECT {COLUMNS} FROM turns {where}", (conversation_id,)):
            yield record[0], turn_of(record)

    def n_turns(self) -> int:
        return sum(int(n) for (n,) in self._snapshot.rows("SELECT count(*) FROM turns"))

    def others(self) -> Iterator[tuple[str, Values]]:
        """Yield (table, row) of everything else, by table and within it by key."""
        for table, columns in self._tables.items():
            for record in self._snapshot.rows(select_all(table, columns)):
                yield table, said(record, columns)


@contextmanager
def everything(connections: Connections) -> Iterator[WholeStore]:
    """All of a store as it is at this moment, whatever is written while it is read."""
    tables = _written_out(connections)
    with connections.snapshot() as snapshot:
        yield WholeStore(snapshot, tables)


class Restoring:
    """Puts back what was written out, row for row, in one transaction."""

    def __init__(self, connections: Connections, connection: Connection, tables: Tables) -> None:
        self._connections = connections
        self._connection = connection
        self._tables = tables

    def put_conversation(self, conversation: Conversation) -> None:
        if conversation.title:
            store_title(self._connection, conversation)

    def put_turn(self, row: int, turn: Turn) -> None:
        """Store a turn under its row number.

        Raises:
            TurnError: a part of it that can't be stored.
            StoreError: another turn has its number, its id or its source.
        """
        values = {"row": row, **row_values(turn)}
        marks = ", ".join(f":{name}" for name in values)
        with self._connections.errors():
            self._connection.execute(f"INSERT INTO turns ({', '.join(values)}) VALUES ({marks})", values)

    def put_row(self, table: str, values: Values) -> None:
        """Store a row of another table.

        Raises:
            StoreError: this release has no such table or column, or the row doesn't fit.
        """
        columns = self._tables.get(table, {})
        unknown = sorted(values.keys() - columns.keys())
        if not columns or unknown or not values:
            named = ", ".join(map(repr, unknown or values)) or "no columns"
            raise StoreError(
                f"this release knows no table {table!r} with {named}; a later release of memory_rag wrote it, "
                "install that to read it"
            )
        names = ", ".join(f'"{name}"' for name in values)
        # What the memory was told when it was opened, such as its language, stays.
        kept = " ON CONFLICT DO NOTHING" if table == "facts" else ""
        marks = ", ".join("?" * len(values))
        with self._connections.errors():
            self._connection.execute(
                f'INSERT INTO "{table}" ({names}) VALUES ({marks}){kept}',
                [_stored(value, columns[name]) for name, value in values.items()],
            )

    def log_added(self, rows: Iterable[int], *, now: int) -> None:
        """Number the turns at these rows as added now; where the log of changes is not put back."""
        for row in rows:
            log(self._connection, "add", row, now)

    def put_numbers(self, numbers: Mapping[str, int]) -> None:
        """Go on counting where the other store was; after everything else."""
        for table, seq in numbers.items():
            self._connections.catalogue.count_from(self._connection, table, seq)


@contextmanager
def restoring(connections: Connections, *, discard: bool = False) -> Iterator[Restoring]:
    """A transaction in which a store that holds nothing yet gets what another held; ``discard`` leaves nothing.

    Raises:
        StoreError: something doesn't fit or can't be written; the store is as it was.
    """
    tables = _written_out(connections)
    with connections.writing(discard=discard) as connection:
        yield Restoring(connections, connection, tables)


def is_untouched(connections: Connections) -> bool:
    """Tell whether nothing was ever stored, but for facts about the memory itself such as its language."""
    tables = [*_SHAPED, *_written_out(connections)]
    with connections.reading() as connection:
        used = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_sequence WHERE seq > 0")}
        return used.isdisjoint(tables) and not any(
            connection.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone() for table in tables if table != "facts"
        )


def row_counts(connections: Connections) -> dict[str, int]:
    """Return how many rows each table has beside turns and conversations, by table; those without any are left out."""
    names = _written_out(connections)
    with connections.reading() as connection:
        counts = {name: int(connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in names}
    return {name: n for name, n in counts.items() if n}


def said(record: Sequence[Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Return a row as JSON can say it."""
    return {name: _said(value, kind) for (name, kind), value in zip(columns.items(), record, strict=True)}


def _written_out(connections: Connections) -> Tables:
    """Return the tables that are written out as rows, by name."""
    with connections.reading() as connection:
        tables = connections.catalogue.tables(connection)
    return {name: tables[name] for name in sorted(tables) if name not in LEFT_OUT and name not in _SHAPED}


def select_all(table: str, columns: Iterable[str]) -> str:
    """Return the query for all rows of a table, in an order that is the same whichever engine keeps them."""
    names = [f'"{name}"' for name in columns]
    order = "row" if table == "turns" else ", ".join(f"{name} NULLS FIRST" for name in names)
    return f'SELECT {", ".join(names)} FROM "{table}" ORDER BY {order}'


def _said(value: Any, kind: str) -> Any:
    if isinstance(value, bytes):
        try:
            text = text_from_bytes(value)
        except UnicodeDecodeError:
            return {"hex": value.hex()}
        # Bytes that only look like text, a checksum say, come back as they were: the encoding has one form.
        return text if kind == "BLOB" else {"blob": text}
    if isinstance(value, str) and kind == "BLOB":
        return {"text": value}
    return value


def _stored(value: Any, kind: str) -> Any:
    match value:
        case {"hex": str(digits)}:
            return bytes.fromhex(digits)
        case {"blob": str(text)}:
            return text_bytes(text)
        case {"text": str(text)}:
            return text
        case str() if kind == "BLOB":
            return text_bytes(value)
        case bool():
            return int(value)
        case float():
            return float(value)
        case str() | int() | None:
            return value
    raise StoreError(f"{value!r:.80} can't be stored; a value is a text, a number, null or an object of one of these")
