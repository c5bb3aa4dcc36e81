"""Vectors from one memory to another as they are, so that nothing is embedded again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memory_rag.migrating.comparing import Compared, compare_rows
from memory_rag.migrating.copying import Tell
from memory_rag.migrating.tables import Record
from memory_rag.retrieval.vector_spaces import Contents, VectorSpaces
from memory_rag.retrieval.vectors import VectorRows

_COLUMNS = ("row", "start", "end", "vector")


def copy_vectors(source: VectorSpaces, target: VectorSpaces, contents: Contents, *, tell: Tell | None = None) -> int:
    """Copy the vectors of every embedder that the target hasn't yet, and return how many."""
    n_copied = 0
    for name in source.dims():
        there = np.array(sorted(target.rows(name)), np.int64)
        n_seen = 0
        for part in source.read(name, contents):
            lacks = ~np.isin(part.ids["row"], there)
            if lacks.any():
                target.append(name, VectorRows(part.vectors[lacks], part.ids[lacks]))
            n_copied += int(lacks.sum())
            n_seen += len(lacks)
            if tell is not None:
                tell("copying vectors", n_seen, 0)
    return n_copied


def compare_vectors(
    source: VectorSpaces, target: VectorSpaces, contents: Contents, *, tell: Tell | None = None
) -> Iterator[Compared]:
    """Yield the vectors of each embedder compared, number by number and to the last bit."""
    dims = {**source.dims(), **target.dims()}
    for name in sorted(dims):
        left, right = (
            _records(side, name, contents, tell if side is source else None) if name in side.dims() else iter(())
            for side in (source, target)
        )
        yield compare_rows(f"vectors {name}", left, right, columns=_COLUMNS)


def _records(spaces: VectorSpaces, name: str, contents: Contents, tell: Tell | None) -> Iterator[Record]:
    n_seen = 0
    for part in spaces.read(name, contents):
        if tell is not None:
            tell("comparing vectors", n_seen, 0)
        n_seen += len(part.ids)
        for (row, _content, start, end), vector in zip(part.ids.tolist(), part.vectors, strict=True):
            yield row, start, end, vector.astype("<f4").tobytes()
