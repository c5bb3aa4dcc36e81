"""Codes of every vector: they name the nearest in a twentieth of the time that their numbers take."""

from __future__ import annotations

import threading
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Vectors
from memory_rag.retrieval.faiss_indexes import FlatVectors, ProductCodes

CODED_FROM: Final = 8192
"""Vectors from which on codes pay: below, a scan of all numbers takes half a millisecond."""
_WORTH_CODING: Final = 3
"""Searches of one process after which codes are made: who asks once is answered sooner without."""
_IN_PASSING: Final = 2048
"""New vectors that a search codes itself, at 8 microseconds each."""
_CHUNK: Final = 4096
_EXAMPLES: Final = 2048
_LEAST: Final = 256
"""Vectors named at least: of the 50 nearest to a question, all are among so many (MiniLM, 35,847 passages), or 99.9 %
(e5, 4,096 turns), and of a million invented turns 99.7 %; of the 10 nearest all."""
_FOR_EACH: Final = 2
"""Vectors named for each that is wanted, where that is more."""
_COMPARED: Final = 10
_DIM_FROM: Final = 256
"""Numbers of a vector from which on codes pay; shorter ones are compared nearly as fast."""


class CodedVectors:
    """Finds the nearest of a set of vectors: first by codes, then exactly among those that they name.

    Codes are made from a set's vectors in a thread of their own once it has been searched a few times; until then every
    vector is compared.
    """

    def __init__(
        self, vectors: FlatVectors, *, coded_from: int = CODED_FROM, codes: ProductCodes | None = None
    ) -> None:
        self._vectors = vectors
        self._coded_from = coded_from
        self._codes = codes
        self._n_searches = 0
        self._maker: threading.Thread | None = None
        self._is_closed = False

    def nearest(self, query: Vectors, *, k: int) -> npt.NDArray[np.int64]:
        """Return the numbers of the k nearest vectors to a query, shape (dim,), best first; fewer if there are fewer.

        Nearly always: a code may miss one of the last of them, hardly ever one of the first.
        """
        codes = self._ready()
        named = max(_LEAST, _FOR_EACH * k)
        if codes is None or named > len(self._vectors) // 4:
            return self._vectors.nearest(query, k=k)
        numbers = codes.nearest(query, k=named)
        scores = self._vectors.scores_of(query, numbers)
        nearest: npt.NDArray[np.int64] = numbers[np.argsort(-scores, kind="stable")[:k]]
        return nearest

    def agreement(self, n: int) -> float | None:
        """Return what share of the 10 nearest are named, for n queries half-way between two vectors of the set.

        None where codes don't pay, or closed.
        """
        if not self._pays or self.of_all() is None:
            return None
        drawn = np.random.default_rng(len(self._vectors)).integers(0, len(self._vectors), (2, n))
        between = self._vectors.rows(drawn[0]) + self._vectors.rows(drawn[1])
        same = 0
        for query in between:
            exact = self._vectors.nearest(query, k=_COMPARED)
            same += len(np.intersect1d(self.nearest(query, k=_COMPARED), exact))
        return same / (n * _COMPARED)

    @property
    def _pays(self) -> bool:
        return len(self._vectors) >= self._coded_from and self._vectors.dim >= _DIM_FROM

    @property
    def has_codes(self) -> bool:
        """Whether the next search goes by codes."""
        codes = self._codes
        return codes is not None and not self._is_being_made and len(self._vectors) - len(codes) <= _IN_PASSING

    @property
    def _is_being_made(self) -> bool:
        return self._maker is not None and self._maker.is_alive()

    def wait(self) -> None:
        """Wait until codes that are being made are ready."""
        if self._maker is not None:
            self._maker.join()

    def of_all(self) -> ProductCodes | None:
        """Return the codes of all vectors, made now as far as they aren't; None once closed."""
        self.wait()
        if not self._is_closed:
            self._make()
        return None if self._is_closed else self._codes

    def close(self) -> None:
        """Stop making codes."""
        self._is_closed = True
        self.wait()

    def _ready(self) -> ProductCodes | None:
        """Return the codes of all vectors; None while there are none, or not of all."""
        if self.has_codes and (codes := self._codes) is not None:
            if len(codes) < len(self._vectors):
                codes.add(self._vectors.rows(np.arange(len(codes), len(self._vectors))))
            return codes
        if self._pays and not self._is_being_made and not self._is_closed:
            self._n_searches += 1
            if self._n_searches >= _WORTH_CODING:
                # Whatever stops the maker, the next one is not started by the next search.
                self._n_searches = 0
                self._maker = threading.Thread(target=self._make, name="memory-rag-codes")
                self._maker.start()
        return None

    def _make(self) -> None:
        codes = self._codes
        if codes is None:
            every = 1 + len(self._vectors) // _EXAMPLES
            codes = ProductCodes.like(self._vectors.rows(np.arange(0, len(self._vectors), every)))
        while len(codes) < (n := len(self._vectors)) and not self._is_closed and threading.main_thread().is_alive():
            codes.add(self._vectors.rows(np.arange(len(codes), min(n, len(codes) + _CHUNK))))
        self._codes = codes
