"""The two FAISS indexes: vectors as they are, and one bit of each of their numbers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import faiss
import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import EmbedderError


class FlatVectors:
    """All vectors in one FAISS flat index: their numbers as they are, compared one by one.

    One thread may take ``rows`` while another adds; all else is for one thread at a time.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._index = faiss.IndexFlatIP(dim)
        self._growing = threading.Lock()

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
        with self._growing:
            self._index.add(np.ascontiguousarray(vectors, np.float32))

    def rows(self, numbers: npt.NDArray[np.int64]) -> Vectors:
        """Return the vectors with these numbers, shape (len(numbers), dim)."""
        with self._growing:
            return self._all()[numbers]

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
                    self._index.get_xb(),
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
                faiss.swig_ptr(out), faiss.swig_ptr(asked), self._index.get_xb(), self.dim, len(out)
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
            _scores, numbers = self._index.search(self._checked(query)[np.newaxis], k)
        found: npt.NDArray[np.int64] = numbers[0]
        return found

    def _checked(self, query: Vectors) -> Vectors:
        if query.shape != (self.dim,) or not np.isfinite(query).all():
            raise EmbedderError(f"a query vector must be {self.dim} finite numbers, got shape {query.shape}")
        return np.ascontiguousarray(query, np.float32)

    def _all(self) -> Vectors:
        view: Vectors = faiss.rev_swig_ptr(self._index.get_xb(), len(self) * self.dim).reshape(-1, self.dim)
        return view


class OneBitCodes:
    """A code of one bit a dimension for each vector, by which the nearest are named in a tenth of the time.

    RaBitQ: Gao & Long, "RaBitQ: Quantizing High-Dimensional Vectors with a Theoretical Error Bound" (2024), as FAISS's
    ``IndexRaBitQFastScan``.
    """

    def __init__(self, examples: Vectors) -> None:
        """Make ready for vectors of which some examples are given: all that is learnt of them is their mean."""
        self._index = faiss.IndexRaBitQFastScan(examples.shape[1], faiss.METRIC_INNER_PRODUCT)
        with using_threads(1):
            self._index.train(np.ascontiguousarray(examples, np.float32))

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def add(self, vectors: Vectors) -> None:
        """Append the codes of vectors, shape (n, dim)."""
        with using_threads(1):
            self._index.add(np.ascontiguousarray(vectors, np.float32))

    def nearest(self, query: Vectors, *, k: int) -> npt.NDArray[np.int64]:
        """Return the numbers of about the k nearest vectors to a query, shape (dim,), in about their order."""
        with using_threads(1):
            _, named = self._index.search(np.ascontiguousarray(query[np.newaxis], np.float32), k)
        numbers: npt.NDArray[np.int64] = named[0]
        return numbers[numbers >= 0]


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
