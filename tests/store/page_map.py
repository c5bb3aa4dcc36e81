"""Every byte of an SQLite file that belongs to nothing, found by walking all of its trees from their roots."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

LEAF_TABLE, LEAF_INDEX, INNER_TABLE, INNER_INDEX = 13, 10, 5, 2
FREE_BLOCK_HEAD = 4


def leftovers(path: Path) -> dict[str, int]:
    """Return how many bytes that aren't zero lie in what belongs to nothing, by the kind of place; no kind has none.

    The write-ahead log has to be folded into the file before.
    """
    counts: dict[str, int] = {}
    for kind, data in unused(path):
        if n := len(data) - data.count(0):
            counts[kind] = counts.get(kind, 0) + n
    return counts


def unused(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (kind of place, bytes) of all that no row, key, text or list of pages takes up."""
    data = path.read_bytes()
    (size,) = struct.unpack_from(">H", data, 16)
    size = 65536 if size == 1 else size
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
        roots = [1, *(root for (root,) in database.execute("SELECT rootpage FROM sqlite_master WHERE rootpage > 0"))]
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        number = waiting.pop()
        assert number not in seen
        seen.add(number)
        page, head = data[(number - 1) * size : number * size], 100 if number == 1 else 0
        kind = page[head]
        free, n_cells, content, _n_fragments = struct.unpack_from(">HHHB", page, head + 1)
        content = content or 65536
        is_inner = kind in (INNER_TABLE, INNER_INDEX)
        first = head + (12 if is_inner else 8)
        if is_inner:
            waiting += struct.unpack_from(">I", page, head + 8)
        yield "gap", page[first + 2 * n_cells : content]
        taken = []
        while free:
            following, length = struct.unpack_from(">HH", page, free)
            yield "free block", page[free + FREE_BLOCK_HEAD : free + length]
            taken.append((free, free + length))
            free = following
        for (place,) in struct.iter_unpack(">H", page[first : first + 2 * n_cells]):
            end, children, overflow = cell(page, place, kind, size)
            waiting += children
            taken.append((place, end))
            for further, n_bytes in overflow_pages(data, overflow, size):
                seen.add(further)
                yield "end of a long text", data[(further - 1) * size + 4 + n_bytes : further * size]
        at = content
        for start, end in sorted(taken):
            assert start >= at
            yield "fragment", page[at:start]
            at = end
        yield "fragment", page[at:]
    trunk, n_free = struct.unpack_from(">II", data, 32)
    while trunk:
        page = data[(trunk - 1) * size : trunk * size]
        seen.add(trunk)
        following, n = struct.unpack_from(">II", page)
        yield "list of free pages", page[8 + 4 * n :]
        for (leaf,) in struct.iter_unpack(">I", page[8 : 8 + 4 * n]):
            seen.add(leaf)
            yield "free page", data[(leaf - 1) * size : leaf * size]
        trunk, n_free = following, n_free - n - 1
    assert n_free == 0
    assert seen == set(range(1, len(data) // size + 1))


def cell(page: bytes, place: int, kind: int, size: int) -> tuple[int, list[int], tuple[int, int]]:
    """Return where a cell ends, the pages below it, and (first further page, bytes there) of what is too long."""
    at, below = place, []
    if kind in (INNER_TABLE, INNER_INDEX):
        below, at = list(struct.unpack_from(">I", page, at)), at + 4
    if kind == INNER_TABLE:
        return varint(page, at)[1], below, (0, 0)
    length, at = varint(page, at)
    if kind == LEAF_TABLE:
        _row, at = varint(page, at)
    most = size - 35 if kind == LEAF_TABLE else (size - 12) * 64 // 255 - 23
    if length <= most:
        return max(at + length, place + 4), below, (0, 0)
    least = (size - 12) * 32 // 255 - 23
    local = least + (length - least) % (size - 4)
    local = local if local <= most else least
    (first,) = struct.unpack_from(">I", page, at + local)
    return at + local + 4, below, (first, length - local)


def overflow_pages(data: bytes, overflow: tuple[int, int], size: int) -> Iterator[tuple[int, int]]:
    number, left = overflow
    while number:
        n_bytes = min(left, size - 4)
        yield number, n_bytes
        left -= n_bytes
        (number,) = struct.unpack_from(">I", data, (number - 1) * size)
    assert left == 0


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for n in range(8):
        value = value << 7 | data[at + n] & 0x7F
        if data[at + n] < 0x80:
            return value, at + n + 1
    return value << 8 | data[at + 8], at + 9
