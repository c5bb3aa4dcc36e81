"""The two FAISS indexes: vectors as they are, and one bit of each of their numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Final, Self

import faiss
import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import EmbedderError

SHARD: Final = 262_144
"""Codes of a shard: two milliseconds of work, against a tenth to hand it to another thread."""


class FlatVectors:
    """Vectors that FAISS compares one by one, wherever their numbers lie: in memory or in a file that is mapped.

    One thread may take ``rows`` while another puts others in their place; all else is for one thread at a time.
    """

    def __init__(self, rows: Vectors) -> None:
        self._rows = rows
        self.put(rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def dim(self) -> int:
        return int(self._rows.shape[1])

    def put(self, rows: Vectors) -> None:
        """Take other rows, shape (n, dim), of which the first are those that were there before.

        Raises:
            EmbedderError: another shape.
        """
        if rows.ndim != 2 or rows.shape[1] != self.dim:
            raise EmbedderError(f"vectors have shape {rows.shape}, but this index takes (n, {self.dim})")
        self._rows = np.ascontiguousarray(rows, np.float32)

    def rows(self, numbers: npt.NDArray[np.int64]) -> Vectors:
        """Return the vectors with these numbers, shape (len(numbers), dim)."""
        return self._rows[numbers]

    def scores_of(self, query: Vectors, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return the inner product of a query, shape (dim,), with the vectors of these numbers, shape (len(numbers),).

        It is the same whatever the other numbers are, to the last bit: equal turns have to tie.
        """
        asked = self._checked(query)
        out = np.empty(len(numbers), np.float32)
        if len(numbers):
            places = np.ascontiguousarray(numbers, np.int64)
            with using_threads(1):
                faiss.fvec_inner_products_by_idx(  # type: ignore[attr-defined]  # SWIG: not in faiss's stubs
                    faiss.swig_ptr(out),
                    faiss.swig_ptr(asked),
                    faiss.swig_ptr(self._rows),
                    faiss.swig_ptr(places),
                    self.dim,
                    1,
                    len(places),
                )
        return out

    def scores(self, query: Vectors) -> npt.NDArray[np.float32]:
        """Return the inner product of a query, shape (dim,), with every vector, shape (len(self),)."""
        asked = self._checked(query)
        out = np.empty(len(self), np.float32)
        if len(out):
            faiss.fvec_inner_products_ny(  # type: ignore[attr-defined]  # SWIG: not in faiss's stubs
                faiss.swig_ptr(out), faiss.swig_ptr(asked), faiss.swig_ptr(self._rows), self.dim, len(out)
            )
        return out

    def nearest(self, query: Vectors, *, k: int, threads: int = 1) -> npt.NDArray[np.int64]:
        """Return the numbers of the k nearest vectors to a query, shape (dim,), best first, or of all if fewer.

        With ``threads`` 0 FAISS takes as many as it likes, for comparison.
        """
        k = min(k, len(self))
        if k == 0:
            return np.zeros(0, np.int64)
        with using_threads(threads):
            asked = self._checked(query)[np.newaxis]
            _scores, numbers = faiss.knn(asked, self._rows, k, metric=faiss.METRIC_INNER_PRODUCT)
        found: npt.NDArray[np.int64] = numbers[0]
        return found

    def _checked(self, query: Vectors) -> Vectors:
        if query.shape != (self.dim,) or not np.isfinite(query).all():
            raise EmbedderError(f"a query vector must be {self.dim} finite numbers, got shape {query.shape}")
        return np.ascontiguousarray(query, np.float32)


class OneBitCodes:
    """A code of one bit a dimension for each vector, by which the nearest are named in a tenth of the time.

    RaBitQ: Gao & Long, "RaBitQ: Quantizing High-Dimensional Vectors with a Theoretical Error Bound" (2024), as FAISS's
    ``IndexRaBitQFastScan``. Many lie in several shards, which are looked through side by side.
    """

    def __init__(self, shards: list[faiss.Index], *, empty: npt.NDArray[np.uint8], shard: int = SHARD) -> None:
        self._shards = shards
        self._empty = empty
        self._shard = shard

    @classmethod
    def like(cls, examples: Vectors, *, shard: int = SHARD) -> Self:
        """Make ready for vectors of which some examples are given: all that is learnt of them is their mean."""
        index = faiss.IndexRaBitQFastScan(examples.shape[1], faiss.METRIC_INNER_PRODUCT)
        with using_threads(1):
            index.train(np.ascontiguousarray(examples, np.float32))
        return cls([index], empty=faiss.serialize_index(index), shard=shard)

    @classmethod
    def from_bytes(cls, shards: Sequence[npt.NDArray[np.uint8]]) -> Self:
        """Return the codes whose :meth:`as_bytes` these are."""
        emptied = faiss.deserialize_index(shards[0])
        emptied.reset()
        return cls([faiss.deserialize_index(data) for data in shards], empty=faiss.serialize_index(emptied))

    @staticmethod
    def made_by() -> str:
        """What decides how codes are written."""
        return f"faiss {faiss.__version__}"

    def as_bytes(self) -> list[npt.NDArray[np.uint8]]:
        """Return the shards as FAISS writes them."""
        return [faiss.serialize_index(shard) for shard in self._shards]

    def __len__(self) -> int:
        return sum(shard.ntotal for shard in self._shards)

    def add(self, vectors: Vectors) -> None:
        """Append the codes of vectors, shape (n, dim)."""
        with using_threads(1):
            while len(vectors):
                if self._shards[-1].ntotal >= self._shard:
                    self._shards.append(faiss.deserialize_index(self._empty))
                room = self._shard - self._shards[-1].ntotal
                self._shards[-1].add(np.ascontiguousarray(vectors[:room], np.float32))
                vectors = vectors[room:]

    def nearest(self, query: Vectors, *, k: int) -> npt.NDArray[np.int64]:
        """Return the numbers of about the k nearest vectors to a query, shape (dim,), in about their order."""
        asked = np.ascontiguousarray(query[np.newaxis], np.float32)
        if len(self._shards) == 1:
            _, numbers = _named(self._shards[0], asked, k)
            return numbers
        found = list(_workers(os.getpid()).map(lambda shard: _named(shard, asked, k), self._shards))
        scores = np.concatenate([scores for scores, _ in found])
        firsts = np.cumsum([0, *(shard.ntotal for shard in self._shards)])
        together = np.concatenate([numbers + first for first, (_, numbers) in zip(firsts, found, strict=False)])
        nearest: npt.NDArray[np.int64] = together[np.argsort(-scores, kind="stable")[:k]]
        return nearest


def _named(shard: faiss.Index, asked: Vectors, k: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    with using_threads(1):
        scores, numbers = shard.search(asked, k)
    there = numbers[0] >= 0
    return scores[0][there], numbers[0][there]


@cache
def _workers(process: int) -> ThreadPoolExecutor:
    """Return what looks through shards; each process has its own, since threads aren't forked along."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix=f"memory-rag-codes-{process}")


@contextmanager
def using_threads(n: int) -> Iterator[None]:
    """Have FAISS use so many threads, or as many as it likes for 0.

    One is best: waking another takes up to 5 ms, for a job of .02. And threads that it once woke are missing in a
    forked process, whose first job for several would wait for them.
    """
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n or before)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
