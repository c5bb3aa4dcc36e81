"""What was found whole once isn't compared again at the next removal, whoever searches or doesn't."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from memory_rag.privacy.vector_erasure import VectorErasure
from memory_rag.retrieval.vector_blocks import ERASED
from memory_rag.retrieval.vectors import VectorFile, VectorRows, ids_of


def made(folder: Path) -> VectorFile:
    """Return a file of three blocks of two vectors, all of them read."""
    file = VectorFile(folder / "vectors", fingerprint="small", dim=4)
    for first in (0, 2, 4):
        rows = VectorRows(
            np.arange(first * 4, first * 4 + 8, dtype=np.float32).reshape(2, 4) + 1,
            ids_of([(first, 7, 0, 1), (first + 1, 7, 0, 1)]),
        )
        file.append(rows.vectors, rows.ids)
        file.read_new()
    return file


def damage(file: VectorFile, row: int) -> None:
    """Damage a vector, which shows whether it is looked at."""
    numbers = np.fromfile(file.rows_path, np.float32).reshape(-1, 4)
    numbers[row] = 99
    file.rows_path.write_bytes(numbers.tobytes())


def stored(file: VectorFile) -> tuple[list[int], list[bool]]:
    """Return the rows as the files have them, whole or not, and which vectors are more than zeros."""
    ids, place, rows = file.ids_path.read_bytes(), 0, []
    while place < len(ids):
        n = int.from_bytes(ids[place + 4 : place + 8], "little")
        entries = np.frombuffer(ids, "<i8", count=4 * n, offset=place + 16)
        rows += entries[::4].tolist()
        place += 16 + 32 * n
    return rows, [bool(vector.any()) for vector in np.fromfile(file.rows_path, np.float32).reshape(-1, 4)]


def test_a_second_removal_looks_only_at_the_block_that_it_changes(tmp_path: Path) -> None:
    file = made(tmp_path)
    erasure = VectorErasure(tmp_path)
    erasure.erase({2: None})
    damage(file, 5)
    erasure.erase({0: None})

    # Had the damaged block been looked at, the file would have been written anew without it.
    assert stored(file) == ([ERASED, 1, ERASED, 3, 4, 5], [False, True, False, True, True, True])


def test_a_damaged_block_is_found_where_the_vector_lies_in_it_and_its_neighbours_go_with_it(tmp_path: Path) -> None:
    file = made(tmp_path)
    erasure = VectorErasure(tmp_path)
    erasure.erase({2: None})
    damage(file, 5)
    erasure.erase({4: None})

    assert stored(file) == ([0, 1, 3], [True] * 3)


def test_who_searches_in_a_file_tells_what_is_whole_and_is_told(tmp_path: Path) -> None:
    file = made(tmp_path)
    damage(file, 5)
    VectorErasure(tmp_path, in_use={file.ids_path: file}).erase({0: None})
    assert stored(file)[0] == [ERASED, 1, 2, 3, 4, 5]

    assert file.read_new() is None
    again = file.read_new()
    assert again is not None
    assert again.ids["row"].tolist() == [ERASED, 1, 2, 3, 4, 5]
    assert again.vectors[0].tolist() == [0, 0, 0, 0]


def test_bytes_of_the_ids_that_changed_since_are_not_taken_for_those_that_were_read(tmp_path: Path) -> None:
    file = made(tmp_path)
    data = bytearray(file.ids_path.read_bytes())
    # In the third block, whose rows are 4 and 5, the 5 becomes a 1: as a vector of row 5 it could not be found.
    data[2 * (16 + 64) + 16 + 32] = 1
    file.ids_path.write_bytes(data)

    VectorErasure(tmp_path, in_use={file.ids_path: file}).erase({5: None})

    assert stored(file) == ([0, 1, 2, 3], [True] * 4)
