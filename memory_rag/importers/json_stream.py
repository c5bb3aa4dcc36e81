"""JSON read piece by piece, so that a file of several gigabytes needs the memory of its largest conversation.

The pieces are decoded by the standard library's own scanner, which keeps every text as it is written. ijson 3.6 (C
backend) was weighed: as fast, but it reads a lone surrogate as ``?`` and refuses NaN, so words would be lost.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from memory_rag.errors import ImportFormatError

_BLOCK: Final = 1 << 20
_LARGEST_BLOCK: Final = 1 << 23
LONGEST: Final = 1 << 26
"""Characters of one piece at most. Broken JSON would otherwise be noticed only when the whole file is in memory."""
_BLANK: Final = " \t\r\n"
_CUT: Final = "; the file breaks off there, download or export it again"
_OPEN_ENDED: Final = frozenset("0123456789+-.eEnulltruefalsNaIity")

# UTF-32-LE's mark begins with UTF-16-LE's, so it is asked for first.
_MARKS: Final = (
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


DECODER: Final = json.JSONDecoder(parse_float=WrittenFloat, parse_constant=WrittenFloat)
"""Reads floats as they are written; made once, since json.loads makes one for every line."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """A file's encoding and the length of the byte order mark that told it (0: no mark, so UTF-8)."""

    name: str
    mark_length: int


def encoding_of(start: bytes) -> Encoding:
    """Return the encoding that a file's first four bytes tell: a byte order mark's, else UTF-8."""
    for mark, name in _MARKS:
        if start.startswith(mark):
            return Encoding(name, len(mark))
    return Encoding("utf-8", 0)


def json_fault(error: ValueError | RecursionError, *, line: int | None = None) -> str:
    """Say what json found wrong and where, to be put after a file's name and, of JSON Lines, the ``line``."""
    if isinstance(error, json.JSONDecodeError):
        hint = _CUT if line is None and _breaks_off(error.msg, error.doc, error.pos) else ""
        return f", line {line or error.lineno}, column {error.colno}: broken JSON: {error.msg}{hint}"
    place = f", line {line}" if line else ""
    if isinstance(error, RecursionError):
        return f"{place}: its JSON is nested too deeply to be read"
    return f"{place}: its JSON can't be read: {error}"


def _breaks_off(fault: str, text: str, at: int) -> bool:
    """Whether a whole text has this fault because its end is missing."""
    return fault.startswith("Unterminated string") or not text[at:].strip(_BLANK)


def may_be_cut(error: ValueError, length: int) -> bool:
    """Whether a fault may come from where the text was cut: an open string, or a fault at the very end."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or error.pos > length - 16


class JsonStream:
    """A place in a JSON text that moves on: take a value whole, or walk through its elements or members.

    ``read(n)`` gives the next n bytes, none at the end. Every fault is an ``ImportFormatError`` with line and column.
    """

    def __init__(
        self, read: Callable[[int], bytes], *, label: str, block: int = _BLOCK, longest: int = LONGEST
    ) -> None:
        self._read, self._label, self._block, self._longest = read, label, block, longest
        self._decoder: codecs.IncrementalDecoder | None = None
        self._held = ""
        self._at = 0
        self._ended = False
        self._n_bytes = 0
        self._line = 1
        self._column = 1
        self._n_taken = 0

    def kind(self) -> str:
        """Return the first character of the value that comes now, ``[`` and ``{`` among them; "" at the end."""
        while True:
            while self._at < len(self._held):
                if self._held[self._at] not in _BLANK:
                    return self._held[self._at]
                self._at += 1
            if self._ended:
                return ""
            self._more(self._block)

    def value(self) -> Any:
        """Take the value that comes now, whole.

        Raises:
            ImportFormatError: it is broken, or longer than ``longest``.
        """
        return self._value()[0]

    def value_as_written(self) -> tuple[Any, str]:
        """Take the value that comes now, whole, with its JSON as it is written.

        Raises:
            ImportFormatError: it is broken, or longer than ``longest``.
        """
        value, begin = self._value()
        return value, self._held[begin : self._at]

    def _value(self) -> tuple[Any, int]:
        """Take the value that comes now, and say where in what is held it began."""
        self.kind()
        while True:
            try:
                value, end = DECODER.raw_decode(self._held, self._at)
            except RecursionError as error:
                raise ImportFormatError(f"{self._label}{json_fault(error)}") from error
            except ValueError as error:
                held = len(self._held) - self._at
                if self._ended or not may_be_cut(error, len(self._held)):
                    raise self._broken(error) from error
                if held > self._longest:
                    raise self._fault(f"no end of this value within {self._longest:,} characters") from error
                self._more(max(self._block, held))
            else:
                if end == len(self._held) and not self._ended and self._held[end - 1] in _OPEN_ENDED:
                    self._more(self._block)
                    continue
                # The next value is likely of a like size; one reading of it instead of several tries.
                self._block = min(max(self._block, end - self._at), _LARGEST_BLOCK)
                begin, self._at = self._at, end
                self._n_taken += 1
                return value, begin

    def elements(self) -> Iterator[int]:
        """Walk through the array that comes now: yield each element's number from 0, to be taken or walked through.

        An element that isn't taken meanwhile is passed over.

        Raises:
            ImportFormatError: no array comes now, or it breaks off.
        """
        for number, _ in enumerate(self._parts("[", "]")):
            before = self._n_taken
            yield number
            if self._n_taken == before:
                self.value()

    def members(self) -> Iterator[str]:
        """Walk through the object that comes now: yield each key, its value to be taken or walked through.

        Raises:
            ImportFormatError: no object comes now, or it breaks off.
        """
        for _ in self._parts("{", "}"):
            if self.kind() != '"':
                raise self._fault("Expecting property name enclosed in double quotes")
            key = self.value()
            if self.kind() != ":":
                raise self._fault("Expecting ':' delimiter")
            self._at += 1
            before = self._n_taken
            yield key
            if self._n_taken == before:
                self.value()

    def end(self) -> None:
        """Check that nothing follows.

        Raises:
            ImportFormatError: something does.
        """
        if self.kind():
            raise self._fault("Extra data")

    def ahead(self) -> str:
        """Return the next twenty characters, for a message."""
        self.kind()
        return self._held[self._at : self._at + 20]

    def _parts(self, opening: str, closing: str) -> Iterator[None]:
        if self.kind() != opening:
            raise self._fault(f"Expecting {opening!r}")
        self._at += 1
        if self.kind() != closing:
            yield
            while self.kind() == ",":
                self._at += 1
                yield
        if self.kind() != closing:
            raise self._fault("Expecting ',' delimiter")
        self._at += 1
        self._n_taken += 1

    def _broken(self, error: ValueError) -> ImportFormatError:
        if isinstance(error, json.JSONDecodeError):
            return self._fault(error.msg, at=error.pos)
        return ImportFormatError(f"{self._label}{json_fault(error)}")

    def _fault(self, what: str, *, at: int | None = None) -> ImportFormatError:
        at = self._at if at is None else at
        line, column = self._place(at)
        hint = _CUT if self._ended and _breaks_off(what, self._held, at) else ""
        return ImportFormatError(f"{self._label}, line {line}, column {column}: broken JSON: {what}{hint}")

    def _place(self, at: int) -> tuple[int, int]:
        """Return the line and column, from 1, of a place in what is held."""
        n_lines = self._held.count("\n", 0, at)
        if not n_lines:
            return self._line, self._column + at
        return self._line + n_lines, at - self._held.rfind("\n", 0, at)

    def _more(self, size: int) -> None:
        data = self._read(size)
        self._ended = not data
        if self._decoder is None:
            while data and len(data) < 4 and (following := self._read(4 - len(data))):
                data += following
            encoding = encoding_of(data)
            self._decoder = codecs.getincrementaldecoder(encoding.name)()
            self._n_bytes, data = encoding.mark_length, data[encoding.mark_length :]
        pending = self._decoder.getstate()[0]
        try:
            text = self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            raise undecodable(error, base=self._n_bytes - len(pending), label=self._label) from error
        self._n_bytes += len(data)
        self._line, self._column = self._place(self._at)
        self._held = self._held[self._at :] + text
        self._at = 0


def undecodable(error: UnicodeDecodeError, *, base: int, label: str) -> ImportFormatError:
    """Return the refusal of bytes that are no text; ``base`` is the offset at which those decoded began."""
    return ImportFormatError(
        f"{label}: not valid {error.encoding.upper()} at byte {base + error.start} "
        f"(0x{error.object[error.start]:02x}: {error.reason}); save it as UTF-8 and import it again"
    )


def objects_of_array(
    read: Callable[[int], bytes], *, label: str, block: int = _BLOCK, longest: int = LONGEST
) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON array; ``read(n)`` gives the next n bytes, none at the end.

    Raises:
        ImportFormatError: it isn't an array of objects, breaks off, or an object is broken or longer than ``longest``.
    """
    stream = JsonStream(read, label=label, block=block, longest=longest)
    if stream.kind() != "[":
        raise ImportFormatError(f"{label}: no JSON array; it begins with {stream.ahead()!r}")
    for number in stream.elements():
        if stream.kind() != "{":
            raise ImportFormatError(f"{label}: item {number + 1} begins with {stream.ahead()!r} and is no object")
        found: dict[str, Any] = stream.value()
        yield found
    if stream.kind():
        raise ImportFormatError(f"{label}: after the array comes {stream.ahead()!r}")
