"""Vectors on the server: kept beside their turns, read as they come, and the nearest of an owner's found by pgvector.

They are kept as they were made (float32), so that what is computed of them is what it is anywhere; only the index that
finds the nearest has them at half the size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import StoreError
from memory_rag.postgres.migrations import MAKING_ALONE
from memory_rag.postgres.parts import WHOLE, Part
from memory_rag.postgres.table import SCHEMA, number_of_maker
from memory_rag.retrieval.vector_blocks import ID, Ids
from memory_rag.retrieval.vectors import Checked, VectorRows, file_stem
from memory_rag.store.engine import Connection

if TYPE_CHECKING:
    from memory_rag.postgres.connections import PostgresConnections

_EXACT_UP_TO: Final = 10_000
"""Of so many vectors, all are compared: sooner done than to look for a few among the nearest of everybody's."""
_MOST_DIM: Final = 4000
_LOOKED_FOR: Final = 400
_COLUMNS: Final = "number, row, content, span_start, span_end, embedding"


class ServerVectors:
    """The vectors of one owner's turns by one embedder.

    ``rows`` are those that were read, in the order in which they were kept: all of them, or with ``whole`` False those
    of the turns that were asked for.
    """

    def __init__(
        self,
        connections: PostgresConnections,
        *,
        fingerprint: str,
        dim: int,
        whole: bool = True,
        exact_up_to: int = _EXACT_UP_TO,
    ) -> None:
        """Look for them under an embedder's fingerprint; with more than ``exact_up_to`` an index is asked.

        Raises:
            StoreError: more dimensions than an index takes.
        """
        if not 0 < dim <= _MOST_DIM:
            raise StoreError(
                f"an embedder with {dim} dimensions can't be indexed by pgvector; it takes 1 to {_MOST_DIM}"
            )
        self._connections = connections
        self._dim = dim
        self._whole = whole
        self._exact_up_to = exact_up_to
        self._writing: Connection | None = None
        self.fingerprint = fingerprint
        self._name = file_stem(fingerprint)
        self.space = number_of_maker(self._name)
        """What tells these vectors from those of other embedders."""
        self._indexed = f"(embedding::halfvec({dim}))"
        self.n_damaged = 0
        self.checked: Checked | None = None
        self._start_over()

    def _start_over(self) -> None:
        self._buffer: Vectors = np.zeros((64, self._dim), np.float32)
        self.n_read = 0
        self._last = 0
        self._is_replaced = False
        self._turns: set[int] = set()
        self._asked_for: set[int] = set()

    @property
    def generation(self) -> None:
        """None: what is read anew has other numbers."""

    @property
    def rows(self) -> Vectors:
        """The vectors that were read, shape (n_read, dim)."""
        return self._buffer[: self.n_read]

    def set_up(self) -> None:
        """Make the index of this embedder's vectors, if nobody has yet; everybody's are in it."""
        name = f"vectors_of_{self.space}"
        with self._connections.writing() as connection:
            note_space(connection, self._name, dim=self._dim)
            if connection.execute(
                "SELECT 1 FROM pg_indexes WHERE schemaname = ? AND indexname = ?", (SCHEMA, name)
            ).fetchone():
                return
            connection.execute(MAKING_ALONE)
            connection.execute(
                f"CREATE INDEX IF NOT EXISTS {name} ON vectors USING hnsw ({self._indexed} halfvec_ip_ops) "
                f"WHERE space = {self.space}"
            )

    # -- kept and read

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let nobody else change this owner's turns or vectors; what is appended meanwhile is committed at the end."""
        with self._connections.writing() as connection:
            self._writing = connection
            try:
                yield
            finally:
                self._writing = None

    def ask_for(self, rows: Sequence[int]) -> None:
        """Let the next reading bring the vectors of these turns, too, where not all are read."""
        self._asked_for.update(row for row in rows if row not in self._turns)

    def read_new(self) -> VectorRows | None:
        """Return the rows that were kept since the last call; None if all has to be read anew.

        Raises:
            StoreError: they can't be read.
        """
        if self._is_replaced:
            self._start_over()
            return None
        with self._connections.reading() as connection:
            found = self._new(connection)
        ids = np.array([record[1:5] for record in found], ID)
        vectors = np.zeros((len(found), self._dim), np.float32)
        for place, record in enumerate(found):
            vectors[place] = record[5].to_numpy()
            self._last = max(self._last, record[0])
        self._take_in(vectors)
        return VectorRows(vectors, ids)

    def append(self, vectors: Vectors, ids: Ids) -> None:
        """Keep more rows, for good once :meth:`alone` ends.

        Raises:
            StoreError: they can't be written; none of them is kept then.
        """
        if self._writing is None:
            raise StoreError("vectors are appended within alone()")
        if len(ids) == 0:
            return
        self._writing.execute(
            f"DELETE FROM vectors WHERE space = {self.space} AND row = ANY(?::bigint[])",
            (np.unique(ids["row"]).tolist(),),
        )
        self._writing.executemany(
            "INSERT INTO vectors (row, space, content, span_start, span_end, embedding) "
            f"VALUES (?, {self.space}, ?, ?, ?, ?)",
            [
                (row, content, start, end, vector)
                for (row, content, start, end), vector in zip(ids.tolist(), vectors, strict=True)
            ],
        )

    def replace_with(self, rows: VectorRows) -> None:
        """Read anew what is kept: the server itself keeps no vector of a turn that is gone."""
        del rows
        self._is_replaced = True

    def as_checked(self) -> Checked:
        """Return that nothing of this was looked at: the server checks its own pages."""
        return Checked(0, 0)

    def prune(self) -> None:
        """Delete this owner's vectors of other embedders."""
        with self._connections.writing() as connection:
            connection.execute(f"DELETE FROM vectors WHERE space <> {self.space}")
            connection.execute(f"DELETE FROM vector_spaces WHERE space <> {self.space}")

    def _new(self, connection: Connection) -> list[tuple[int, int, int, int, int, Any]]:
        of_space = f"SELECT {_COLUMNS} FROM vectors WHERE space = {self.space}"
        if self._whole:
            return connection.execute(f"{of_space} AND number > ? ORDER BY number", (self._last,)).fetchall()
        newest = connection.execute(f"SELECT max(number) FROM vectors WHERE space = {self.space}").fetchone()[0] or 0
        found = []
        if newest > self._last and self._turns:
            found = connection.execute(
                f"{of_space} AND number > ? AND row = ANY(?::bigint[]) ORDER BY number",
                (self._last, list(self._turns)),
            ).fetchall()
        if self._asked_for:
            found += connection.execute(
                f"{of_space} AND row = ANY(?::bigint[]) ORDER BY number", (list(self._asked_for),)
            ).fetchall()
            self._turns |= self._asked_for
            self._asked_for = set()
        self._last = max(self._last, newest)
        return found

    def _take_in(self, vectors: Vectors) -> None:
        n = self.n_read + len(vectors)
        if n > len(self._buffer):
            larger = np.zeros((max(n, 2 * len(self._buffer)), self._dim), np.float32)
            larger[: self.n_read] = self.rows
            self._buffer = larger
        self._buffer[self.n_read : n] = vectors
        self.n_read = n

    # -- found on the server

    def pending(self, *, limit: int, first: int = 0) -> list[int]:
        """Return the rows of recalled turns without a vector, oldest first, from row ``first`` on."""
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT row FROM turns WHERE recalled = 1 AND row >= ? AND NOT EXISTS (SELECT 1 FROM vectors "
                f"WHERE vectors.space = {self.space} AND vectors.row = turns.row) ORDER BY row LIMIT ?",
                (first, limit),
            ).fetchall()
        return [int(row) for (row,) in found]

    def n_pending(self) -> int:
        """Count the recalled turns without a vector."""
        with self._connections.reading() as connection:
            return int(
                connection.execute(
                    "SELECT (SELECT count(*) FROM turns WHERE recalled = 1) - "
                    f"(SELECT count(DISTINCT row) FROM vectors WHERE space = {self.space})"
                ).fetchone()[0]
            )

    def nearest(self, query: Vectors, *, n: int, part: Part = WHOLE) -> list[int]:
        """Return the rows of the n turns of a part nearest to a query, best first; fewer only if fewer have a vector.

        From ``exact_up_to`` vectors on, an index is asked, which may miss one here and there.
        """
        return self._connections.read(lambda connection: self._nearest(connection, query, n, part))

    def _nearest(self, connection: Connection, query: Vectors, n: int, part: Part) -> list[int]:
        if not self._are_few(connection):
            found = self._best(connection, query, n, part, place=self._indexed, kind=f"halfvec({self._dim})")
            if len(found) >= n:
                return found[:n]
        # All of them: few, or fewer were found than there may be, among the many of others.
        return self._best(connection, query, n, part, place="embedding", kind="vector")[:n]

    def _are_few(self, connection: Connection) -> bool:
        counted = f"SELECT count(*) FROM (SELECT 1 FROM vectors WHERE space = {self.space} LIMIT ?) AS counted"
        return bool(connection.execute(counted, (self._exact_up_to + 1,)).fetchone()[0] <= self._exact_up_to)

    def _best(self, connection: Connection, query: Vectors, n: int, part: Part, *, place: str, kind: str) -> list[int]:
        # Without it, a filtered search ends with the index's first few dozen, of which none may be the owner's.
        connection.execute(
            f"SELECT set_config('hnsw.iterative_scan', 'strict_order', true), "
            f"set_config('hnsw.ef_search', '{_LOOKED_FOR}', true)"
        )
        within, values = part.rows(first=2)
        # A turn with many passages takes many places: more are asked for, until there are turns enough.
        wanted = 2 * n + 8
        while True:
            found = connection.execute(
                f"SELECT row FROM vectors WHERE space = {self.space}{within} "
                f"ORDER BY {place} <#> ?1::vector::{kind} LIMIT {wanted}",
                [query, *values],
            ).fetchall()
            rows = list(dict.fromkeys(int(row) for (row,) in found))
            if len(rows) >= n or len(found) < wanted:
                return rows
            wanted *= 4


def note_space(connection: Connection, name: str, *, dim: int) -> None:
    """Keep the name of an embedder's space, which its number doesn't tell, beside its owner's vectors."""
    connection.execute(
        "INSERT INTO vector_spaces VALUES (?, ?, ?) ON CONFLICT (space) DO NOTHING", (number_of_maker(name), name, dim)
    )
