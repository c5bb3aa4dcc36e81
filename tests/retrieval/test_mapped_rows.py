"""Rows of a file in memory: seen as they are appended, without a new map for each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memory_rag.embedding.embedder import Vectors
from memory_rag.retrieval.mapped_rows import MappedRows

DIM = 5


def rows(first: int, n: int) -> Vectors:
    """Return n rows that tell which they are."""
    return np.repeat(np.arange(first, first + n, dtype=np.float32), DIM).reshape(n, DIM)


def append(path: Path, new: Vectors) -> None:
    with path.open("ab") as file:
        file.write(new.tobytes())


def address(mapped: Vectors) -> int:
    return int(mapped.__array_interface__["data"][0])


def test_no_file_has_no_rows(tmp_path: Path) -> None:
    assert MappedRows(dim=DIM).of(tmp_path / "none.f32").shape == (0, DIM)


def test_rows_that_are_appended_are_seen_in_the_same_map(tmp_path: Path) -> None:
    path = tmp_path / "some.f32"
    append(path, rows(0, 1))
    mapped = MappedRows(dim=DIM)
    first = mapped.of(path)
    n = 1
    # Over many pages of 4,096 bytes, of which none was there when the file was mapped.
    for more in [1, 2, 300, 1, 3000, 1]:
        append(path, rows(n, more))
        n += more
        found = mapped.of(path)

        assert address(found) == address(first)
        assert np.array_equal(found, rows(0, n))


def test_a_row_that_is_not_whole_yet_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "some.f32"
    path.write_bytes(rows(0, 3).tobytes()[:-1])

    assert np.array_equal(MappedRows(dim=DIM).of(path), rows(0, 2))


def test_more_rows_than_a_map_has_room_for_are_seen_and_what_was_given_stays(tmp_path: Path) -> None:
    path = tmp_path / "some.f32"
    append(path, rows(0, 10))
    mapped = MappedRows(dim=DIM)
    before = mapped.of(path)
    append(path, rows(10, 20_000))

    after = mapped.of(path)

    assert address(after) != address(before)
    assert np.array_equal(after, rows(0, 20_010))
    assert np.array_equal(before, rows(0, 10))


def test_a_file_that_took_the_place_of_another_is_read_and_what_was_given_stays(tmp_path: Path) -> None:
    path, other = tmp_path / "some.f32", tmp_path / "other.f32"
    append(path, rows(0, 10))
    mapped = MappedRows(dim=DIM)
    before = mapped.of(path)
    append(other, rows(500, 4))
    other.replace(path)

    assert np.array_equal(mapped.of(path), rows(500, 4))
    assert np.array_equal(before, rows(0, 10))


def test_a_file_that_was_cut_and_goes_on_otherwise_is_seen_so(tmp_path: Path) -> None:
    path = tmp_path / "some.f32"
    append(path, rows(0, 2000))
    mapped = MappedRows(dim=DIM)
    mapped.of(path)
    with path.open("r+b") as file:
        file.truncate(3 * DIM * 4)
    append(path, rows(900, 2000))

    assert np.array_equal(mapped.of(path), np.concatenate([rows(0, 3), rows(900, 2000)]))


def test_a_map_can_not_be_written_to(tmp_path: Path) -> None:
    path = tmp_path / "some.f32"
    append(path, rows(0, 1))

    with pytest.raises(ValueError, match="read-only"):
        MappedRows(dim=DIM).of(path)[0, 0] = 1.0


def test_what_nobody_looks_at_any_more_is_not_mapped(tmp_path: Path) -> None:
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("this system doesn't tell what is mapped")
    path = tmp_path / "some.f32"
    append(path, rows(0, 10))
    mapped = MappedRows(dim=DIM)
    found = mapped.of(path)[3:]

    assert maps.read_text().count(str(path)) == 1
    del mapped
    assert maps.read_text().count(str(path)) == 1
    del found
    assert maps.read_text().count(str(path)) == 0
