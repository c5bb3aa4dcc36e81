"""Whether the server's indexes find what is stored: asked for turns of which the answer is known, and made anew if not.

An index may have lost what its table has. That of pg_textsearch 1.0 keeps what is new in memory alone: after a crash it
is empty and says nothing of it. On a replica that takes over it lacks its first pages: an insert fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from memory_rag.errors import StoreError
from memory_rag.postgres.migrations import MAKING_ALONE
from memory_rag.postgres.table import SCHEMA
from memory_rag.store.engine import Connection, Connections

_ASKED: Final = 8
_AMONG: Final = 20
"""A turn is to be among so many that are found by its own words, or to say the same as one."""
_AS_NEAR: Final = 0.999
"""By its own vector a turn is to be found first, or one as near as this: indexes have vectors at half the size."""
# On a small table the planner would compare all rows, and the index would not be asked. Only for what is asked of the
# index: without sequential scans, what is no search is read from it, too.
_BY_INDEX: Final = (
    "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true), "
    "set_config('enable_bitmapscan', 'off', true), set_config('hnsw.iterative_scan', 'strict_order', true), "
    "set_config('hnsw.ef_search', '400', true)"
)
_INDEXES: Final = (
    "SELECT relname, pg_class.oid::bigint FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
    "JOIN pg_am ON pg_am.oid = relam JOIN pg_namespace ON pg_namespace.oid = relnamespace "
    "WHERE nspname = ? AND NOT relispartition AND amname IN ('bm25', 'hnsw') ORDER BY relname"
)
_TOLD: Final = "SELECT replace(pg_get_indexdef(oid), ' ON ONLY ', ' ON ') FROM pg_class WHERE oid = ?"
_STARTED: Final = (
    "SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint, "
    "(SELECT seq FROM numbers_kept WHERE name = 'started')"
)
_KEEP_STARTED: Final = (
    "INSERT INTO numbers_kept (name, seq) VALUES ('started', ?) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq"
)


@dataclass(frozen=True, slots=True)
class Checked:
    """An index of the server: of how many of the owner's turns it was asked, and how many of them it found."""

    index: str
    n_asked: int
    n_found: int
    oid: int
    """The server's number of it; one that is made anew has another."""

    @property
    def is_right(self) -> bool:
        """HNSW is allowed to miss some; it is made anew, for hours maybe, only if it misses most."""
        is_exact = self.index.startswith("words")
        return self.n_asked == self.n_found if is_exact else 2 * self.n_found >= self.n_asked


def check_indexes(connections: Connections) -> list[Checked]:
    """Ask every index for some of the owner's newest turns, and return what it found.

    An owner without turns has nothing to ask for. An index that can't be read at all has found nothing.

    Raises:
        StoreError: the server can't be read.
    """
    with connections.reading() as connection:
        indexes = connection.execute(_INDEXES, (SCHEMA,)).fetchall()
    checked = []
    for index, oid in indexes:
        asked = _Asked()
        with suppress(StoreError), connections.reading() as connection:
            (_words if index.startswith("words") else _vectors)(connection, index, asked)
        checked.append(Checked(index, asked.n, asked.n_found, oid))
    return checked


def remake_wrong(connections: Connections) -> list[str]:
    """Make those indexes anew that don't find what is stored, and return their names.

    Raises:
        StoreError: the role doesn't own them, or the server can't be written to.
    """
    wrong = [one for one in check_indexes(connections) if not one.is_right]
    if wrong:
        remake(connections, wrong)
    return [one.index for one in wrong]


def words_indexes(connections: Connections) -> list[Checked]:
    """Return the indexes of words, none of which was asked anything."""
    with connections.reading() as connection:
        found = connection.execute(_INDEXES, (SCHEMA,)).fetchall()
    return [Checked(index, 0, 0, oid) for index, oid in found if index.startswith("words")]


def check_after_start(connections: Connections) -> None:
    """Make wrong indexes anew if the server was started since this owner's were looked at.

    It was, too, where another one has taken over, or where one was brought back to an earlier time.

    Raises:
        StoreError: the server can't be read or written to.
    """
    with connections.reading() as connection:
        now, before = connection.execute(_STARTED).fetchone()
    if now != before:
        remake_wrong(connections)
        with connections.writing() as connection:
            connection.execute(_KEEP_STARTED, (now,))


def remake(connections: Connections, checked: Sequence[Checked]) -> None:
    """Make indexes anew, whatever they found; who searches meanwhile waits.

    Raises:
        StoreError: the role doesn't own them, or the server can't be written to.
    """
    with connections.writing() as connection:
        connection.execute(MAKING_ALONE)
        for one in checked:
            # Others, who found the same, may have made it meanwhile.
            found = connection.execute(_TOLD, (one.oid,)).fetchone()
            if found is not None:
                # No REINDEX: who has used pg_textsearch's index before would go on with the old one.
                connection.execute(f"DROP INDEX {SCHEMA}.{one.index}")
                connection.execute(found[0])


@dataclass(slots=True)
class _Asked:
    n: int = 0
    n_found: int = 0

    def whether(self, connection: Connection, statement: str, asked: Any) -> None:
        """Count a question, and whether what is asked for is among what is found."""
        self.n += 1
        self.n_found += any(found == asked for (found,) in connection.execute(statement, (asked,)).fetchall())


def _words(connection: Connection, index: str, asked: _Asked) -> None:
    newest = connection.execute(
        f"SELECT terms FROM words WHERE terms <> '' ORDER BY row DESC LIMIT {_ASKED}"
    ).fetchall()
    connection.execute(_BY_INDEX).fetchall()
    for (terms,) in newest:
        asked.whether(
            connection,
            f"SELECT terms FROM words ORDER BY terms <@> to_bm25query(?1, '{SCHEMA}.{index}') LIMIT {_AMONG}",
            terms,
        )


def _vectors(connection: Connection, index: str, asked: _Asked) -> None:
    space = int(index.rpartition("_")[2])
    newest = connection.execute(
        f"SELECT embedding::text, vector_dims(embedding) FROM vectors WHERE space = {space} "
        f"AND (embedding <#> embedding) < 0 ORDER BY number DESC LIMIT {_ASKED}"
    ).fetchall()
    connection.execute(_BY_INDEX).fetchall()
    for vector, dim in newest:
        # More than the first would be looked for among everybody's, for seconds where an owner has few.
        asked.whether(
            connection,
            f"SELECT CASE WHEN embedding <#> ?1::vector <= {_AS_NEAR} * (?1::vector <#> ?1::vector) THEN ?1::text END "
            f"FROM vectors WHERE space = {space} "
            f"ORDER BY (embedding::halfvec({dim})) <#> ?1::vector::halfvec({dim}) LIMIT 1",
            vector,
        )
