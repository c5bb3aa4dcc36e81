"""The beginning of a file, read just far enough to tell what format it is."""

from __future__ import annotations

import codecs
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from memory_rag.importers.json_stream import encoding_of, json_fault, may_be_cut
from memory_rag.importers.source import SourceFile

FIRST_BYTES = 64 * 1024
LONGEST_READ = 1 << 20
MAX_ITEMS = 8

_BLANK = re.compile(r"[ \t\r\n]*")
_STRING = r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'
_TO_BRACKET = re.compile(rf'(?:[^"\[\]{{}}]++|{_STRING})*+([\[\]{{}}]|\Z)', re.DOTALL)
_COMMA = re.compile(rf"{_STRING}|(,)", re.DOTALL)
_MORE = 4
_DECODER = json.JSONDecoder()

Kind = Literal["list", "object", "lines", "text", "binary", "empty"]


@dataclass(frozen=True, slots=True)
class Sample:
    """What a file begins with.

    A value that goes on beyond the first megabyte comes as far as it was read, what is unfinished left out. ``kind`` is
    ``list`` (a JSON array), ``object`` (one JSON object), ``lines`` (JSON Lines), ``text``
    (anything else that can be decoded), ``binary`` or ``empty``. ``items`` are the first JSON values, at
    most eight: the array's elements, the object itself, the lines' values; none for the other kinds.
    ``head`` is the text's beginning. ``problem`` says why a text that begins like JSON isn't, to be put
    after the file's name; else "".
    """

    path: PurePath
    kind: Kind
    items: tuple[Any, ...] = ()
    head: str = ""
    problem: str = ""


def sample(source: SourceFile, *, first_bytes: int = FIRST_BYTES) -> Sample:
    """Read the beginning of a file: ``first_bytes``, and four times as much until the first JSON value is whole.

    Raises:
        ImportFormatError: the file can't be read or decoded.
    """
    with source.open() as handle:
        data = handle.read(first_bytes)
        while True:
            following = handle.read(1)
            found = _told(source, data, whole=not following)
            if found is not None:
                return found
            data += following + handle.read((_MORE - 1) * len(data))


def _told(source: SourceFile, data: bytes, *, whole: bool) -> Sample | None:
    """Return what a file begins with, or None when more of it is needed to tell."""
    encoding = encoding_of(data)
    if encoding.name == "utf-8" and b"\0" in data[:FIRST_BYTES] and not _begins_like_json(data):
        return Sample(source.path, "binary")
    try:
        decoder = codecs.getincrementaldecoder(encoding.name)()
        text = decoder.decode(data[encoding.mark_length :], final=whole)
    except UnicodeDecodeError:
        # A broken line costs only itself: those about it tell what it is.
        # Of one line alone, that line is the broken one.
        several = _begins_like_json(data) and b"\n" in data.strip()
        items = _good_lines(data.decode("utf-8", "replace")) if several else ()
        if items and data.lstrip()[:1] == b"{":
            return Sample(source.path, "lines", items)
        source.read_text()  # raises with the byte's offset in the whole file
        raise
    found = _look(source.path, text, whole=whole)
    if found is None and len(text) >= LONGEST_READ:
        found = _look(source.path, text, whole=True, closed=closed(text[:LONGEST_READ]))
    return found


def _begins_like_json(data: bytes) -> bool:
    """Whether zero bytes are a torn write, as a crash leaves it, in what is text otherwise."""
    return data.lstrip()[:1] in {b"{", b"["}


def closed(text: str) -> str:
    """Return a JSON text that is cut somewhere without its last, unfinished value, and with all brackets closed."""
    closers: list[str] = []
    end = 0
    while (found := _TO_BRACKET.match(text, end)) and found[1]:
        sign = found[1]
        if sign in "[{":
            closers.append("]" if sign == "[" else "}")
        elif closers:
            closers.pop()
        end = found.end()
    commas = [found.start() for found in _COMMA.finditer(text, end) if found[1]]
    return text[: commas[-1] if commas else end] + "".join(reversed(closers))


def _look(path: PurePath, text: str, *, whole: bool, closed: str = "") -> Sample | None:
    """Return what the text shows, or None when more of it is needed to tell; ``closed`` is read in its place."""
    text = closed or text
    start = _after_blank(text, 0)
    if start == len(text):
        return Sample(path, "empty") if whole else None
    head = text[:FIRST_BYTES]
    try:
        if text[start] == "[":
            items = _elements(text, start + 1)
            return Sample(path, "list" if items else "empty", items, head)
        if text[start] == "{":
            return _object_or_lines(path, text, start, whole=whole)
    except RecursionError as error:
        return Sample(path, "text", head=head, problem=json_fault(error))
    except ValueError as error:
        if not whole and may_be_cut(error, len(text)):
            return None
        items = _good_lines(text) if text[start] == "{" else ()
        if items:
            return Sample(path, "lines", items, head)
        return Sample(path, "text", head=head, problem=json_fault(error))
    return Sample(path, "text", head=head)


def _elements(text: str, at: int) -> tuple[Any, ...]:
    """Return the first whole elements of an array that begins before ``at``, or raise if none is whole."""
    items: list[Any] = []
    while len(items) < MAX_ITEMS:
        at = _after_blank(text, at)
        if not items and text[at : at + 1] == "]":
            break
        try:
            value, at = _DECODER.raw_decode(text, at)
        except ValueError:
            if items:
                break
            raise
        items.append(value)
        at = _after_blank(text, at)
        if text[at : at + 1] != ",":
            if len(items) == 1 and text[at : at + 1] not in {"]", ""}:  # "[31/12/23, 21:05] Ada: hello"
                raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
            break
        at += 1
    return tuple(items)


def _object_or_lines(path: PurePath, text: str, start: int, *, whole: bool) -> Sample | None:
    first, end = _DECODER.raw_decode(text, start)
    rest = _after_blank(text, end)
    head = text[:FIRST_BYTES]
    if rest == len(text):
        return Sample(path, "object", (first,), head) if whole else None
    if "\n" not in text[end:rest]:
        raise json.JSONDecodeError("Extra data", text, rest)
    items = [first]
    for line in text[rest:].split("\n")[: MAX_ITEMS - 1]:
        try:
            items.append(json.loads(line))
        except ValueError:
            break
    return Sample(path, "lines", tuple(items), head)


def _good_lines(text: str) -> tuple[Any, ...]:
    """Return the objects of JSON Lines that begin with a broken one; none if not half of the first lines are whole."""
    first = [line for line in text.split("\n")[: MAX_ITEMS + 1] if line.strip()]
    items: list[Any] = []
    for line in first:
        with suppress(ValueError, RecursionError):
            found = json.loads(line)
            if isinstance(found, dict):
                items.append(found)
    return tuple(items) if 2 * len(items) >= len(first) else ()


def _after_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at
