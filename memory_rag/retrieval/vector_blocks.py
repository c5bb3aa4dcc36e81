"""Blocks of a vector file: which of them are whole, and where to go on behind one that isn't."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Vectors

MAGIC: Final = 0x4D524732
"""``MRG2``, at the head of every block."""
HEAD: Final = np.dtype([("magic", "<u4"), ("n_rows", "<u4"), ("dim", "<u4"), ("checksum", "<u4")])
ID: Final = np.dtype([("row", "<i8"), ("content", "<i8"), ("start", "<i8"), ("end", "<i8")])
"""A vector's turn (its row in the store), the key of the words that were embedded, and the passage's span in the
searchable text."""
Ids = npt.NDArray[np.void]
ERASED: Final = -1
"""As an entry's row: its vector was taken out, and counts as zeros whatever is still there."""
_N_ROWS: Final = struct.Struct("<4xI8x")
_MAGIC_BYTES: Final = MAGIC.to_bytes(4, "little")
_DAMAGED_TOGETHER: Final = 64
"""So many damaged blocks side by side are passed over at most; how many they were is found by trying."""


class BlockDamagedError(Exception):
    """A block that was taken for whole isn't."""


@dataclass(frozen=True, slots=True)
class Block:
    """A whole block: its vectors and ids, how many rows of damaged blocks lie before it, and where it ends.

    ``end`` counts rows and ``ids_end`` bytes, both from where reading began.
    """

    vectors: Vectors
    ids: Ids
    n_before: int
    end: int
    ids_end: int


def block_bytes(vectors: Vectors, ids: Ids) -> bytes:
    """Return what makes these vectors count, to be appended to the file of ids."""
    dim = vectors.shape[1]
    head = np.array([(MAGIC, len(ids), dim, _checksum(vectors, ids))], HEAD)
    return head.tobytes() + ids.tobytes()


def whole_blocks(data: bytes, rows: Vectors, *, dim: int, checked: int = 0) -> list[Block]:
    """Return the whole blocks of what was read of both files, in order, up to the last of them.

    Those that end within the first ``checked`` bytes are known to be whole: their vectors aren't read.
    """
    blocks = _checked_blocks(data, rows, n_bytes=checked)
    place, row = (blocks[-1].ids_end, blocks[-1].end) if blocks else (0, 0)
    while place + HEAD.itemsize <= len(data):
        block = _at(data, rows, place, row, n_before=0, dim=dim)
        block = block or _behind(data, rows, place, row, dim=dim)
        if block is None:
            break
        blocks.append(block)
        place, row = block.ids_end, block.end
    return blocks


def _checked_blocks(data: bytes, rows: Vectors, *, n_bytes: int) -> list[Block]:
    """Return what the first bytes hold as one block, if blocks are known to be whole up to there; else none."""
    ends = list(_ends(data, min(n_bytes, len(data))))
    n_rows = (n_bytes - len(ends) * HEAD.itemsize) // ID.itemsize
    if not ends or ends[-1] != n_bytes or n_rows > len(rows):
        return []
    starts = [0, *ends]
    ids = b"".join(data[start + HEAD.itemsize : end] for start, end in pairwise(starts))
    return [Block(rows[:n_rows], np.frombuffer(ids, ID), 0, n_rows, n_bytes)]


def _ends(data: bytes | bytearray, n_bytes: int) -> Iterator[int]:
    """Yield where each of the blocks ends that the first bytes hold, by what their heads say."""
    place = 0
    while place + HEAD.itemsize <= n_bytes:
        (n_rows,) = _N_ROWS.unpack_from(data, place)
        place += HEAD.itemsize + n_rows * ID.itemsize
        yield place


def _at(data: bytes, rows: Vectors, place: int, row: int, *, n_before: int, dim: int) -> Block | None:
    """Return the block that begins at a byte of the ids and at a row of the vectors, if it is whole."""
    if place + HEAD.itemsize > len(data):
        return None
    head = np.frombuffer(data, HEAD, count=1, offset=place)[0]
    n = int(head["n_rows"])
    end = place + HEAD.itemsize + n * ID.itemsize
    if head["magic"] != MAGIC or head["dim"] != dim or n == 0 or end > len(data) or row + n > len(rows):
        return None
    ids = np.frombuffer(data, ID, count=n, offset=place + HEAD.itemsize)
    vectors = rows[row : row + n]
    if _checksum(vectors, ids) != head["checksum"]:
        return None
    return Block(vectors, ids, n_before, row + n, end)


def _behind(data: bytes, rows: Vectors, place: int, row: int, *, dim: int) -> Block | None:
    """Return the next whole block behind a damaged one; how many rows lie between follows from the bytes between."""
    at = place
    while (at := data.find(_MAGIC_BYTES, at + 1)) >= 0:
        between = at - place
        if between % HEAD.itemsize:
            continue
        for n_blocks in range(1, _DAMAGED_TOGETHER + 1):
            n_rows, odd = divmod(between - n_blocks * HEAD.itemsize, ID.itemsize)
            if n_rows < n_blocks:
                break
            block = None if odd else _at(data, rows, at, row + n_rows, n_before=n_rows, dim=dim)
            if block is not None:
                return block
    return None


def blocks_without(data: bytes, rows: Vectors, gone: npt.NDArray[np.bool_]) -> bytes:
    """Return the blocks of a file of ids, all of them whole, with those entries erased whose place is True in ``gone``.

    ``rows`` are their vectors, shape (len(gone), dim).

    Raises:
        BlockDamagedError: a block that has one of them isn't whole.
    """
    written = bytearray(data)
    going = np.flatnonzero(gone)
    place = row = 0
    for end in _ends(data, len(data)):
        n = (end - place - HEAD.itemsize) // ID.itemsize
        here = going[going.searchsorted(row) : going.searchsorted(row + n)] - row
        if len(here):
            head = np.frombuffer(written, HEAD, count=1, offset=place)
            ids = np.frombuffer(written, ID, count=n, offset=place + HEAD.itemsize)
            if _checksum(rows[row : row + n], ids) != head["checksum"][0]:
                raise BlockDamagedError(f"the block at byte {place}")
            ids[here] = np.array((ERASED, 0, 0, 0), ID)
            head["checksum"] = _checksum(rows[row : row + n], ids)
        place, row = end, row + n
    return bytes(written)


def _checksum(vectors: Vectors, ids: Ids) -> int:
    erased = ids["row"] == ERASED
    if erased.any():
        vectors = np.where(erased[:, None], np.float32(0), vectors)
    return zlib.crc32(ids.tobytes(), zlib.crc32(np.ascontiguousarray(vectors, "<f4").data.cast("B")))
