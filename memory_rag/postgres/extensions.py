"""What a server has beside PostgreSQL itself: pgvector, without which nothing goes, and a true BM25 where it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

from memory_rag.errors import StoreError
from memory_rag.postgres.migrations import MAKING_ALONE

VECTOR: Final = "vector"
BM25: Final = "pg_textsearch"
_LEAST_VECTOR: Final = (0, 8)
"""From here on a search that is filtered goes on until it has as many rows as it was asked for."""
_FOUND: Final = (
    "SELECT extname, extversion, quote_ident(nspname) FROM pg_extension "
    "JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = ANY($1)"
)
_OFFERED: Final = "SELECT 1 FROM pg_available_extensions WHERE name = $1"


class Executes(Protocol):
    """A connection within a transaction."""

    def execute(self, statement: str, values: tuple[Any, ...] = ..., /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Extensions:
    """What a database has: its versions by name, and the schemas that their types are in."""

    versions: dict[str, str]
    schemas: tuple[str, ...]

    @property
    def has_bm25(self) -> bool:
        return BM25 in self.versions


def extensions_of(connection: Executes, *, server: str, create: bool) -> Extensions:
    """Return what a database has; pgvector is taken in if it is not there yet, ``create`` is true and we may.

    Raises:
        StoreError: pgvector isn't there, or too old.
    """
    found = _found(connection)
    if VECTOR not in found.versions and create and connection.execute(_OFFERED, (VECTOR,)).fetchone() is not None:
        connection.execute(MAKING_ALONE)
        found = _found(connection)
        may = "SELECT trusted AND has_database_privilege(current_database(), 'CREATE') "
        trusted = connection.execute(f"{may} FROM pg_available_extension_versions WHERE name = $1", (VECTOR,))
        if VECTOR not in found.versions and any(can for (can,) in trusted.fetchall()):
            connection.execute(f"CREATE EXTENSION {VECTOR}")
            found = _found(connection)
    version = found.versions.get(VECTOR)
    if version is None:
        raise StoreError(
            f"{server} has no pgvector; install it on the server, then let a superuser run in this database: "
            "CREATE EXTENSION vector"
        )
    if tuple(map(int, version.split(".")[:2])) < _LEAST_VECTOR:
        raise StoreError(
            f"{server} has pgvector {version}, which loses rows of a filtered search; install 0.8 or later on the "
            "server, then run in this database: ALTER EXTENSION vector UPDATE"
        )
    return found


def _found(connection: Executes) -> Extensions:
    rows = connection.execute(_FOUND, ([VECTOR, BM25],)).fetchall()
    schemas = sorted({str(schema) for _name, _version, schema in rows})
    return Extensions({str(name): str(version) for name, version, _schema in rows}, tuple(schemas))
