"""SQLite's tables, as it tells of them itself."""

from __future__ import annotations

from pathlib import Path

from memory_rag.store.engine import Connection
from memory_rag.store.files import bytes_by_kind


class SqliteCatalogue:
    """What a file of SQLite tells of its tables; each that has AUTOINCREMENT is numbered in ``sqlite_sequence``."""

    def tables(self, connection: Connection) -> dict[str, dict[str, str]]:
        names = [
            str(name)
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            if not name.startswith("sqlite_")
        ]
        return {
            name: {str(c[1]): str(c[2]).upper() for c in connection.execute(f'PRAGMA table_info("{name}")')}
            for name in names
        }

    def count_from(self, connection: Connection, table: str, seq: int) -> None:
        connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, seq))

    def count_anew(self, connection: Connection) -> None:
        connection.execute("DELETE FROM sqlite_sequence")

    def n_bytes(self, connection: Connection) -> dict[str, int]:
        (file,) = (path for _, name, path in connection.execute("PRAGMA database_list") if name == "main")
        return bytes_by_kind(Path(file).parent)
