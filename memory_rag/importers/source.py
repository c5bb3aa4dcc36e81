"""One file to import, on disk or in a zip: its bytes, its text, its JSON, with the place of every fault."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import IO, Any, Final

from memory_rag.errors import ImportFormatError
from memory_rag.importers.json_stream import DECODER, JsonStream, encoding_of, json_fault, undecodable
from memory_rag.importers.tally import Skipped

_BLANK: Final = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Line:
    """The JSON value of one line, the line's number from 1, and the JSON as it is written, without blanks around it."""

    number: int
    value: Any
    written: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to import. ``label`` names it in messages; ``path`` is where it lies, zips being folders.

    ``neighbour`` finds a file of the same folder or zip by its path; files that are alone have none. ``shared`` is the
    same for all files of an import: what an importer found out for one of them and needs for the next.
    """

    label: str
    path: PurePath
    size: int
    opener: Callable[[], IO[bytes]]
    neighbour: Callable[[PurePath], SourceFile | None] = lambda _path: None
    shared: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def beside(self, name: str) -> SourceFile | None:
        """Return the file that lies at a path relative to this one's folder, such as ``../users.json``, if any."""
        return self.neighbour(PurePath(os.path.normpath(self.path.parent / name)))

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the bytes; what goes wrong below while they are read is told as an ``ImportFormatError``."""
        try:
            try:
                handle = self.opener()
            except ValueError as error:  # the zip around it was closed
                raise OSError(str(error)) from error
            with handle:
                yield handle
        except (OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
            raise ImportFormatError(f"{self.label}: can't be read: {error}") from error

    def read_text(self) -> str:
        """Return the whole text: UTF-8, or what its byte order mark says; the mark is no part of it.

        Raises:
            ImportFormatError: a byte is not of the encoding; the message has its offset.
        """
        with self.open() as handle:
            data = handle.read()
        encoding = encoding_of(data)
        try:
            return str(memoryview(data)[encoding.mark_length :], encoding.name)
        except UnicodeDecodeError as error:
            raise undecodable(error, base=encoding.mark_length, label=self.label) from error

    def read_json(self) -> Any:
        """Return the file's one JSON value; of a key that comes twice the last value counts.

        Raises:
            ImportFormatError: broken JSON (with line and column), too deep nesting, or nothing at all.
        """
        text = self.read_text()
        if not text.strip():
            raise ImportFormatError(f"{self.label}: nothing to import, the file is empty")
        return self._parsed(text)

    @contextmanager
    def json(self) -> Iterator[JsonStream]:
        """Open the file's JSON at its beginning, to be read piece by piece.

        Raises:
            ImportFormatError: it can't be read, decoded or parsed, at any point.
        """
        with self.open() as handle:
            yield JsonStream(handle.read, label=self.label)

    def read_json_lines(self, *, skip_broken: bool = False) -> Iterator[Line | Skipped]:
        """Yield the JSON value of each line that isn't blank; only a line feed ends a line.

        A last line that breaks off without a line feed is being written or was cut: it comes as ``Skipped``, and so
        does any other broken line if ``skip_broken``, be it no JSON or no text.

        Raises:
            ImportFormatError: a line is broken (with line and column), or a byte is (with its offset).
        """
        for number, text in enumerate(self.read_lines(skip_broken=skip_broken), 1):
            if isinstance(text, Skipped):
                yield text
            elif text.strip():
                try:
                    value = self._parsed(text, line=number)
                except ImportFormatError:
                    if not text.endswith("\n"):
                        yield self._unfinished(number)
                    elif skip_broken:
                        yield Skipped("a line of broken JSON", f"{self.label}, line {number}")
                    else:
                        raise
                else:
                    yield Line(number, value, text.strip(_BLANK))

    def read_lines(self, *, skip_broken: bool = False) -> Iterator[str | Skipped]:
        """Yield the lines of the text with their line feeds, which alone end a line.

        A last line that ends amid a letter comes as ``Skipped``, and with ``skip_broken`` any that is no text.

        Raises:
            ImportFormatError: a byte is not of the encoding.
        """
        with self.open() as handle:
            encoding = encoding_of(handle.read(4))
        if encoding.name != "utf-8":
            *ended, last = self.read_text().split("\n")
            yield from (line + "\n" for line in ended)
            yield last
            return
        with self.open() as handle:
            offset = len(handle.read(encoding.mark_length))
            for number, raw in enumerate(handle, 1):
                try:
                    yield raw.decode()
                except UnicodeDecodeError as error:
                    if not raw.endswith(b"\n") and error.reason == "unexpected end of data":
                        yield self._unfinished(number)
                        return
                    if not skip_broken:
                        raise undecodable(error, base=offset, label=self.label) from error
                    yield Skipped(f"a line that isn't {encoding.name.upper()}", f"{self.label}, line {number}")
                offset += len(raw)

    def _parsed(self, text: str, *, line: int | None = None) -> Any:
        try:
            return DECODER.decode(text)
        except (ValueError, RecursionError) as error:
            raise ImportFormatError(f"{self.label}{json_fault(error, line=line)}") from error

    def _unfinished(self, number: int) -> Skipped:
        return Skipped("unfinished last line", f"{self.label}, line {number}")
