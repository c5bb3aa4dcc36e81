"""Vectors on disk: rows that are only ever appended, each with what it was made from.

Two files a model, described byte by byte in ``indexes/README.md``: ``<fingerprint>.f32`` holds float32 rows and nothing
else, ``<fingerprint>.ids`` holds blocks that say which turn, words and span each row belongs to, with a checksum over
both. Rows without a whole block, left by a killed process, don't count and are overwritten; a damaged block amid others
is passed over.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, Self

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import StoreError
from memory_rag.retrieval.file_identity import FileIdentity, Look, look_at
from memory_rag.retrieval.mapped_rows import MappedRows
from memory_rag.retrieval.vector_blocks import ERASED, ID, Ids, block_bytes, blocks_without, whole_blocks
from memory_rag.store.files import fsync_path, write_atomically

_PLAIN: Final = re.compile(r"[a-z0-9-][a-z0-9.:-]{0,149}")


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Vectors and what they belong to, in the order in which they were written; shapes (n, dim) and (n,)."""

    vectors: Vectors
    ids: Ids


@dataclass(frozen=True, slots=True)
class Checked:
    """That the first bytes of a file of ids had this checksum when all their blocks were found whole."""

    n_bytes: int
    checksum: int

    def holds_for(self, data: bytes) -> bool:
        """Tell whether a file of ids begins with these bytes."""
        return len(data) >= self.n_bytes and zlib.crc32(memoryview(data)[: self.n_bytes]) == self.checksum

    def and_more(self, data: bytes) -> Checked:
        """Return the same of a file that goes on with these bytes."""
        return Checked(self.n_bytes + len(data), zlib.crc32(data, self.checksum))


class KeptVectors(Protocol):
    """The vectors that one model made, wherever they are kept."""

    n_read: int
    n_damaged: int
    """Of the rows read, those that can't be used."""
    checked: Checked | None
    """How much was found whole earlier, and needn't be looked at again."""

    @property
    def generation(self) -> object:
        """What is another one where the vectors have other numbers than before; None while there are none."""
        ...

    @property
    def rows(self) -> Vectors:
        """The vectors of all rows read, shape (n, dim)."""
        ...

    def read_new(self) -> VectorRows | None:
        """Return the rows that were appended since the last call; None if all has to be read anew."""
        ...

    def append(self, vectors: Vectors, ids: Ids) -> None:
        """Keep more rows. Call while nobody else may write."""
        ...

    def replace_with(self, rows: VectorRows) -> None:
        """Keep these rows only. Call while nobody else may write."""
        ...

    def as_checked(self) -> Checked:
        """Return that what was read is whole."""
        ...


class VectorFile:
    """The vectors that one model made, appended block by block."""

    def __init__(self, folder: Path, *, fingerprint: str, dim: int, waits_for_disk: bool = True) -> None:
        """Vectors of the model with this fingerprint, in a folder that needn't exist.

        Without ``waits_for_disk`` a power cut may take the last that were appended, which are embedded again then.
        """
        self._waits_for_disk = waits_for_disk
        name = file_stem(fingerprint)
        self.rows_path = folder / f"{name}.f32"
        self.ids_path = folder / f"{name}.ids"
        self.dim = dim
        self.fingerprint = fingerprint
        self.n_read = 0
        self.n_damaged = 0
        """Of the rows read, those that a damaged block held."""
        self.rows: Vectors = np.zeros((0, dim), np.float32)
        """The vectors of all rows read, but for damaged ones, shape (n, dim): mapped into memory, not loaded."""
        self.checked: Checked | None = None
        """How much of the files was found whole earlier; None once it shows that these are other files."""
        self.whole: Checked | None = None
        """How much of the files was found whole by now, or was left whole by who has taken vectors out since."""
        self.generation: tuple[int, int] | None = None
        """Which file of vectors was read; the ids beside it may be others than before all the same."""
        self._ids_read = 0
        self._rows_of_file = MappedRows(dim=dim)
        self._identity: FileIdentity | None = None
        self._seen: tuple[Look | None, Look | None] | None = None

    @classmethod
    def at(cls, ids_path: Path, *, dim: int) -> Self:
        """The vectors whose file of ids is this one, whatever made them."""
        file = cls(ids_path.parent, fingerprint=ids_path.stem, dim=dim)
        file.ids_path, file.rows_path = ids_path, ids_path.with_suffix(".f32")
        return file

    @property
    def has_rest(self) -> bool:
        """Whether there are bytes that don't count behind what was read: a killed process left them."""
        return _size(self.ids_path) > self._ids_read or _size(self.rows_path) > self.n_read * self.dim * 4

    def read_new(self) -> VectorRows | None:
        """Return the rows that were appended since the last call; None if the files were replaced and must be reread.

        A damaged block is passed over, and what it held is embedded again. A block that is damaged or not whole at
        the end was left by a killed process; it doesn't count, and the next is written over it.

        Raises:
            StoreError: the files can't be read.
        """
        seen = (look_at(self.ids_path), look_at(self.rows_path))
        if self._seen is not None and seen == self._seen:
            return self._nothing()
        try:
            with self.ids_path.open("rb", buffering=0) as file:
                identity = FileIdentity.of(file)
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
        mapped = self._mapped()
        before = self.whole
        if self._ids_read == 0:
            if self.checked is not None and not self.checked.holds_for(data):
                self.checked = None
            known = before if before is not None and before.holds_for(data) else self.checked
            before = Checked(0, 0)
        else:
            known = self.checked
        checked = 0 if known is None else known.n_bytes - self._ids_read
        blocks = whole_blocks(data, mapped[self.n_read :], dim=self.dim, checked=checked)
        if not blocks:
            self._seen = seen if identity.n_bytes == self._ids_read else None
            return self._nothing()
        n_damaged = sum(block.n_before for block in blocks)
        first, end = self.n_read, self.n_read + blocks[-1].end
        self.n_damaged += n_damaged
        self.n_read = end
        self.whole = None if self.n_damaged or before is None else before.and_more(data[: blocks[-1].ids_end])
        self._ids_read += blocks[-1].ids_end
        self._identity = identity
        # Looked at before it was read: whatever came since shows. A block that isn't whole yet is read again.
        self._seen = seen if identity.n_bytes == self._ids_read else None
        # Not copied where nothing has to be left out: a large memory has gigabytes of them.
        vectors = np.concatenate([block.vectors for block in blocks]) if n_damaged else mapped[first:end]
        self.rows = np.concatenate([self.rows, vectors]) if self.n_damaged else mapped[:end]
        # Of a file with damaged blocks, what is passed over may be another part the next time.
        self.generation = seen[1][:2] if seen[1] is not None and not self.n_damaged else None
        return VectorRows(vectors, np.concatenate([block.ids for block in blocks]))

    def as_checked(self) -> Checked:
        """Return that what was read of the files is whole, and stays so after a power cut.

        Raises:
            StoreError: the file can't be read.
        """
        try:
            for path in (self.rows_path, self.ids_path):
                fsync_path(path)
            with self.ids_path.open("rb") as file:
                return Checked(self._ids_read, zlib.crc32(file.read(self._ids_read)))
        except OSError as error:
            raise StoreError(f"{self.ids_path} can't be read ({error.strerror})") from error

    def append(self, vectors: Vectors, ids: Ids) -> None:
        """Append rows: the vectors first, then the block that makes them count. Call under the memory's lock.

        Raises:
            StoreError: the disk is full or the files can't be written; nothing of these rows counts then.
        """
        if len(vectors) == 0:
            return
        rows = np.ascontiguousarray(vectors, np.float32)
        try:
            if self.n_read == 0:
                self.rows_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._write_at(self.rows_path, self.n_read * self.dim * 4, rows.tobytes())
            self._write_at(self.ids_path, self._ids_read, block_bytes(rows, ids))
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
        block = block_bytes(vectors, rows.ids) if len(rows.ids) else b""
        new = {path: path.with_name(f".{path.name}.new") for path in (self.rows_path, self.ids_path)}
        write_atomically(new[self.rows_path], lambda file: file.write(vectors.tobytes()))
        write_atomically(new[self.ids_path], lambda file: file.write(block))
        for path, written in new.items():
            written.replace(path)
        fsync_path(self.rows_path.parent)

    def erase(self, rows: VectorRows, gone: npt.NDArray[np.bool_]) -> None:
        """Take out vectors, by their places among ``rows``, which are all that was read: ids first, then numbers.

        The others stay where they are. Whoever is killed in between leaves numbers that are nobody's; the next call
        overwrites them, whatever else it takes out. Call under the memory's lock, with nothing of the file damaged.

        Raises:
            BlockDamagedError: vectors beside those that go were damaged since they were found whole; nothing was done.
            StoreError: the files can't be read or written.
        """
        erased = np.flatnonzero(gone | (rows.ids["row"] == ERASED))
        try:
            if gone.any():
                data = blocks_without(self.ids_path.read_bytes()[: self._ids_read], rows.vectors, gone)
                write_atomically(self.ids_path, lambda file: file.write(data))
                self.whole = Checked(0, 0).and_more(data)
            _overwrite(self.rows_path, erased[rows.vectors[erased].any(axis=1)], n_bytes=self.dim * 4)
        except OSError as error:
            raise StoreError(f"{self.rows_path.parent} can't be written ({error.strerror})") from error

    def _write_at(self, path: Path, place: int, data: bytes) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            if os.fstat(descriptor).st_size != place:
                os.ftruncate(descriptor, place)
            view = memoryview(data)
            while view:
                written = os.pwrite(descriptor, view, place)
                view, place = view[written:], place + written
            if self._waits_for_disk:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _is_another(self, identity: FileIdentity) -> bool:
        """Tell whether the files are not those that were read so far, with more at their ends."""
        if self._identity is None:
            return False
        shorter = identity.n_bytes < self._ids_read or _size(self.rows_path) < self.n_read * self.dim * 4
        return shorter or not identity.continues(self._identity)

    def _start_over(self) -> None:
        self.n_read = self.n_damaged = self._ids_read = 0
        self.rows = np.zeros((0, self.dim), np.float32)
        self.checked = None
        self._identity = self._seen = None

    def _nothing(self) -> VectorRows:
        return VectorRows(np.zeros((0, self.dim), np.float32), np.zeros(0, ID))

    def _mapped(self) -> Vectors:
        """Return the whole rows of the file of vectors."""
        try:
            return self._rows_of_file.of(self.rows_path)
        except OSError as error:
            raise StoreError(f"{self.rows_path} can't be read ({error.strerror})") from error


def file_stem(fingerprint: str) -> str:
    """Return a fingerprint as a file name, another for each: colons as ``_``; others that can't stand there, hashed."""
    if _PLAIN.fullmatch(fingerprint):
        return fingerprint.replace(":", "_")
    digest = hashlib.sha256(fingerprint.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '_', fingerprint)[:100].lstrip('.')}-{digest}"


def ids_of(rows: Sequence[tuple[int, int, int, int]]) -> Ids:
    """Return (row, content, start, end) tuples as an array of ids."""
    return np.array(list(rows), ID)


def _size(path: Path) -> int:
    found = look_at(path)
    return 0 if found is None else found[2]


def _overwrite(path: Path, places: npt.NDArray[np.int64], *, n_bytes: int) -> None:
    """Write zeros over rows of so many bytes, for good."""
    if len(places) == 0:
        return
    descriptor = os.open(path, os.O_WRONLY)
    try:
        for place in places.tolist():
            if os.pwrite(descriptor, bytes(n_bytes), place * n_bytes) < n_bytes:
                raise StoreError(f"{path} can't be written to its end")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
