"""Vectors for invented turns that lie as MiniLM's do, and an embedder that only looks up what it was given."""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.evaluation.speed_corpus import Vectors
from memory_rag.turns import Span

DIM: Final = 384
_BLOCK: Final = 4096
_SUBJECTS: Final = 512
_OF_SUBJECT: Final = 0.45
_OF_TURN: Final = 0.62
_OF_ANOTHER: Final = 0.38
_OF_CHANCE: Final = 0.55
_FALLING: Final = 0.75
"""Standard deviation of the n-th direction: 1 / n^.75; participation dimension about 80, as MiniLM's on LoCoMo."""


class MadeVectors:
    """A vector for each turn's number and each question: unit length, float32, the same for the same seed.

    A turn's is of one of 512 subjects and of its own; a question's is of the turn that it is about (.62), of another
    (.38), and of chance.
    """

    def __init__(self, *, seed: int, dim: int = DIM) -> None:
        self.seed = seed
        self.dim = dim
        self._last: tuple[int, Vectors] | None = None

    def turns(self, start: int, stop: int) -> Vectors:
        """Return the vectors of the turns with these numbers, shape (stop - start, dim)."""
        first = start // _BLOCK
        blocks = [self._block(number) for number in range(first, -(-stop // _BLOCK))]
        if not blocks:
            return np.zeros((0, self.dim), np.float32)
        return np.concatenate(blocks)[start - first * _BLOCK : stop - first * _BLOCK]

    def question(self, number: int, *, rows: Vectors, about: int) -> Vectors:
        """Return the vector, shape (dim,), of a question about the turn of one of these rows."""
        draw = np.random.default_rng([self.seed, 11, number])
        other = int(draw.integers(len(rows)))
        mixed = _OF_TURN * rows[about] + _OF_ANOTHER * rows[other] + _OF_CHANCE * self._spread(draw, 1)[0]
        [vector] = _unit(mixed[np.newaxis])
        return np.asarray(vector, np.float32)

    def _block(self, number: int) -> Vectors:
        if self._last is None or self._last[0] != number:
            self._last = number, self._made(number)
        return self._last[1]

    def _made(self, number: int) -> Vectors:
        draw = np.random.default_rng([self.seed, 10, number])
        own = self._spread(draw, _BLOCK)
        subject = self._subjects[draw.integers(_SUBJECTS, size=_BLOCK)]
        return _unit(_OF_SUBJECT * subject + (1 - _OF_SUBJECT) * own)

    @cached_property
    def _subjects(self) -> Vectors:
        return self._spread(np.random.default_rng([self.seed, 12]), _SUBJECTS)

    @cached_property
    def _directions(self) -> Vectors:
        turned, _ = np.linalg.qr(np.random.default_rng([self.seed, 13]).standard_normal((self.dim, self.dim)))
        deviations = 1 / np.arange(1, self.dim + 1) ** (_FALLING / 2)
        scaled: Vectors = (deviations[:, np.newaxis] * turned).astype(np.float32)
        return scaled

    def _spread(self, draw: np.random.Generator, n: int) -> Vectors:
        return _unit(draw.standard_normal((n, self.dim), np.float32) @ self._directions)


class KnownVectors:
    """An embedder without a model: it looks up the vector of a text among those it was given.

    It takes the place of a model where the time of all else is measured. A question's vector is the one it was told
    last, whatever of the question is asked for: participants' names are taken out before it is embedded.
    """

    reads_speaker = False
    max_tokens = 1_000_000

    def __init__(self, *, fingerprint: str, dim: int = DIM) -> None:
        self.fingerprint = fingerprint
        self.dim = dim
        self._keys: npt.NDArray[np.uint64] = np.zeros(0, np.uint64)
        self._rows: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._vectors: Vectors = np.zeros((0, dim), np.float32)
        self._given: dict[str, Vectors] = {}
        self.asked: Vectors = np.zeros(dim, np.float32)
        """The vector, shape (dim,), of the next question."""

    def know(self, texts: Iterable[str], vectors: Vectors) -> None:
        """Know the vectors of many texts, one row each, in place of those known before."""
        keys = _keys_of(texts)
        self._rows = np.argsort(keys, kind="stable")
        self._keys, self._vectors = keys[self._rows], vectors

    def give(self, text: str, vector: Vectors) -> None:
        """Know the vector, shape (dim,), of one more text."""
        self._given[text] = vector

    @property
    def query_shift(self) -> Vectors:
        return np.zeros(self.dim, np.float32)

    def passages(self, text: str) -> tuple[Span, ...]:
        return (Span(0, len(text)),)

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text.

        Raises:
            KeyError: a text whose vector it wasn't given.
        """
        if len(self._keys) == 0 or len(texts) <= len(self._given):
            given = [self._given.get(text) for text in texts]
            if all(row is not None for row in given):
                return np.array(given, np.float32).reshape(len(texts), self.dim)
        keys = _keys_of(texts)
        places = np.searchsorted(self._keys, keys)
        known = places < len(self._keys)
        known[known] = self._keys[places[known]] == keys[known]
        rows = np.empty((len(texts), self.dim), np.float32)
        rows[known] = self._vectors[self._rows[places[known]]]
        for place in np.flatnonzero(~known).tolist():
            rows[place] = self._given[texts[place]]
        _let_go(self._vectors)
        return rows

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return np.tile(self.asked, (len(texts), 1))


def _let_go(vectors: Vectors) -> None:
    """Give back the pages of a file that is mapped: it stands for a model, and what it holds isn't the memory's."""
    mapped = getattr(vectors, "_mmap", None)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def _keys_of(texts: Iterable[str]) -> npt.NDArray[np.uint64]:
    digests = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, np.uint64)


def _unit(rows: Vectors) -> Vectors:
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
