"""The files that a benchmark is read from, and the SHA-256 that tells which they were."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, Final, Self

from memory_rag.errors import ImportFormatError
from memory_rag.importers.source import SourceFile

_BLOCK: Final = 1 << 20


class FilesRead:
    """Reads a data set's files and remembers, in the order of reading, the SHA-256 of each.

    ``root`` is the file itself, or the folder that the files' names are told below.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._digests: list[tuple[str, str]] = []

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file; of several, that of the list which ``sha256sum`` prints for them."""
        if len(self._digests) == 1:
            return self._digests[0][1]
        listed = "".join(f"{digest}  {name}\n" for name, digest in self._digests)
        return hashlib.sha256(listed.encode("utf-8", "surrogateescape")).hexdigest()

    def source(self, path: Path) -> SourceFile:
        """Return a file that was read whole, as an importer takes it."""
        data = self.data(path)
        return SourceFile(str(path), path.resolve(), len(data), lambda: BytesIO(data))

    def json(self, path: Path) -> Any:
        """Return a file's one JSON value.

        Raises:
            ImportFormatError: it can't be read, or isn't JSON; the message has the place.
        """
        return self.source(path).read_json()

    def data(self, path: Path) -> bytes:
        """Return a file's bytes.

        Raises:
            ImportFormatError: it can't be read.
        """
        with self.opened(path) as file:
            return file.read_all()

    def lines(self, path: Path) -> Iterator[tuple[int, str]]:
        """Yield (number from 1, text) of each line that isn't blank; only a line feed ends a line.

        Raises:
            ImportFormatError: it can't be read, or a line isn't UTF-8.
        """
        with self.opened(path) as file:
            for number, raw in enumerate(file.raw_lines(), start=1):
                try:
                    text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r\n")
                except UnicodeDecodeError as error:
                    raise ImportFormatError(f"{path}, line {number}: not UTF-8: {error.reason}") from error
                if text.strip():
                    yield number, text

    def json_lines(self, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (number from 1, object) of each line of a JSON Lines file.

        Raises:
            ImportFormatError: it can't be read, or a line is no JSON object.
        """
        for number, text in self.lines(path):
            try:
                value = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise ImportFormatError(f"{path}, line {number}: broken JSON: {error}") from error
            if not isinstance(value, dict):
                raise ImportFormatError(f"{path}, line {number}: {text[:40]!r} is no JSON object")
            yield number, value

    def opened(self, path: Path) -> HashedFile:
        """Open a file to be read once, from its beginning to its end.

        Raises:
            ImportFormatError: it can't be opened.
        """
        return HashedFile(path, self)

    def note(self, path: Path, digest: str) -> None:
        """Remember the SHA-256 of a file that was read to its end."""
        below = path != self._root and path.is_relative_to(self._root)
        self._digests.append((path.relative_to(self._root).as_posix() if below else path.name, digest))


class HashedFile:
    """A file being read from beginning to end; what was not read of it when it is closed is read then."""

    def __init__(self, path: Path, files: FilesRead) -> None:
        self._path, self._files = path, files
        self._hash = hashlib.sha256()
        try:
            self._handle = path.open("rb")
        except OSError as error:
            raise ImportFormatError(f"{path}: can't be read: {error.strerror}") from error

    def read(self, size: int) -> bytes:
        """Return the next ``size`` bytes; fewer, or none, at the end."""
        try:
            data = self._handle.read(size)
        except OSError as error:
            raise ImportFormatError(f"{self._path}: can't be read: {error.strerror}") from error
        self._hash.update(data)
        return data

    def read_all(self) -> bytes:
        return self.read(-1)

    def raw_lines(self) -> Iterator[bytes]:
        left = b""
        while block := self.read(_BLOCK):
            *whole, left = (left + block).split(b"\n")
            yield from whole
        if left:
            yield left

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None:
            while self.read(_BLOCK):
                pass
            self._files.note(self._path, self._hash.hexdigest())
        self._handle.close()
