"""The byte strings in which a vector may lie on a disk: rows of three widths, and codes of one bit a number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Vectors

_LEAST_BYTES: Final = 16
_LEAST_TELLING: Final = 4
"""Bytes that are neither 00 nor FF, of what can be told from an empty page."""
_DENSE: Final = 0.25
WIDTHS: Final = (("float32 rows", "<f4"), ("float16 rows", "<f2"), ("float64 rows", "<f8"))
CODES: Final = "binary codes"


def written_vectors(gone: Vectors, stay: Vectors) -> Iterator[tuple[str, bytes]]:
    """Yield (kind, bytes) of vectors that are gone, whole and in halves, but for what vectors that stay have too.

    ``gone`` and ``stay`` have the shape (n, dim). A binary code is one bit a number, its sign: of the vector itself,
    and of the vector less the mean of all, as RaBitQ (Gao & Long, 2024) takes it without a rotation; the first bit high
    or low.
    """
    if len(gone) == 0:
        return
    for kind, width in WIDTHS:
        for part in _parts(gone.shape[1]):
            is_whole = part == slice(0, gone.shape[1])
            written = (_rows(vectors[:, part].astype(width)) for vectors in (gone, stay))
            yield from _own(kind, *written, is_whole=is_whole)
    mean = np.concatenate([gone, stay]).mean(axis=0)
    for centre in (np.zeros_like(mean), mean):
        for order in ("big", "little"):
            yield from _own(CODES, _bits(gone - centre, order), _bits(stay - centre, order))


def _parts(dim: int) -> list[slice]:
    half = dim // 2
    return [slice(0, dim), slice(0, half), slice(half, dim)]


def _own(kind: str, gone: list[bytes], stay: list[bytes], *, is_whole: bool = True) -> Iterator[tuple[str, bytes]]:
    others = set(stay)
    for data in dict.fromkeys(gone):
        n_telling = len(data) - data.count(0) - data.count(255)
        if len(data) < _LEAST_BYTES or n_telling < _LEAST_TELLING or data in others:
            continue
        # Few numbers amid zeros stand shifted in another row too; half of such a row says nothing.
        if n_telling >= len(data) * _DENSE or (is_whole and data not in b"".join(stay)):
            yield kind, data


def _rows(values: npt.NDArray[np.generic]) -> list[bytes]:
    return [row.tobytes() for row in np.ascontiguousarray(values)]


def _bits(values: Vectors, order: str) -> list[bytes]:
    return _rows(np.packbits(values > 0, axis=1, bitorder="big" if order == "big" else "little"))
