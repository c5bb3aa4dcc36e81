"""The JSON values of a file, one after the other: an array's elements, the lines of JSON Lines, or the one object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from memory_rag.errors import ImportFormatError
from memory_rag.importers.sampling import sample
from memory_rag.importers.source import Line, SourceFile
from memory_rag.importers.tally import Skipped


@dataclass(frozen=True, slots=True)
class Found:
    """A value, where it was found (``item 3`` of an array, ``line 3`` of JSON Lines), and its JSON as it is written.

    ``written`` is empty where that isn't known.
    """

    where: str
    value: Any
    written: str = field(default="", compare=False)


def values_of(source: SourceFile, *, skip_broken: bool = False, as_written: bool = False) -> Iterator[Found | Skipped]:
    """Yield the values in order, read one by one; a broken line of JSON Lines is skipped if ``skip_broken``.

    With ``as_written`` an array's come with their JSON.

    Raises:
        ImportFormatError: the file is broken or empty.
    """
    with source.json() as stream:
        if not stream.kind():
            raise ImportFormatError(f"{source.label}: nothing to import, the file is empty")
        if stream.kind() == "[":
            for number in stream.elements():
                value, written = stream.value_as_written() if as_written else (stream.value(), "")
                yield Found(f"item {number}", value, written)
            stream.end()
            return
    if sample(source).kind == "lines":
        yield from _lines(source, skip_broken=skip_broken)
        return
    with source.json() as stream:
        value = stream.value()
        if not stream.kind():
            yield Found("item 0", value)
            return
    # A first line that is longer than what a sample reads.
    yield from _lines(source, skip_broken=skip_broken)


def _lines(source: SourceFile, *, skip_broken: bool) -> Iterator[Found | Skipped]:
    for line in source.read_json_lines(skip_broken=skip_broken):
        yield Found(f"line {line.number}", line.value) if isinstance(line, Line) else line
