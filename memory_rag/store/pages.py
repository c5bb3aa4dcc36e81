"""The pages of an SQLite file read without SQLite, for when it refuses them: every record that can still be made out.

After SQLite's own description of its file format. Pages are taken one by one, whatever tree they hung in; the
write-ahead log's committed pages are laid over the file's, as SQLite would.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

Record = tuple[Any, ...]

_SIZES: Final = (4096, 1024, 2048, 8192, 16384, 32768, 65536, 512)
_LEAF: Final = 13
_OTHER_KINDS: Final = frozenset({2, 5, 10})
_MOST_COLUMNS: Final = 60
_INTEGERS: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_HEAD_OF_RECORD: Final = re.compile(rb"(?=[\x04-\x3c]\x00)")
_WAL_MAGIC: Final = (0x377F0682, 0x377F0683)


@dataclass(slots=True)
class Pages:
    """The pages of one file, its write-ahead log laid over; numbered from 1."""

    data: bytes
    size: int
    over: dict[int, bytes] = field(default_factory=dict)
    _overflow: set[int] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> Pages:
        """Read a file and the log beside it; a damaged head leaves the page size to be found by trying."""
        data = path.read_bytes()
        log = path.with_name(f"{path.name}-wal")
        given = int.from_bytes(data[16:18], "big") or 65536
        size = 65536 if given == 1 else given
        over, log_size = _committed(log.read_bytes()) if log.is_file() else ({}, 0)
        if log_size:
            size = log_size
        elif size not in _SIZES or not data.startswith(b"SQLite format 3\0"):
            size = max(_SIZES, key=lambda one: cls(data, one)._n_readable())
        return cls(data, size, over)

    def mended_head(self) -> bytes:
        """Return the file's first 100 bytes as a healthy file of these pages has them, with no free pages."""
        size = 1 if self.size == 65536 else self.size
        n_pages = len(self.data) // self.size
        head = struct.pack(">16sH6B", b"SQLite format 3\0", size, 2, 2, 0, 64, 32, 32)
        # Change counter, pages, first free page, free pages, schema cookie and format, cache, largest root, encoding,
        # version, vacuum, application; then 20 zeros, the counter that this number of pages goes with, a version.
        counts = struct.pack(">12I20x2I", 1, n_pages, 0, 0, 1, 4, 0, 0, 1, 0, 0, 0, 1, 3040000)
        return head + counts

    def rows(self) -> Iterator[tuple[int, Record]]:
        """Yield (number, values) of the rows of every table with numbered rows, page by page; a row may come twice."""
        n_pages = max([len(self.data) // self.size, *self.over])
        garbled = []
        for number in range(1, n_pages + 1):
            page = self.page(number)
            at = 100 if number == 1 else 0
            if len(page) > at + 8 and page[at] == _LEAF:
                yield from self._leaf(page, at)
            elif len(page) > at and page[at] not in _OTHER_KINDS:
                garbled.append(number)
        for number in garbled:
            # Most of these are the further pages of long texts, which were read with their rows.
            if number not in self._overflow:
                yield from self._anywhere(self.page(number))

    def _n_readable(self) -> int:
        """Return how many bytes of rows can be read with this page size; with another one, long rows break."""
        n_bytes = 0
        for number in range(1, len(self.data) // self.size + 1):
            page, at = self.page(number), 100 if number == 1 else 0
            if page[at] == _LEAF:
                for _number, record in self._leaf(page, at):
                    n_bytes += sum(len(value) for value in record if isinstance(value, str | bytes))
        return n_bytes

    def page(self, number: int) -> bytes:
        return self.over.get(number) or self.data[(number - 1) * self.size : number * self.size]

    def _leaf(self, page: bytes, at: int) -> Iterator[tuple[int, Record]]:
        n_cells = int.from_bytes(page[at + 3 : at + 5], "big")
        first = at + 8
        if first + 2 * n_cells > len(page):
            yield from self._anywhere(page)
            return
        for place in struct.unpack_from(f">{n_cells}H", page, first):
            row = self._cell(page, place)
            if row is not None:
                yield row

    def _anywhere(self, page: bytes) -> Iterator[tuple[int, Record]]:
        """Yield what looks like rows in a page whose head is garbled."""
        for found in _HEAD_OF_RECORD.finditer(page):
            for place in range(max(0, found.start() - 12), found.start() - 1):
                length, at = _varint(page, place)
                _number, at = _varint(page, at)
                if at == found.start() and length >= page[at]:
                    row = self._cell(page, place)
                    if row is not None:
                        yield row
                        break

    def _cell(self, page: bytes, place: int) -> tuple[int, Record] | None:
        length, at = _varint(page, place)
        number, at = _varint(page, at)
        payload = self._payload(page, at, length)
        values = None if payload is None else _values(payload)
        return None if values is None else (number, values)

    def _payload(self, page: bytes, at: int, length: int) -> bytes | None:
        usable = self.size
        if length < 0:
            return None
        if length <= usable - 35:
            return page[at : at + length] if at + length <= len(page) else None
        least = (usable - 12) * 32 // 255 - 23
        local = least + (length - least) % (usable - 4)
        local = local if local <= usable - 35 else least
        if at + local + 4 > len(page) or length > len(self.data) + sum(map(len, self.over.values())):
            return None
        parts, left = [page[at : at + local]], length - local
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        pages = []
        while left > 0:
            further = self.page(following) if following else b""
            if len(further) < 5:
                return None
            pages.append(following)
            following = int.from_bytes(further[:4], "big")
            parts.append(further[4 : 4 + left])
            left -= usable - 4
        self._overflow.update(pages)
        return b"".join(parts)


def _values(payload: bytes) -> Record | None:
    """Return a record's values, texts as str and BLOBs as bytes; None if it is none."""
    end, at = _varint(payload, 0)
    if not 2 <= end <= min(len(payload), 9 * _MOST_COLUMNS):
        return None
    values: list[Any] = []
    place = end
    while at < end:
        kind, at = _varint(payload, at)
        n_bytes = _INTEGERS.get(kind, 8 if kind == 7 else (kind - 12) // 2 if kind >= 12 else 0)
        part = payload[place : place + n_bytes]
        place += n_bytes
        if len(part) < n_bytes or kind in (10, 11) or kind < 0:
            return None
        try:
            values.append(_value(kind, part))
        except UnicodeDecodeError:
            return None
    return tuple(values) if at == end and place == len(payload) else None


def _value(kind: int, part: bytes) -> Any:
    if kind in _INTEGERS:
        return int.from_bytes(part, "big", signed=True)
    if kind == 7:
        return struct.unpack(">d", part)[0]
    if kind >= 12:
        return part if kind % 2 == 0 else part.decode()
    return {0: None, 8: 0, 9: 1}[kind]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and where it ends; at the end of the data, 0."""
    value = 0
    for n in range(8):
        if at + n >= len(data):
            return 0, at
        value = value << 7 | data[at + n] & 0x7F
        if data[at + n] < 0x80:
            return value, at + n + 1
    if at + 8 >= len(data):
        return 0, at
    value = value << 8 | data[at + 8]
    return value - (value >> 63 << 64), at + 9


def _committed(log: bytes) -> tuple[dict[int, bytes], int]:
    """Return the pages of a write-ahead log up to its last commit, and their size; none of one that doesn't hold."""
    if len(log) < 32:
        return {}, 0
    magic, _version, size, _sequence, *salt, one, two = struct.unpack_from(">8I", log)
    order = ">" if magic == _WAL_MAGIC[1] else "<"
    if magic not in _WAL_MAGIC or size not in _SIZES or _checksum(log[:24], order, (0, 0)) != (one, two):
        return {}, 0
    sums = (one, two)
    pages: dict[int, bytes] = {}
    uncommitted: dict[int, bytes] = {}
    for at in range(32, len(log) - size - 23, size + 24):
        number, n_pages, *salt_here, one, two = struct.unpack_from(">6I", log, at)
        page = log[at + 24 : at + 24 + size]
        sums = _checksum(page, order, _checksum(log[at : at + 8], order, sums))
        if salt_here != salt or sums != (one, two):
            break
        uncommitted[number] = page
        if n_pages:
            pages.update(uncommitted)
            uncommitted = {}
    return pages, size


def _checksum(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    one, two = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
