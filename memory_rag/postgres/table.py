"""A table on a server: an owner's rows among those of others, and nobody's but theirs to see."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

SCHEMA: Final = "memory_rag"
SETTING: Final = f"{SCHEMA}.owner"
"""What a transaction is set to, to say whose it is."""
NAME: Final = 'text COLLATE "C"'
"""The type of ids and names: in the order of their bytes, as in SQLite."""
_THIS_OWNER: Final = f"current_setting('{SETTING}', true)"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the store: its columns, the key that tells an owner's rows apart, and further indexes."""

    name: str
    columns: str
    key: str = ""
    indexes: tuple[str, ...] = ()

    def statements(self, *, n_partitions: int) -> Iterator[str]:
        """Yield what makes the table, closed to everybody but the owner of each row."""
        key = f", PRIMARY KEY (owner, {self.key})" if self.key else ""
        split = " PARTITION BY HASH (owner)" if n_partitions else ""
        yield (
            f'CREATE TABLE {SCHEMA}.{self.name} ({self.columns}, owner text COLLATE "C" NOT NULL '
            f"DEFAULT current_setting('{SETTING}') CHECK (owner <> ''){key}){split}"
        )
        yield from _closed(self.name)
        for number in range(n_partitions):
            part = f"{self.name}_{number}"
            yield (
                f"CREATE TABLE {SCHEMA}.{part} PARTITION OF {SCHEMA}.{self.name} "
                f"FOR VALUES WITH (MODULUS {n_partitions}, REMAINDER {number})"
            )
            # A policy holds for the table that a statement names.
            yield from _closed(part)
        yield from (index.replace(f"ON {self.name} (", f"ON {SCHEMA}.{self.name} (owner, ") for index in self.indexes)


def number_of(table: str) -> str:
    """Return the type and the default of a column that numbers a table's rows, each owner's from 1 on."""
    return f"bigint NOT NULL DEFAULT {SCHEMA}.next_number('{table}')"


def cleared_with(table: str, *, by: str, deletes: str) -> Iterator[str]:
    """Yield what deletes, with each row of a table that goes, what these statements name; it is ``OLD`` in them.

    ``by`` is the name of the function, to be called by further triggers.
    """
    yield (
        f"CREATE FUNCTION {SCHEMA}.{by}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN\n"
        f"  {deletes}\n"
        "  RETURN NULL;\n"
        "END $$"
    )
    yield (
        f"CREATE TRIGGER {by}_with_{table} AFTER DELETE ON {SCHEMA}.{table} FOR EACH ROW "
        f"EXECUTE FUNCTION {SCHEMA}.{by}()"
    )


def cleared_on(table: str, *, columns: str, by: str, name: str) -> str:
    """Return what lets a function of :func:`cleared_with` run when one of these columns gets another value."""
    old, new = (", ".join(f"{age}.{column}" for column in columns.split(", ")) for age in ("OLD", "NEW"))
    return (
        f"CREATE TRIGGER {name} AFTER UPDATE OF {columns} ON {SCHEMA}.{table} FOR EACH ROW "
        f"WHEN (({old}) IS DISTINCT FROM ({new})) EXECUTE FUNCTION {SCHEMA}.{by}()"
    )


def _closed(table: str) -> Iterator[str]:
    yield f"ALTER TABLE {SCHEMA}.{table} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {SCHEMA}.{table} FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY of_owner ON {SCHEMA}.{table} USING (owner = {_THIS_OWNER}) WITH CHECK (owner = {_THIS_OWNER})"


def number_of_maker(name: str) -> int:
    """Return the number of what made vectors or terms, by its name: the same everywhere, and another for another."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") >> 1
