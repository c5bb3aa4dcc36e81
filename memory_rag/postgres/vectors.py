"""Vectors on the server: kept beside their turns, and the nearest of an owner's found by pgvector.

They are kept as they were made (float32), so that what is computed of them is what it is anywhere; only the index that
finds the nearest has them at half the size.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.errors import StoreError
from memory_rag.postgres.migrations import MAKING_ALONE, SCHEMA
from memory_rag.postgres.still_said import said_at, said_in
from memory_rag.store.engine import Connection, Connections
from memory_rag.turns import Span, Turn

Vectors = npt.NDArray[np.float32]

_EXACT_UP_TO: Final = 10_000
"""Of so many vectors, all are compared: sooner done than to look for a few among the nearest of everybody's."""
_MOST_DIM: Final = 4000
_LOOKED_FOR: Final = 400


@dataclass(frozen=True, slots=True)
class Embedded:
    """A turn as it was embedded: its row, and a vector of each of its passages, shape (len(spans), dim)."""

    row: int
    turn: Turn
    spans: tuple[Span, ...]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Near:
    """A turn's best passage: where it lies in the searchable text, and its inner product with the query."""

    row: int
    span: Span
    score: float


class ServerVectors:
    """The vectors of one owner's turns by one embedder."""

    def __init__(
        self, connections: Connections, *, fingerprint: str, dim: int, exact_up_to: int = _EXACT_UP_TO
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
        self._exact_up_to = exact_up_to
        self.space = space_of(fingerprint)
        """What tells these vectors from those of other embedders."""
        self._indexed = f"(embedding::halfvec({dim}))"

    def set_up(self) -> None:
        """Make the index of this embedder's vectors, if nobody has yet; everybody's are in it."""
        name = f"vectors_of_{self.space}"
        with self._connections.writing() as connection:
            if connection.execute(
                "SELECT 1 FROM pg_indexes WHERE schemaname = ? AND indexname = ?", (SCHEMA, name)
            ).fetchone():
                return
            connection.execute(MAKING_ALONE)
            connection.execute(
                f"CREATE INDEX IF NOT EXISTS {name} ON vectors USING hnsw ({self._indexed} halfvec_ip_ops) "
                f"WHERE space = {self.space}"
            )

    def pending(self, *, limit: int) -> list[int]:
        """Return the rows of recalled turns without a vector, oldest first."""
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT row FROM turns WHERE recalled = 1 AND NOT EXISTS (SELECT 1 FROM vectors "
                f"WHERE vectors.space = {self.space} AND vectors.row = turns.row) ORDER BY row LIMIT ?",
                (limit,),
            ).fetchall()
        return [int(row) for (row,) in found]

    def put(self, embedded: Sequence[Embedded]) -> int:
        """Keep the vectors of turns that still have the words that were embedded, and return of how many."""
        with self._connections.writing() as connection:
            said = said_at(connection, [one.row for one in embedded])
            kept = [one for one in embedded if said.get(one.row) == said_in(one.turn)]
            connection.execute(
                f"DELETE FROM vectors WHERE space = {self.space} AND row = ANY(?::bigint[])",
                ([one.row for one in kept],),
            )
            connection.executemany(
                f"INSERT INTO vectors VALUES (?, {self.space}, ?, ?, ?::float8[]::vector({self._dim}))",
                [
                    (one.row, span.start, span.end, vector.tolist())
                    for one in kept
                    for span, vector in zip(one.spans, one.vectors, strict=True)
                ],
            )
        return len(kept)

    def nearest(self, query: Vectors, *, n: int, conversation_id: str | None = None) -> list[Near]:
        """Return the n turns nearest to a query, best first, ties by row; fewer only if fewer have a vector."""
        with self._connections.reading() as connection:
            if not self._are_few(connection):
                found = self._best(
                    connection, query, n, conversation_id, place=self._indexed, kind=f"halfvec({self._dim})"
                )
                if len(found) >= n:
                    return found[:n]
            # All of them: few, or fewer were found than there may be, among the many of others.
            return self._best(connection, query, n, conversation_id, place="embedding", kind="vector")[:n]

    def cosines(self, query: Vectors, rows: Sequence[int]) -> dict[int, Near]:
        """Return the best passage of each of these turns; those without a vector are left out."""
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT row, span_start, span_end, embedding::real[] FROM vectors WHERE space = {self.space} "
                "AND row = ANY(?::bigint[])",
                (list(rows),),
            ).fetchall()
        return {near.row: near for near in self._scored(query, found)}

    def _are_few(self, connection: Connection) -> bool:
        counted = f"SELECT count(*) FROM (SELECT 1 FROM vectors WHERE space = {self.space} LIMIT ?) AS counted"
        return bool(connection.execute(counted, (self._exact_up_to + 1,)).fetchone()[0] <= self._exact_up_to)

    def _best(
        self, connection: Connection, query: Vectors, n: int, conversation_id: str | None, *, place: str, kind: str
    ) -> list[Near]:
        # Without it, a filtered search ends with the index's first few dozen, of which none may be the owner's.
        connection.execute(
            f"SELECT set_config('hnsw.iterative_scan', 'strict_order', true), "
            f"set_config('hnsw.ef_search', '{_LOOKED_FOR}', true)"
        )
        within = "" if conversation_id is None else "AND row IN (SELECT row FROM turns WHERE conversation_id = ?2) "
        values = [query.tolist(), *([] if conversation_id is None else [conversation_id])]
        # A turn with many passages takes many places: more are asked for, until there are turns enough.
        wanted = 2 * n + 8
        while True:
            found = connection.execute(
                f"SELECT row, span_start, span_end, embedding::real[] FROM vectors WHERE space = {self.space} {within}"
                f"ORDER BY {place} <#> ?1::float8[]::{kind} LIMIT {wanted}",
                values,
            ).fetchall()
            nearest = self._scored(query, found)
            if len(nearest) >= n or len(found) < wanted:
                return nearest
            wanted *= 4

    def _scored(self, query: Vectors, found: Sequence[tuple[int, int, int, list[float]]]) -> list[Near]:
        if not found:
            return []
        scores = np.asarray([vector for *_, vector in found], np.float32) @ query
        best: dict[int, Near] = {}
        for (row, start, end, _vector), score in zip(found, scores.tolist(), strict=True):
            if row not in best or score > best[row].score:
                best[row] = Near(row, Span(start, end), score)
        return sorted(best.values(), key=lambda near: (-near.score, near.row))


def space_of(fingerprint: str) -> int:
    """Return the number of an embedder's space: the same everywhere, and another for another embedder."""
    return int.from_bytes(hashlib.sha256(fingerprint.encode()).digest()[:8], "big") >> 1
