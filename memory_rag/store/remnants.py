"""Bytes in an SQLite file that belong to nothing and yet aren't zero, found page by page and written over.

With ``secure_delete`` SQLite writes zeros over every cell and page that it frees. What it leaves is a page's gap, the
room between its list of cells and the cells: where cells are shared out anew among neighbours, their old copies stay in
it. SQLite never reads a gap, so zeros there change nothing that the file says. Free blocks and free pages are looked at
all the same. After SQLite's description of its file format (https://sqlite.org/fileformat2.html).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self

_MAGIC: Final = b"SQLite format 3\0"
_WRITE_AHEAD: Final = 2
_HEAD_OF_FILE: Final = 100
_HEADS: Final = {2: 12, 5: 12, 10: 8, 13: 8}
"""Bytes of a page's head, by its kind: inner and leaf pages of indexes (2, 10) and of tables (5, 13)."""
_HEAD: Final = struct.Struct(">BHHH")
"""Kind, first free block, number of cells, where cells begin (0 for 65536)."""
_PAIR_16: Final = struct.Struct(">HH")
_PAIR_32: Final = struct.Struct(">II")
_MOST_PAGES: Final = 2 << 24
"""The further pages of a long text begin with a page's number: up to here not with a byte that is a kind of page."""
_AT_ONCE: Final = 4 * 2**20
_ZEROS: Final = bytes(65536)

Stretch = tuple[int, int]
"""Where some bytes of the file begin and end."""


class UnknownLayoutError(Exception):
    """The file isn't laid out as is known here; only SQLite itself can write it anew."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The pages of a file whose write-ahead log is empty."""

    page_size: int
    n_pages: int
    first_free: int
    n_free: int

    @classmethod
    def of(cls, descriptor: int) -> Self:
        """Read it from a file's head.

        Raises:
            UnknownLayoutError: it isn't one whose every byte is accounted for here.
        """
        head = os.pread(descriptor, _HEAD_OF_FILE, 0)
        if len(head) < _HEAD_OF_FILE or not head.startswith(_MAGIC):
            raise UnknownLayoutError("it has no head of SQLite's")
        size, writes, reads, n_reserved = struct.unpack_from(">HBBB", head, 16)
        size = 65536 if size == 1 else size
        (n_pages, first_free, n_free), (largest_root,) = (
            struct.unpack_from(">III", head, 28),
            struct.unpack_from(">I", head, 52),
        )
        # With a largest root it moves pages by itself, and keeps lists of them that look like trees.
        if (writes, reads) != (_WRITE_AHEAD, _WRITE_AHEAD) or n_reserved or largest_root:
            raise UnknownLayoutError("it has no log, keeps room at the end of pages or moves them by itself")
        if n_pages * size != os.fstat(descriptor).st_size or n_pages >= _MOST_PAGES:
            raise UnknownLayoutError(f"it has {n_pages} pages by its head")
        return cls(size, n_pages, first_free, n_free)


def remnants(descriptor: int, layout: Layout) -> Iterator[Stretch]:
    """Yield every stretch of a file that belongs to nothing and isn't zero; lists of free pages hold numbers only.

    Nobody may write the file meanwhile.

    Raises:
        UnknownLayoutError: a page isn't what its place says.
    """
    size = layout.page_size
    step = max(1, _AT_ONCE // size)
    for first in range(1, layout.n_pages + 1, step):
        start = (first - 1) * size
        data = os.pread(descriptor, step * size, start)
        for place in _worth_a_look(data, size, begins_file=first == 1):
            head = _HEAD_OF_FILE if start + place == 0 else 0
            for begin, end in _of_page(data, place, head, size):
                yield start + begin, start + end
    yield from _of_free_pages(descriptor, layout)


def erase(descriptor: int, stretches: Iterator[Stretch]) -> None:
    """Write zeros over stretches of a file, for good.

    Raises:
        OSError: the disk refuses it; it can be done again.
    """
    is_changed = False
    for begin, end in stretches:
        is_changed = True
        while begin < end:
            begin += os.pwrite(descriptor, _ZEROS[: end - begin], begin)
    if is_changed:
        os.fsync(descriptor)


def _worth_a_look(data: bytes, size: int, *, begins_file: bool) -> Iterator[int]:
    """Yield where the pages of trees begin in ``data``, but for those that have no free block and only zeros as gap.

    Nearly all pages are such: four in five of the time of :func:`_of_page` are saved.
    """
    if begins_file and data[_HEAD_OF_FILE] in _HEADS:
        yield 0
    heads = struct.iter_unpack(f"{_HEAD.format}{size - _HEAD.size}x", data)
    for place, (kind, free, n_cells, content) in zip(range(0, len(data), size), heads, strict=True):
        if kind not in _HEADS or (begins_file and place == 0):
            continue
        begin, end = _HEADS[kind] + 2 * n_cells, content or 65536
        is_plain = not free and begin <= end <= size
        if not is_plain or data[place + begin : place + end] != _ZEROS[: end - begin]:
            yield place


def _of_page(data: bytes, place: int, head: int, size: int) -> list[Stretch]:
    """Return what isn't zero of a page's gap and free blocks, as places in ``data``; the page begins at ``place``."""
    kind, free, n_cells, content = _HEAD.unpack_from(data, place + head)
    first, content = place + head + _HEADS[kind], content or 65536
    unused = [(first + 2 * n_cells, place + content)]
    if not unused[0][0] <= place + content <= place + size:
        raise UnknownLayoutError(f"the cells of a page begin at its byte {content}, before the list of them ends")
    while free:
        following, length = _PAIR_16.unpack_from(data, place + free) if content <= free <= size - 4 else (0, 0)
        # They lie in order, with a cell between two.
        if not 4 <= length <= size - free or 0 < following < free + length:
            raise UnknownLayoutError(f"the free block at byte {free} of a page has {length} bytes")
        unused.append((place + free + 4, place + free + length))
        free = following
    stretches = [(begin, end) for begin, end in unused if data[begin:end] != _ZEROS[: end - begin]]
    # Nothing is written to a page whose head is damaged: its cells may still be rescued.
    if stretches and n_cells and min(struct.unpack_from(f">{n_cells}H", data, first)) < content:
        raise UnknownLayoutError(f"the cells of a page begin before its byte {content}")
    return stretches


def _of_free_pages(descriptor: int, layout: Layout) -> Iterator[Stretch]:
    size, trunk, n_left = layout.page_size, layout.first_free, layout.n_free
    while trunk:
        page = os.pread(descriptor, size, (trunk - 1) * size)
        following, n_leaves = _PAIR_32.unpack_from(page) if len(page) == size else (0, size)
        if n_leaves > size // 4 - 2 or n_leaves >= n_left:
            raise UnknownLayoutError(f"the list of free pages at page {trunk} has {n_leaves} entries")
        for leaf in struct.unpack_from(f">{n_leaves}I", page, 8):
            if not 1 < leaf <= layout.n_pages:
                raise UnknownLayoutError(f"the list of free pages at page {trunk} names page {leaf}")
            if os.pread(descriptor, size, (leaf - 1) * size) != _ZEROS[:size]:
                yield (leaf - 1) * size, leaf * size
        begin = 8 + 4 * n_leaves
        if page[begin:] != _ZEROS[: size - begin]:
            yield (trunk - 1) * size + begin, trunk * size
        trunk, n_left = following, n_left - n_leaves - 1
    if n_left:
        raise UnknownLayoutError(f"{n_left} free pages are in no list")
