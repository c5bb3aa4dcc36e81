"""Arrays that may be deleted or damaged at any time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from memory_rag.store.archives import read_archive, write_archive


def test_arrays_come_back_as_they_were_written(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.npz", {"one": np.arange(5), "two": np.zeros((2, 3), np.float32)})

    found = read_archive(tmp_path / "a.npz", lambda arrays: {name: arrays[name].tolist() for name in arrays})

    assert found == {"one": [0, 1, 2, 3, 4], "two": [[0.0] * 3] * 2}


@pytest.mark.parametrize("keep", [0, 1, 30, 200])
def test_a_file_that_is_cut_short_is_as_none(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "a.npz"
    write_archive(path, {"one": np.arange(500)})
    path.write_bytes(path.read_bytes()[:keep])

    assert read_archive(path, lambda arrays: arrays["one"].sum()) is None


def test_a_missing_file_and_a_missing_array_are_as_none(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.npz", {"one": np.arange(5)})

    assert read_archive(tmp_path / "b.npz", lambda arrays: arrays["one"]) is None
    assert read_archive(tmp_path / "a.npz", lambda arrays: arrays["two"]) is None


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a file that is mapped can't be replaced")
def test_what_is_mapped_stays_as_it_was_read_when_the_file_goes(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    written: dict[str, npt.NDArray[Any]] = {
        "odd": np.arange(3, dtype=np.int8),
        "one": np.arange(5000, dtype=np.int32),
        "none": np.zeros(0, np.int32),
    }
    write_archive(path, written)

    found = read_archive(path, lambda arrays: {name: arrays[name] for name in arrays}, mapped=("one", "none"))
    assert found is not None
    write_archive(path, {"one": np.zeros(5000, np.int32)})
    path.unlink()

    assert {name: values.tolist() for name, values in found.items()} == {
        name: values.tolist() for name, values in written.items()
    }
    assert not found["one"].flags.owndata
    assert not found["one"].flags.writeable
    assert found["one"].flags.aligned
    assert found["one"].ctypes.data % 64 == 0


def test_an_archive_that_numpy_wrote_is_mapped_too(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", name=np.zeros(3, np.uint8), one=np.arange(500, dtype=np.int64))

    found = read_archive(tmp_path / "a.npz", lambda arrays: arrays["one"], mapped=("one",))

    assert found is not None
    assert found.tolist() == list(range(500))


def test_one_changed_byte_of_what_is_mapped_is_as_none(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write_archive(path, {"one": np.arange(5000, dtype=np.int32)})
    data = bytearray(path.read_bytes())
    data[10_000] ^= 1
    path.write_bytes(data)

    assert read_archive(path, lambda arrays: arrays["one"], mapped=("one",)) is None


def test_numpy_reads_what_was_written(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.npz", {"odd": np.arange(3, dtype=np.int8), "one": np.arange(50)})

    with np.load(tmp_path / "a.npz") as arrays:
        assert {name: arrays[name].tolist() for name in arrays} == {"odd": [0, 1, 2], "one": list(range(50))}
