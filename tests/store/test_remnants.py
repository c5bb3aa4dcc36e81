"""What belongs to nothing in SQLite's file is found to the byte, written over, and nothing else is touched."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from memory_rag.store.remnants import Layout, UnknownLayoutError, erase, remnants
from tests.store.page_map import leftovers, unused

KEPT = "garden"


def made(path: Path, *, pragmas: str = "", secure: bool = True) -> Path:
    """A file whose pages were shared out again and again, as one process leaves it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript(
            f"{pragmas} PRAGMA journal_mode = WAL; PRAGMA secure_delete = {'ON' if secure else 'OFF'};"
        )
        database.execute("CREATE TABLE said (row INTEGER PRIMARY KEY, name TEXT UNIQUE, text BLOB)")
        for row in range(400):
            database.execute("INSERT INTO said VALUES (?, ?, ?)", (row, f"n{row * 7919 % 400}", filled("z", row)))
        for row in range(3, 400, 3):
            database.execute("UPDATE said SET text = ? WHERE row = ?", (filled("y", row * 5), row))
        database.execute("DELETE FROM said WHERE row % 5 = 1 OR row BETWEEN 100 AND 150")
        database.execute("UPDATE said SET text = ?", (KEPT.encode(),))
        database.execute("INSERT INTO said VALUES (1000, 'long', ?)", (KEPT.encode() * 3000,))
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def filled(letter: str, length: int) -> bytes:
    return letter.encode() * (20 + length)


@contextmanager
def read(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def rows_of(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return database.execute("SELECT * FROM said ORDER BY row").fetchall()


@pytest.mark.parametrize("page_size", [512, 4096, 65536])
def test_all_that_belongs_to_nothing_is_zero_afterwards_and_the_rows_are_as_before(
    tmp_path: Path, page_size: int
) -> None:
    path = made(tmp_path / "file", pragmas=f"PRAGMA page_size = {page_size};")
    before = rows_of(path)
    left = leftovers(path)
    assert left["gap"] > 0
    assert set(left) <= {"gap", "list of free pages"}

    with read(path) as descriptor:
        erase(descriptor, remnants(descriptor, Layout.of(descriptor)))

        assert list(remnants(descriptor, Layout.of(descriptor))) == []
    assert leftovers(path) == {}
    assert rows_of(path) == before
    assert b"zzzzz" not in path.read_bytes()
    assert b"yyyyy" not in path.read_bytes()


def test_free_blocks_and_free_pages_that_nobody_emptied_are_found_too(tmp_path: Path) -> None:
    path = made(tmp_path / "file", secure=False)
    before = rows_of(path)
    assert {"free block", "free page"} <= set(leftovers(path))

    with read(path) as descriptor:
        erase(descriptor, remnants(descriptor, Layout.of(descriptor)))

    assert leftovers(path).keys() <= {"fragment", "end of a long text"}
    assert rows_of(path) == before


def test_no_stretch_lies_over_a_byte_that_is_in_use(tmp_path: Path) -> None:
    path = made(tmp_path / "file")
    free = sum(len(data) for _kind, data in unused(path))

    with read(path) as descriptor:
        found = sorted(remnants(descriptor, Layout.of(descriptor)))

    assert all(end <= begin for (_, end), (begin, _) in pairwise(found))
    assert 0 < sum(end - begin for begin, end in found) <= free


@pytest.mark.parametrize(
    ("pragmas", "why"),
    [("PRAGMA auto_vacuum = FULL;", "moves them by itself"), ("PRAGMA auto_vacuum = INCREMENTAL;", "moves them")],
)
def test_a_file_that_is_laid_out_otherwise_is_left_to_sqlite(tmp_path: Path, pragmas: str, why: str) -> None:
    path = made(tmp_path / "file", pragmas=pragmas)
    with read(path) as descriptor, pytest.raises(UnknownLayoutError, match=why):
        Layout.of(descriptor)


@pytest.mark.parametrize(
    ("at", "data"),
    [
        (0, b"another file    "),  # no head of SQLite's
        (18, bytes([1, 1])),  # a rollback journal instead of a log
        (20, bytes([8])),  # room at the end of pages, for a checksum
        (28, (10**6).to_bytes(4, "big")),  # more pages than there are
    ],
)
def test_a_head_that_says_otherwise_is_left_to_sqlite(tmp_path: Path, at: int, data: bytes) -> None:
    path = made(tmp_path / "file")
    with read(path) as descriptor:
        os.pwrite(descriptor, data, at)
        with pytest.raises(UnknownLayoutError):
            Layout.of(descriptor)


def test_a_page_that_can_not_be_is_not_written_to(tmp_path: Path) -> None:
    path = made(tmp_path / "file")
    with read(path) as descriptor:
        layout = Layout.of(descriptor)
        # The second page's number of cells: their list would reach over the cells.
        os.pwrite(descriptor, b"\x7f\xff", layout.page_size + 3)
        before = path.read_bytes()

        with pytest.raises(UnknownLayoutError, match="the cells of a page begin"):
            erase(descriptor, remnants(descriptor, layout))

        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("at", "number", "why"),
    [(5, 4090, "the cells of a page begin before its byte 4090"), (1, 20, "the free block at byte 20")],
    ids=["where its cells begin", "its first free block"],
)
def test_a_page_whose_head_is_damaged_is_not_written_to(tmp_path: Path, at: int, number: int, why: str) -> None:
    path = made(tmp_path / "file")
    with read(path) as descriptor:
        layout = Layout.of(descriptor)
        place = next(
            place
            for place in range(layout.page_size, layout.n_pages * layout.page_size, layout.page_size)
            if os.pread(descriptor, 3, place) == b"\x0d\0\0"
        )
        os.pwrite(descriptor, number.to_bytes(2, "big"), place + at)
        before = os.pread(descriptor, layout.page_size, place)

        with pytest.raises(UnknownLayoutError, match=why):
            erase(descriptor, remnants(descriptor, layout))

        assert os.pread(descriptor, layout.page_size, place) == before


def test_a_list_of_free_pages_that_has_no_end_is_left_to_sqlite(tmp_path: Path) -> None:
    path = made(tmp_path / "file")
    with read(path) as descriptor:
        layout = Layout.of(descriptor)
        assert layout.first_free
        os.pwrite(descriptor, layout.first_free.to_bytes(4, "big"), (layout.first_free - 1) * layout.page_size)

        with pytest.raises(UnknownLayoutError, match="list of free pages"):
            list(remnants(descriptor, layout))
