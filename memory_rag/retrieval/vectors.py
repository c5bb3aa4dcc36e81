"""Vectors on disk: rows that are only ever appended, each with what it was made from.

Two files a model, described byte by byte in ``indexes/README.md``: ``<fingerprint>.f32`` holds float32 rows and nothing
else, ``<fingerprint>.ids`` holds blocks that say which turn, words and span each row belongs to, with a checksum over
both. Rows without a whole block, left by a killed process, don't count and are overwritten.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Self

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import StoreError
from memory_rag.store.files import fsync_folder, write_atomically

MAGIC: Final = 0x4D524732
"""``MRG2``, at the head of every block."""
_HEAD: Final = np.dtype([("magic", "<u4"), ("n_rows", "<u4"), ("dim", "<u4"), ("checksum", "<u4")])
ID: Final = np.dtype([("row", "<i8"), ("content", "<i8"), ("start", "<i8"), ("end", "<i8")])
"""A vector's turn (its row in the store), the key of the words that were embedded, and the passage's span in the
searchable text."""
_PLAIN: Final = re.compile(r"[a-z0-9-][a-z0-9.:-]{0,149}")
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
        self._identity: _Identity | None = None
        self._seen: tuple[_Look | None, _Look | None] | None = None

    def read_new(self) -> VectorRows | None:
        """Return the rows that were appended since the last call; None if the files were replaced and must be reread.

        A damaged block ends what is read; what it and the blocks after it held is embedded again.

        Raises:
            StoreError: the files can't be read.
        """
        seen = (_look_at(self.ids_path), _look_at(self.rows_path))
        if self._seen is not None and seen == self._seen:
            return self._nothing()
        try:
            with self.ids_path.open("rb") as file:
                identity = _Identity.of(file)
                if self._is_another(identity):
                    self._start_over()
                    return None
                file.seek(self._ids_read)
                data = file.read()
        except FileNotFoundError:
            if self.n_read == 0:
                return self._nothing()
            self._start_over()
            return None
        except OSError as error:
            raise StoreError(f"{self.ids_path} can't be read ({error.strerror})") from error
        blocks = self._blocks(data)
        vectors = self._rows(sum(len(ids) for _head, ids in blocks))
        good: list[Ids] = []
        n_good = 0
        for head, ids in blocks:
            rows = vectors[n_good : n_good + len(ids)]
            if len(rows) < len(ids) or _checksum(rows, ids) != head["checksum"]:
                break
            good.append(ids)
            n_good += len(ids)
        if not good:
            return self._nothing()
        self.n_read += n_good
        self._ids_read += sum(_HEAD.itemsize + ids.nbytes for ids in good)
        self._identity = identity
        # Looked at before it was read: whatever came since shows. A block that isn't whole yet is read again.
        self._seen = seen if identity.n_bytes == self._ids_read else None
        return VectorRows(vectors[:n_good], np.concatenate(good))

    def append(self, vectors: Vectors, ids: Ids) -> None:
        """Append rows durably: the vectors first, then the block that makes them count. Call under the memory's lock.

        Raises:
            StoreError: the disk is full or the files can't be written; nothing of these rows counts then.
        """
        if len(vectors) == 0:
            return
        rows = np.ascontiguousarray(vectors, np.float32)
        try:
            self.rows_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_at(self.rows_path, self.n_read * self.dim * 4, rows.tobytes())
            _write_at(self.ids_path, self._ids_read, self._block(rows, ids))
        except OSError as error:
            raise StoreError(
                f"vectors can't be written to {self.rows_path.parent} ({error.strerror}); the words are safe and "
                "keyword search goes on; free some space, then run: memory-rag reindex"
            ) from error

    def replace_with(self, rows: VectorRows) -> None:
        """Write the files anew with these rows only (compaction). Call under the memory's lock.

        Whoever is killed on the way leaves the old files; at worst the new vectors with the old ids, of which those
        before the first dropped one still count.

        Raises:
            StoreError: the disk is full or the files can't be written; the old ones are still there.
        """
        vectors = np.ascontiguousarray(rows.vectors, np.float32)
        block = self._block(vectors, rows.ids) if len(rows.ids) else b""
        new = {path: path.with_name(f".{path.name}.new") for path in (self.rows_path, self.ids_path)}
        write_atomically(new[self.rows_path], lambda file: file.write(vectors.tobytes()))
        write_atomically(new[self.ids_path], lambda file: file.write(block))
        for path, written in new.items():
            written.replace(path)
        fsync_folder(self.rows_path.parent)

    def _is_another(self, identity: _Identity) -> bool:
        """Tell whether the files are not those that were read so far, with more at their ends."""
        if self._identity is None:
            return False
        shorter = identity.n_bytes < self._ids_read or _size(self.rows_path) < self.n_read * self.dim * 4
        return shorter or not identity.continues(self._identity)

    def _start_over(self) -> None:
        self.n_read = self._ids_read = 0
        self._identity = self._seen = None

    def _nothing(self) -> VectorRows:
        return VectorRows(np.zeros((0, self.dim), np.float32), np.zeros(0, ID))

    def _block(self, vectors: Vectors, ids: Ids) -> bytes:
        head = np.array([(MAGIC, len(ids), self.dim, _checksum(vectors, ids))], _HEAD)
        return head.tobytes() + ids.tobytes()

    def _blocks(self, data: bytes) -> list[tuple[np.void, Ids]]:
        """Return (head, ids) of the blocks that are whole, up to the first that isn't one."""
        blocks: list[tuple[np.void, Ids]] = []
        place = 0
        while place + _HEAD.itemsize <= len(data):
            head = np.frombuffer(data, _HEAD, count=1, offset=place)[0]
            n = int(head["n_rows"])
            end = place + _HEAD.itemsize + n * ID.itemsize
            if head["magic"] != MAGIC or head["dim"] != self.dim or n == 0 or end > len(data):
                break
            blocks.append((head, np.frombuffer(data, ID, count=n, offset=place + _HEAD.itemsize)))
            place = end
        return blocks

    def _rows(self, n: int) -> Vectors:
        """Return the next n rows of the file of vectors, or as many as are there."""
        try:
            numbers = np.fromfile(self.rows_path, "<f4", count=n * self.dim, offset=self.n_read * self.dim * 4)
        except FileNotFoundError:
            numbers = np.zeros(0, np.float32)
        except OSError as error:
            raise StoreError(f"{self.rows_path} can't be read ({error.strerror})") from error
        whole = len(numbers) // self.dim
        return numbers[: whole * self.dim].astype(np.float32, copy=False).reshape(whole, self.dim)


def file_stem(fingerprint: str) -> str:
    """Return a fingerprint as a file name, another for each: colons as ``_``; others that can't stand there, hashed."""
    if _PLAIN.fullmatch(fingerprint):
        return fingerprint.replace(":", "_")
    digest = hashlib.sha256(fingerprint.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '_', fingerprint)[:100].lstrip('.')}-{digest}"


def ids_of(rows: Sequence[tuple[int, int, int, int]]) -> Ids:
    """Return (row, content, start, end) tuples as an array of ids."""
    return np.array(list(rows), ID)


@dataclass(frozen=True, slots=True)
class _Identity:
    """Which file it is: its inode, and the head of its first block, since an inode's number is soon given again."""

    device: int
    inode: int
    n_bytes: int
    head: bytes

    @classmethod
    def of(cls, file: BinaryIO) -> Self:
        status = os.fstat(file.fileno())
        return cls(status.st_dev, status.st_ino, status.st_size, file.read(_HEAD.itemsize))

    def continues(self, earlier: _Identity) -> bool:
        """Tell whether this may be the earlier file with more at its end."""
        return (self.device, self.inode, self.head) == (earlier.device, earlier.inode, earlier.head)


_Look = tuple[int, int, int, int]


def _look_at(path: Path) -> _Look | None:
    """Return what shows that a file was written to: device, inode, size and time; None without a file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _checksum(vectors: Vectors, ids: Ids) -> int:
    return zlib.crc32(ids.tobytes(), zlib.crc32(vectors.tobytes()))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


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
