"""Exact inner products of one query with every vector, by FAISS."""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import faiss
import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import EmbedderError

_SHARED_FROM: Final = 40_000
"""Vectors from which on a second thread pays: a scan is bound by memory, .05 ms per 1,000 vectors."""


class FlatVectors:
    """All vectors in one FAISS flat index; scores every one of them, so that no filter can hide a hit.

    The scan reads FAISS's own storage with ``fvec_inner_products_ny`` and gives the score of each vector, not the k
    best: ``search`` would pad missing hits with id -1, and a filter after it would lose turns.
    """

    def __init__(self, dim: int, *, threads: int = 0) -> None:
        self.dim = dim
        self._index = faiss.IndexFlatIP(dim)
        self._threads = threads or os.cpu_count() or 1
        self._workers: ThreadPoolExecutor | None = None

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def add(self, vectors: Vectors) -> None:
        """Append unit-length rows, shape (n, dim).

        Raises:
            EmbedderError: another shape, or a number that isn't finite.
        """
        if vectors.ndim != 2 or vectors.shape[1] != self.dim:
            raise EmbedderError(f"vectors have shape {vectors.shape}, but this index takes (n, {self.dim})")
        if not np.isfinite(vectors).all():
            raise EmbedderError("a vector holds NaN or infinity; embed its turn again")
        self._index.add(np.ascontiguousarray(vectors, np.float32))

    def rows(self, numbers: npt.NDArray[np.int64]) -> Vectors:
        """Return the vectors with these numbers, shape (len(numbers), dim)."""
        return self._all()[numbers].copy()

    def scores(self, query: Vectors) -> npt.NDArray[np.float32]:
        """Return the inner product of a query, shape (dim,), with every vector, shape (len(self),)."""
        if query.shape != (self.dim,) or not np.isfinite(query).all():
            raise EmbedderError(f"a query vector must be {self.dim} finite numbers, got shape {query.shape}")
        n = len(self)
        out = np.empty(n, np.float32)
        if n == 0:
            return out
        asked = np.ascontiguousarray(query, np.float32)
        everything = self._all()
        if n < _SHARED_FROM or self._threads == 1:
            _inner_products(out, asked, everything)
            return out
        if self._workers is None:
            self._workers = ThreadPoolExecutor(self._threads, thread_name_prefix="memory-rag-scan")
        cuts = np.linspace(0, n, self._threads + 1, dtype=np.int64)
        jobs = [
            self._workers.submit(_inner_products, out[start:end], asked, everything[start:end])
            for start, end in itertools.pairwise(cuts)
        ]
        for job in jobs:
            job.result()
        return out

    def nearest(self, queries: Vectors, *, k: int, threads: int = 1) -> npt.NDArray[np.int64]:
        """Return the numbers of the k nearest vectors to each query, best first, by FAISS's own search.

        For comparison: shape (len(queries), k); -1 where there are fewer than k. With ``threads`` 0 FAISS takes as many
        as it likes; on a busy machine it then waits for the slowest of them, 16 ms for a scan of .6.
        """
        before = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(threads or before)
        try:
            _scores, numbers = self._index.search(np.ascontiguousarray(queries, np.float32), k)
        finally:
            faiss.omp_set_num_threads(before)
        found: npt.NDArray[np.int64] = numbers
        return found

    def _all(self) -> Vectors:
        view: Vectors = faiss.rev_swig_ptr(self._index.get_xb(), len(self) * self.dim).reshape(-1, self.dim)
        return view


def _inner_products(out: npt.NDArray[np.float32], query: Vectors, rows: Vectors) -> None:
    faiss.fvec_inner_products_ny(  # type: ignore[attr-defined]  # SWIG: not in faiss's stubs
        faiss.swig_ptr(out), faiss.swig_ptr(query), faiss.swig_ptr(rows), query.shape[0], len(rows)
    )
