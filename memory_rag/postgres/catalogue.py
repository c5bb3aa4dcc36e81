"""The tables on a server, told as SQLite's are: without the owner, and by SQLite's names for what a column holds."""

from __future__ import annotations

from typing import Final

from memory_rag.postgres.dialect import OWNER
from memory_rag.postgres.migrations import NUMBERED
from memory_rag.postgres.table import SCHEMA
from memory_rag.store.engine import Connection

_KINDS: Final = {"bytea": "BLOB", "text": "TEXT", "double precision": "REAL"}
_KINDS_OF_TABLES: Final = {
    "vectors": "vectors",
    "talk_vectors": "vectors",
    "talk_windows": "vectors",
    "words": "derived",
}
_ROW_HEAD: Final = 28
"""Bytes of a row's header and of what points to it in its page."""
_OF_THE_SERVER: Final = frozenset({"numbers_kept", "migrations"})
_COLUMNS: Final = (
    "SELECT relname, attname, format_type(atttypid, NULL) FROM pg_attribute "
    "JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace "
    "WHERE nspname = ? AND relkind IN ('r', 'p') AND NOT relispartition AND attnum > 0 AND NOT attisdropped "
    'ORDER BY relname COLLATE "C", attnum'
)


class PostgresCatalogue:
    """What a server tells of its tables; numbers are given as :mod:`memory_rag.postgres.connections` says."""

    def tables(self, connection: Connection) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for table, column, kind in connection.execute(_COLUMNS, (SCHEMA,)):
            if table not in _OF_THE_SERVER and column != OWNER:
                found.setdefault(str(table), {})[str(column)] = _KINDS.get(kind, "INTEGER")
        return found

    def count_from(self, connection: Connection, table: str, seq: int) -> None:
        # Kept with the commit; numbers only grow.
        connection.execute(f"SELECT set_config('{SCHEMA}.last_' || ?, ?, true)", (table, str(seq)))

    def count_anew(self, connection: Connection) -> None:
        for table in NUMBERED:
            connection.execute("UPDATE numbers_kept SET seq = 0 WHERE name = ?", (table,))
            connection.execute(f"SELECT set_config('{SCHEMA}.last_' || ?, '', true)", (table,))

    def n_bytes(self, connection: Connection) -> dict[str, int]:
        """Return the bytes of the owner's rows, by kind; indexes are everybody's, and none of them is in it."""
        sizes = {"words": 0, "vectors": 0, "derived": 0}
        for table, columns in self.tables(connection).items():
            # Column by column: of a whole row, a long text would be fetched and unpacked to be measured.
            row = " + ".join([str(_ROW_HEAD), *(f'coalesce(pg_column_size("{name}"), 0)' for name in columns)])
            (size,) = connection.execute(f'SELECT coalesce(sum({row}), 0)::bigint FROM "{table}"').fetchone()
            sizes[_KINDS_OF_TABLES.get(table, "words")] += size
        return sizes
