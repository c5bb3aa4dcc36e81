"""Vectors on disk: rows that are only ever appended, each with what it was made from.

Two files a model, described byte by byte in ``indexes/README.md``: ``<fingerprint>.f32`` holds float32 rows and nothing
else, ``<fingerprint>.ids`` holds blocks that say which turn and span each row belongs to, with a checksum over both.
Rows without a whole block, left by a killed process, don't count and are overwritten.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import StoreError
from memory_rag.store.files import write_atomically

MAGIC: Final = 0x4D524731
"""``MRG1``, at the head of every block."""
_HEAD: Final = np.dtype([("magic", "<u4"), ("n_rows", "<u4"), ("dim", "<u4"), ("checksum", "<u4")])
ID: Final = np.dtype([("row", "<i8"), ("seq", "<i8"), ("start", "<i8"), ("end", "<i8")])
"""A vector's turn (its row in the store), the change that gave the turn its present text, and the passage's span in the
searchable text."""
Ids = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Vectors and what they belong to, in the order in which they were written; shapes (n, dim) and (n,)."""

    vectors: Vectors
    ids: Ids


class VectorFile:
    """The vectors that one model made, appended block by block."""

    def __init__(self, folder: Path, *, fingerprint: str, dim: int) -> None:
        name = file_stem(fingerprint)
        self.rows_path = folder / f"{name}.f32"
        self.ids_path = folder / f"{name}.ids"
        self.dim = dim
        self.fingerprint = fingerprint
        self.n_read = 0
        self._ids_read = 0
        self._identity: tuple[int, int] | None = None

    def read_new(self) -> VectorRows | None:
        """Return the rows that were appended since the last call; None if the file was replaced and must be reread.

        Raises:
            StoreError: the file holds vectors of another dimension.
        """
        identity = _identity(self.ids_path)
        if self._identity is not None and identity != self._identity:
            self.n_read = self._ids_read = 0
            self._identity = None
            return None
        self._identity = identity
        if identity is None:
            return self._nothing()
        with self.ids_path.open("rb") as file:
            file.seek(self._ids_read)
            data = file.read()
        blocks, used = self._whole_blocks(data)
        if not blocks:
            return self._nothing()
        ids = np.concatenate(blocks)
        vectors = np.fromfile(
            self.rows_path, np.float32, count=len(ids) * self.dim, offset=self.n_read * self.dim * 4
        ).reshape(-1, self.dim)
        good = self._checked(data, vectors)
        self.n_read += good
        self._ids_read += used if good == len(ids) else self._bytes_of(data, good)
        return VectorRows(vectors[:good], ids[:good])

    def append(self, vectors: Vectors, ids: Ids) -> None:
        """Append rows durably: the vectors first, then the block that makes them count. Call under the memory's lock.

        Raises:
            StoreError: the disk is full or the files can't be written; nothing of these rows counts then.
        """
        if len(vectors) == 0:
            return
        checksum = zlib.crc32(ids.tobytes(), zlib.crc32(np.ascontiguousarray(vectors).tobytes()))
        head = np.array([(MAGIC, len(ids), self.dim, checksum)], _HEAD)
        try:
            self.rows_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_at(self.rows_path, self.n_read * self.dim * 4, np.ascontiguousarray(vectors, np.float32).tobytes())
            _write_at(self.ids_path, self._ids_read, head.tobytes() + ids.tobytes())
        except OSError as error:
            raise StoreError(
                f"vectors can't be written to {self.rows_path.parent} ({error.strerror}); the words are safe and "
                "keyword search goes on; free some space, then run: memory-rag reindex"
            ) from error

    def replace_with(self, rows: VectorRows) -> None:
        """Write the files anew with these rows only (compaction). Call under the memory's lock."""
        self.ids_path.unlink(missing_ok=True)
        write_atomically(self.rows_path, lambda file: file.write(rows.vectors.tobytes()))
        checksum = zlib.crc32(rows.ids.tobytes(), zlib.crc32(rows.vectors.tobytes()))
        head = np.array([(MAGIC, len(rows.ids), self.dim, checksum)], _HEAD)
        block = head.tobytes() + rows.ids.tobytes() if len(rows.ids) else b""
        write_atomically(self.ids_path, lambda file: file.write(block))

    def delete(self) -> None:
        self.ids_path.unlink(missing_ok=True)
        self.rows_path.unlink(missing_ok=True)

    def _nothing(self) -> VectorRows:
        return VectorRows(np.zeros((0, self.dim), np.float32), np.zeros(0, ID))

    def _whole_blocks(self, data: bytes) -> tuple[list[Ids], int]:
        blocks: list[Ids] = []
        place = 0
        while place + _HEAD.itemsize <= len(data):
            head = np.frombuffer(data, _HEAD, count=1, offset=place)[0]
            if head["magic"] != MAGIC:
                break
            if head["dim"] != self.dim:
                raise StoreError(
                    f"{self.ids_path} holds vectors of dim {head['dim']}, but embedder {self.fingerprint!r} gives "
                    f"{self.dim}; rebuild them with: memory-rag reindex"
                )
            end = place + _HEAD.itemsize + int(head["n_rows"]) * ID.itemsize
            if end > len(data):
                break
            blocks.append(np.frombuffer(data, ID, count=int(head["n_rows"]), offset=place + _HEAD.itemsize))
            place = end
        return blocks, place

    def _checked(self, data: bytes, vectors: Vectors) -> int:
        """Return how many rows, from the first on, lie in blocks whose checksum holds."""
        place = done = 0
        while place + _HEAD.itemsize <= len(data):
            head = np.frombuffer(data, _HEAD, count=1, offset=place)[0]
            if head["magic"] != MAGIC:
                break
            n = int(head["n_rows"])
            ids = data[place + _HEAD.itemsize : place + _HEAD.itemsize + n * ID.itemsize]
            rows = vectors[done : done + n]
            if len(ids) < n * ID.itemsize or len(rows) < n:
                break
            if zlib.crc32(ids, zlib.crc32(rows.tobytes())) != head["checksum"]:
                break
            done += n
            place += _HEAD.itemsize + n * ID.itemsize
        return done

    def _bytes_of(self, data: bytes, n_rows: int) -> int:
        place = done = 0
        while done < n_rows:
            n = int(np.frombuffer(data, _HEAD, count=1, offset=place)[0]["n_rows"])
            done += n
            place += _HEAD.itemsize + n * ID.itemsize
        return place


def file_stem(fingerprint: str) -> str:
    """Return a fingerprint as a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", fingerprint)[:150]


def ids_of(rows: Sequence[tuple[int, int, int, int]]) -> Ids:
    """Return (row, seq, start, end) tuples as an array of ids."""
    return np.array(list(rows), ID)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _write_at(path: Path, place: int, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.ftruncate(descriptor, place)
        view = memoryview(data)
        while view:
            written = os.pwrite(descriptor, view, place)
            view, place = view[written:], place + written
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
