"""Arrays that may be deleted or damaged at any time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
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
