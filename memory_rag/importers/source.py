"""One file to import, on disk or in a zip: its bytes, its text, its JSON, with the place of every fault."""

from __future__ import annotations

import codecs
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import IO, Any

from memory_rag.errors import ImportFormatError
from memory_rag.importers.tally import Skipped

# UTF-32-LE's mark begins with UTF-16-LE's, so it is asked for first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class WrittenFloat(float):
    """A float, or a NaN, that remembers how the JSON wrote it: ``said_at_text`` keeps ``1764460800.250``."""

    __slots__ = ("written",)
    written: str

    def __new__(cls, written: str) -> WrittenFloat:
        value = super().__new__(cls, written)
        value.written = written
        return value


@dataclass(frozen=True, slots=True)
class Line:
    """The JSON value of one line, and the line's number from 1."""

    number: int
    value: Any


@dataclass(frozen=True, slots=True)
class Encoding:
    """A file's encoding and the length of the byte order mark that told it (0: no mark, so UTF-8)."""

    name: str
    mark_length: int


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to import. ``label`` names it in messages; ``path`` is where it lies, zips being folders."""

    label: str
    path: PurePath
    size: int
    opener: Callable[[], IO[bytes]]

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
            raise self._undecodable(error, base=encoding.mark_length) from error

    def read_json(self) -> Any:
        """Return the file's one JSON value; of a key that comes twice the last value counts.

        Raises:
            ImportFormatError: broken JSON (with line and column), too deep nesting, or nothing at all.
        """
        text = self.read_text()
        if not text.strip():
            raise ImportFormatError(f"{self.label}: nothing to import, the file is empty")
        return self._parsed(text)

    def read_json_lines(self) -> Iterator[Line | Skipped]:
        """Yield the JSON value of each line that isn't blank; only a line feed ends a line.

        A last line that breaks off without a line feed is being written or was cut: it comes as ``Skipped``.

        Raises:
            ImportFormatError: any other line is broken (with line and column), or a byte is (with its
                offset).
        """
        for number, text in enumerate(self._text_lines(), 1):
            if isinstance(text, Skipped):
                yield text
            elif text.strip():
                try:
                    value = self._parsed(text, line=number)
                except ImportFormatError:
                    if text.endswith("\n"):
                        raise
                    yield self._unfinished(number)
                else:
                    yield Line(number, value)

    def _text_lines(self) -> Iterator[str | Skipped]:
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
                    raise self._undecodable(error, base=offset) from error
                offset += len(raw)

    def _parsed(self, text: str, *, line: int | None = None) -> Any:
        try:
            return json.loads(text, parse_float=WrittenFloat, parse_constant=WrittenFloat)
        except (ValueError, RecursionError) as error:
            raise ImportFormatError(f"{self.label}{json_fault(error, line=line)}") from error

    def _undecodable(self, error: UnicodeDecodeError, *, base: int) -> ImportFormatError:
        return ImportFormatError(
            f"{self.label}: not valid {error.encoding.upper()} at byte {base + error.start} "
            f"(0x{error.object[error.start]:02x}: {error.reason}); save it as UTF-8 and import it again"
        )

    def _unfinished(self, number: int) -> Skipped:
        return Skipped("unfinished last line", f"{self.label}, line {number}")


def encoding_of(start: bytes) -> Encoding:
    """Return the encoding that a file's first four bytes tell: a byte order mark's, else UTF-8."""
    for mark, name in _MARKS:
        if start.startswith(mark):
            return Encoding(name, len(mark))
    return Encoding("utf-8", 0)


def json_fault(error: ValueError | RecursionError, *, line: int | None = None) -> str:
    """Say what json found wrong and where, to be put after a file's name and, of JSON Lines, the ``line``."""
    if isinstance(error, json.JSONDecodeError):
        return f", line {line or error.lineno}, column {error.colno}: broken JSON: {error.msg}"
    place = f", line {line}" if line else ""
    if isinstance(error, RecursionError):
        return f"{place}: its JSON is nested too deeply to be read"
    return f"{place}: its JSON can't be read: {error}"
