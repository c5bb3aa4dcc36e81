"""The two FAISS indexes: vectors as they are, and codes of them, half a byte for two of their numbers or more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Self

import faiss
import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import EmbedderError

_BITS: Final = 4
"""Of a code of some numbers together: one of 16 points."""
_TOGETHER: Final = 2
"""Numbers that have one code at least."""
_MOST_CODES: Final = 512
"""Of a vector. FAISS adds up what they tell in 16 bits: of the 50 nearest of 16,384 vectors of 3,072 numbers, 256 named
hold all with 512 codes, 99 % with 768, 37 % with 1,536."""
_ROUNDS: Final = 8
"""In which points are moved to the middle of the examples nearest to them; FAISS's 25 name no more of the nearest."""


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


class ProductCodes:
    """A code for each vector, by which the nearest are named in a twentieth of the time.

    Product quantization (Jégou, Douze & Schmid, "Product Quantization for Nearest Neighbor Search", 2011), looked
    through in the processor's registers (André, Kermarrec & Le Scouarnec, "Cache locality is not enough", 2015), as
    FAISS's ``IndexPQFastScan``.
    """

    def __init__(self, index: faiss.Index) -> None:
        self._index = index

    @classmethod
    def like(cls, examples: Vectors) -> Self:
        """Make ready for vectors like some examples, shape (n, dim), n at least 16: for each two numbers, 16 points.

        Of long vectors more numbers are taken together.
        """
        dim = examples.shape[1]
        together = max(_TOGETHER, -(-dim // _MOST_CODES))
        n_codes = -(-dim // together)
        index = faiss.IndexPQFastScan(n_codes * together, n_codes, _BITS, faiss.METRIC_INNER_PRODUCT)
        index.pq.cp.niter = _ROUNDS
        # It warns of few examples, on a stream that may be somebody's protocol; a small set is searched whole anyway.
        index.pq.cp.min_points_per_centroid = 1
        codes = cls(index)
        with using_threads(1):
            index.train(codes._filled_up(examples))
        return codes

    @classmethod
    def from_bytes(cls, data: npt.NDArray[np.uint8]) -> Self:
        """Return the codes whose :meth:`as_bytes` this is."""
        return cls(faiss.deserialize_index(data))

    @staticmethod
    def made_by() -> str:
        """What decides how codes are written."""
        return f"faiss {faiss.__version__}"

    def as_bytes(self) -> npt.NDArray[np.uint8]:
        """Return the codes as FAISS writes them."""
        written: npt.NDArray[np.uint8] = faiss.serialize_index(self._index)
        return written

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def add(self, vectors: Vectors) -> None:
        """Append the codes of vectors, shape (n, dim)."""
        with using_threads(1):
            self._index.add(self._filled_up(vectors))

    def nearest(self, query: Vectors, *, k: int) -> npt.NDArray[np.int64]:
        """Return the numbers of about the k nearest vectors to a query, shape (dim,), in about their order."""
        with using_threads(1):
            _scores, numbers = self._index.search(self._filled_up(query[np.newaxis]), k)
        named: npt.NDArray[np.int64] = numbers[0][numbers[0] >= 0]
        return named

    def _filled_up(self, vectors: Vectors) -> Vectors:
        """Return vectors as FAISS takes them: with zeros behind, where their numbers don't go up in codes."""
        n_more = self._index.d - vectors.shape[1]
        return np.ascontiguousarray(np.pad(vectors, ((0, 0), (0, n_more))) if n_more else vectors, np.float32)


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
