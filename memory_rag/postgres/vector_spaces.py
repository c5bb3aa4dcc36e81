"""The vectors of one owner, embedder by embedder, to be taken elsewhere as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from memory_rag.errors import StoreError
from memory_rag.postgres.table import number_of_maker
from memory_rag.postgres.vectors import note_space
from memory_rag.retrieval.vector_blocks import ID
from memory_rag.retrieval.vector_spaces import AT_ONCE, Contents
from memory_rag.retrieval.vectors import VectorRows
from memory_rag.store.engine import Connections

_READ: Final = (
    "SELECT row, content, span_start, span_end, embedding FROM vectors WHERE space = ? ORDER BY row, span_start"
)
_KEPT: Final = "SELECT DISTINCT row FROM vectors WHERE space = ?"
_PUT: Final = "INSERT INTO vectors (row, space, content, span_start, span_end, embedding) VALUES (?, ?, ?, ?, ?, ?)"


class ServerSpaces:
    """The vectors of one owner on a server."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def dims(self) -> dict[str, int]:
        with self._connections.reading() as connection:
            unnamed = connection.execute(
                "SELECT count(*) FROM vectors WHERE space NOT IN (SELECT space FROM vector_spaces)"
            ).fetchone()[0]
            if unnamed:
                raise StoreError(
                    f"{self._connections.place} has {unnamed:,} vectors and no name of what made them; open the memory "
                    "once with its embedder, then try again"
                )
            found = connection.execute(
                "SELECT name, dim FROM vector_spaces WHERE EXISTS "
                "(SELECT 1 FROM vectors WHERE vectors.space = vector_spaces.space) ORDER BY name"
            ).fetchall()
        return {str(name): int(dim) for name, dim in found}

    def rows(self, name: str) -> set[int]:
        with self._connections.reading() as connection:
            return {int(row) for (row,) in connection.execute(_KEPT, (number_of_maker(name),)).fetchall()}

    def read(self, name: str, contents: Contents) -> Iterator[VectorRows]:
        records: list[Any] = []
        with self._connections.snapshot() as snapshot:
            for record in snapshot.rows(_READ, (number_of_maker(name),)):
                if len(records) >= AT_ONCE and record[0] != records[-1][0]:
                    yield from _present(records, contents)
                    records = []
                records.append(record)
        yield from _present(records, contents)

    def append(self, name: str, rows: VectorRows) -> None:
        with self._connections.writing() as connection:
            note_space(connection, name, dim=rows.vectors.shape[1])
            space = number_of_maker(name)
            connection.executemany(
                _PUT,
                [
                    (row, space, content, start, end, vector)
                    for (row, content, start, end), vector in zip(rows.ids.tolist(), rows.vectors, strict=True)
                ],
            )

    def delete(self) -> None:
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM vectors")
            connection.execute("DELETE FROM vector_spaces")


def _present(records: list[Any], contents: Contents) -> Iterator[VectorRows]:
    ids = np.array([record[:4] for record in records], ID)
    is_present = contents.are_of(ids)
    if is_present.any():
        vectors = np.stack([record[4].to_numpy() for record in records]).astype(np.float32, copy=False)
        yield VectorRows(vectors[is_present], ids[is_present])
