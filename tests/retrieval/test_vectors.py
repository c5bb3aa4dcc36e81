"""Vectors on disk: appended, torn, replaced, read by several at once."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.retrieval.vector_blocks import ERASED, ID, BlockDamagedError
from memory_rag.retrieval.vectors import VectorFile, VectorRows, file_stem, ids_of
from tests.disk import NAMES_FILES, Disk

DIM = 3
MEMORY_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""A disk that doesn't wait: hundreds of small files are made durable here."""


def block(first: int, n: int) -> VectorRows:
    """Return n rows that all tell which they are."""
    numbers = np.arange(first, first + n)
    vectors = np.repeat(numbers, DIM).reshape(n, DIM).astype(np.float32)
    return VectorRows(vectors, ids_of([(number, number * 7, 0, number) for number in numbers.tolist()]))


def told(rows: VectorRows | None) -> list[int]:
    """Return which rows these are; their vectors and ids have to agree."""
    assert rows is not None
    assert rows.vectors[:, 0].tolist() == rows.ids["row"].tolist()
    return [int(number) for number in rows.ids["row"]]


def opened(folder: Path) -> VectorFile:
    return VectorFile(folder, fingerprint="small:3", dim=DIM)


@contextmanager
def new_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=MEMORY_DISK))
    yield folder
    shutil.rmtree(folder)


def append(file: VectorFile, rows: VectorRows) -> None:
    file.append(rows.vectors, rows.ids)


def test_appended_rows_are_read_once_in_their_order(tmp_path: Path) -> None:
    writer, reader = opened(tmp_path), opened(tmp_path)
    assert told(reader.read_new()) == []

    append(writer, block(0, 2))
    writer.read_new()
    append(writer, block(2, 3))

    assert told(reader.read_new()) == [0, 1, 2, 3, 4]
    assert told(reader.read_new()) == []
    assert told(opened(tmp_path).read_new()) == [0, 1, 2, 3, 4]


def test_nothing_appended_writes_nothing(tmp_path: Path) -> None:
    append(opened(tmp_path), block(0, 0))

    assert list(tmp_path.iterdir()) == []


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    file = opened(tmp_path / "vectors")
    append(file, block(0, 1))

    assert {oct(path.stat().st_mode & 0o777) for path in (file.rows_path, file.ids_path)} == {"0o600"}
    assert oct((tmp_path / "vectors").stat().st_mode & 0o777) == "0o700"


@settings(max_examples=200)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.booleans(), st.data())
def test_files_torn_at_any_byte_give_whole_blocks_and_take_more(
    sizes: list[int], rows: bool, data: st.DataObject
) -> None:
    with new_folder() as folder:
        writer = opened(folder)
        ends = np.cumsum([0, *sizes]).tolist()
        for first, n in zip(ends, sizes, strict=False):
            append(writer, block(first, n))
            writer.read_new()
        path = writer.rows_path if rows else writer.ids_path
        whole = path.read_bytes()
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])

        again = opened(folder)
        found = told(again.read_new())
        append(again, block(100, 2))

        assert found in [list(range(end)) for end in ends]
        assert told(again.read_new()) == [100, 101]
        assert told(opened(folder).read_new()) == [*found, 100, 101]


@settings(max_examples=200)
@given(st.booleans(), st.data())
def test_a_changed_byte_costs_the_one_block_that_it_is_in(rows: bool, data: st.DataObject) -> None:
    with new_folder() as folder:
        writer = opened(folder)
        for first in (0, 2, 4, 6):
            append(writer, block(first, 2))
            writer.read_new()
        path = writer.rows_path if rows else writer.ids_path
        whole = bytearray(path.read_bytes())
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] ^= data.draw(st.integers(1, 255))
        path.write_bytes(whole)

        damaged = at * 4 // len(whole)
        again = opened(folder)
        found = told(again.read_new())
        append(again, block(100, 1))

        assert found == [number for number in range(8) if number // 2 != damaged]
        assert again.n_damaged == (0 if damaged == 3 else 2)
        assert told(again.read_new()) == [100]
        assert told(opened(folder).read_new()) == [*found, 100]


@settings(max_examples=100)
@given(st.lists(st.integers(1, 5), min_size=3, max_size=12), st.data())
def test_damaged_blocks_side_by_side_are_passed_over(sizes: list[int], data: st.DataObject) -> None:
    with new_folder() as folder:
        writer = opened(folder)
        ends = np.cumsum([0, *sizes]).tolist()
        heads = []
        for first, n in zip(ends, sizes, strict=False):
            heads.append(writer.ids_path.stat().st_size if writer.ids_path.exists() else 0)
            append(writer, block(first, n))
            writer.read_new()
        damaged = data.draw(st.sets(st.integers(0, len(sizes) - 2), max_size=len(sizes) - 1))
        whole = bytearray(writer.ids_path.read_bytes())
        for number in damaged:
            whole[heads[number] + 4 : heads[number] + 8] = data.draw(st.binary(min_size=4, max_size=4))
        writer.ids_path.write_bytes(whole)
        healthy = [
            n for n, size in enumerate(sizes) if whole[heads[n] + 4 : heads[n] + 8] == size.to_bytes(4, "little")
        ]

        expected = [number for n in healthy for number in range(ends[n], ends[n + 1])]
        assert told(opened(folder).read_new()) == expected


def test_a_file_full_of_heads_is_given_up_soon(tmp_path: Path) -> None:
    writer = opened(tmp_path)
    append(writer, block(0, 1))
    head = writer.ids_path.read_bytes()[:16]
    writer.ids_path.write_bytes(head * 20_000)
    before = time.process_time()

    assert told(opened(tmp_path).read_new()) == []
    assert time.process_time() - before < 10


@pytest.mark.parametrize("missing", ["rows", "ids"])
def test_a_missing_file_is_no_vectors(tmp_path: Path, missing: str) -> None:
    file = opened(tmp_path)
    append(file, block(0, 2))
    (file.rows_path if missing == "rows" else file.ids_path).unlink()

    again = opened(tmp_path)
    assert told(again.read_new()) == []
    append(again, block(7, 1))
    assert told(opened(tmp_path).read_new()) == [7]


def test_whoever_read_before_a_replacement_is_told_to_start_over(tmp_path: Path) -> None:
    writer, reader = opened(tmp_path), opened(tmp_path)
    append(writer, block(0, 4))
    writer.read_new()
    assert told(reader.read_new()) == [0, 1, 2, 3]

    writer.replace_with(block(2, 2))

    assert reader.read_new() is None
    assert told(reader.read_new()) == [2, 3]
    assert told(reader.read_new()) == []


def test_replacements_in_a_row_are_never_taken_for_the_file_that_was_read(tmp_path: Path) -> None:
    """An inode's number is given again soon: after two replacements the file may have its old one."""
    for n_replacements in range(1, 5):
        folder = tmp_path / str(n_replacements)
        writer, reader = opened(folder), opened(folder)
        append(writer, block(0, 4))
        reader.read_new()
        for number in range(n_replacements):
            writer.replace_with(block(10 * (number + 1), 4))

        assert reader.read_new() is None
        assert told(reader.read_new()) == [n_replacements * 10 + n for n in range(4)]


def test_replacing_by_nothing_leaves_nothing(tmp_path: Path) -> None:
    writer, reader = opened(tmp_path), opened(tmp_path)
    append(writer, block(0, 4))
    reader.read_new()

    writer.replace_with(block(0, 0))

    assert reader.read_new() is None
    assert told(reader.read_new()) == []
    writer = opened(tmp_path)
    writer.read_new()
    append(writer, block(5, 1))
    assert told(reader.read_new()) == [5]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["append", "read", "replace"])), max_size=20))
def test_several_writers_under_one_lock_agree(steps: list[tuple[int, str]]) -> None:
    """Each writer reads what is new before it writes, as the lock's holder does."""
    with new_folder() as folder:
        files = [opened(folder) for _ in range(3)]
        seen: list[list[int]] = [[], [], []]
        expected: list[int] = []

        def read(who: int) -> None:
            rows = files[who].read_new()
            if rows is None:
                seen[who].clear()
                rows = files[who].read_new()
            seen[who].extend(told(rows))

        for number, (who, what) in enumerate(steps):
            read(who)
            assert seen[who] == expected
            if what == "append":
                append(files[who], block(10 * number, 2))
                expected += [10 * number, 10 * number + 1]
            elif what == "replace":
                expected = expected[1:]
                kept = [block(row, 1) for row in expected]
                vectors = np.concatenate([rows.vectors for rows in kept]) if kept else block(0, 0).vectors
                ids = np.concatenate([rows.ids for rows in kept]) if kept else np.zeros(0, ID)
                files[who].replace_with(VectorRows(vectors, ids))
        for who in range(3):
            read(who)
            assert seen[who] == expected


def test_vectors_of_another_dimension_are_not_read(tmp_path: Path) -> None:
    append(opened(tmp_path), block(0, 2))

    other = VectorFile(tmp_path, fingerprint="small:3", dim=4)

    assert told(other.read_new()) == []


@pytest.mark.parametrize(
    ("fingerprint", "stem"),
    [
        ("minilm-int8:384:8199be6f699a-203d9f13:p126-16", "minilm-int8_384_8199be6f699a-203d9f13_p126-16"),
        ("e5:384", "e5_384"),
    ],
)
def test_a_fingerprint_becomes_a_file_name(fingerprint: str, stem: str) -> None:
    assert file_stem(fingerprint) == stem


@given(st.text(max_size=200), st.text(max_size=200))
def test_two_fingerprints_never_share_a_file(one: str, other: str) -> None:
    # In small letters: some file systems don't tell them from capitals.
    assert (file_stem(one).lower() == file_stem(other).lower()) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"), [("a:b", "a_b"), ("st:models/x", "st:models_x"), ("x" * 200, "x" * 201), ("é", "è")]
)
def test_fingerprints_that_look_alike_as_file_names_have_their_own(one: str, other: str) -> None:
    assert file_stem(one).lower() != file_stem(other).lower()


@given(st.text(max_size=300))
def test_a_file_name_is_short_and_plain(fingerprint: str) -> None:
    stem = file_stem(fingerprint)

    assert 0 < len(stem) <= 200
    assert set(stem) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
    assert not stem.startswith(".")


def test_blocks_that_were_found_whole_earlier_are_not_read_again_and_others_are(tmp_path: Path) -> None:
    file = opened(tmp_path)
    append(file, block(0, 4))
    file.read_new()
    checked = file.as_checked()
    append(file, block(4, 2))
    numbers = np.fromfile(file.rows_path, np.float32)
    numbers[3], numbers[13] = 99, 98
    file.rows_path.write_bytes(numbers.tobytes())

    trusting, looking = opened(tmp_path), opened(tmp_path)
    trusting.checked = checked
    rows = trusting.read_new()

    assert rows is not None
    assert rows.ids["row"].tolist() == [0, 1, 2, 3]
    assert told(looking.read_new()) == []


def test_files_of_other_ids_are_not_those_that_were_checked(tmp_path: Path) -> None:
    file = opened(tmp_path)
    append(file, block(0, 4))
    file.read_new()
    checked = file.as_checked()
    file.replace_with(block(7, 4))

    again = opened(tmp_path)
    again.checked = checked

    assert told(again.read_new()) == [7, 8, 9, 10]
    assert again.checked is None


def test_all_rows_stand_side_by_side_without_those_of_a_damaged_block(tmp_path: Path) -> None:
    file = opened(tmp_path)
    for first in (0, 2, 4):
        append(file, block(first, 2))
        file.read_new()
    assert file.rows[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
    numbers = np.fromfile(file.rows_path, np.float32)
    numbers[7] = 99
    file.rows_path.write_bytes(numbers.tobytes())

    again = opened(tmp_path)
    again.read_new()
    append(again, block(6, 1))
    again.read_new()

    assert again.rows[:, 0].tolist() == [0, 1, 4, 5, 6]


@NAMES_FILES
@pytest.mark.parametrize(("waits_for_disk", "waited_for"), [(True, [".f32", ".ids"]), (False, [])])
def test_what_is_appended_waits_for_the_disk_if_asked_to_and_always_before_it_is_called_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits_for_disk: bool, waited_for: list[str]
) -> None:
    file = VectorFile(tmp_path, fingerprint="small:3", dim=DIM, waits_for_disk=waits_for_disk)
    disk = Disk(monkeypatch)

    append(file, block(0, 2))

    assert disk.waited_for == waited_for
    assert told(file.read_new()) == [0, 1]
    disk.waited_for.clear()
    file.as_checked()
    assert disk.waited_for == [".f32", ".ids"]


def test_vectors_that_a_power_cut_took_are_written_again(tmp_path: Path) -> None:
    file = VectorFile(tmp_path, fingerprint="small:3", dim=DIM, waits_for_disk=False)
    append(file, block(0, 2))
    file.read_new()
    append(file, block(2, 3))
    # The ids reached the disk, and of the vectors only that there are some.
    with file.rows_path.open("r+b") as rows:
        rows.seek(2 * DIM * 4)
        rows.write(bytes(3 * DIM * 4))

    later = opened(tmp_path)

    assert told(later.read_new()) == [0, 1]
    append(later, block(2, 3))
    assert told(opened(tmp_path).read_new()) == [0, 1, 2, 3, 4]


def blocks_of_two(folder: Path) -> VectorFile:
    """Return a file that has read three blocks of two rows."""
    file = opened(folder)
    for first in (0, 2, 4):
        append(file, block(first, 2))
        file.read_new()
    return file


def damage(file: VectorFile, row: int) -> None:
    numbers = np.fromfile(file.rows_path, np.float32).reshape(-1, DIM)
    numbers[row] += 1
    file.rows_path.write_bytes(numbers.tobytes())


def test_after_some_were_taken_out_what_was_found_whole_is_not_compared_again(tmp_path: Path) -> None:
    reader, eraser = blocks_of_two(tmp_path), opened(tmp_path)
    rows = eraser.read_new()
    assert rows is not None
    eraser.erase(rows, rows.ids["row"] == 3)
    reader.whole = eraser.whole
    # What is damaged only now tells whether it was read.
    damage(eraser, 0)

    assert reader.read_new() is None
    again = reader.read_new()

    assert again is not None
    assert again.ids["row"].tolist() == [0, 1, 2, ERASED, 4, 5]
    assert again.vectors[3].tolist() == [0] * DIM
    looking = opened(tmp_path).read_new()
    assert looking is not None
    assert looking.ids["row"].tolist() == [2, ERASED, 4, 5]


def test_what_is_known_of_files_is_not_believed_of_others_that_took_their_place(tmp_path: Path) -> None:
    reader, other = opened(tmp_path), opened(tmp_path)
    append(other, block(0, 4))
    reader.read_new()
    rows = other.read_new()
    assert rows is not None
    other.erase(rows, rows.ids["row"] == 1)
    reader.whole = other.whole
    other.replace_with(block(7, 4))
    damage(other, 0)

    assert reader.read_new() is None
    assert told(reader.read_new()) == []


def test_vectors_are_not_taken_out_of_a_block_that_was_damaged_since_it_was_found_whole(tmp_path: Path) -> None:
    blocks_of_two(tmp_path)
    file = opened(tmp_path)
    rows = file.read_new()
    assert rows is not None
    damage(file, 1)
    before = file.ids_path.read_bytes()

    with pytest.raises(BlockDamagedError):
        file.erase(rows, rows.ids["row"] == 0)

    assert file.ids_path.read_bytes() == before
    file.erase(rows, rows.ids["row"] == 3)
    looking = opened(tmp_path).read_new()
    assert looking is not None
    assert looking.ids["row"].tolist() == [2, ERASED, 4, 5]
