"""The files of a data set: read once, and known by their SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.datasets.files_read import FilesRead

Made = Callable[[str, Any], Path]


def test_one_file_has_its_own_sha256(made: Made) -> None:
    path = made("a.json", "[1]")
    files = FilesRead(path)

    assert files.json(path) == [1]
    assert files.sha256 == hashlib.sha256(b"[1]").hexdigest()


def test_several_files_have_that_of_the_list_that_sha256sum_prints(made: Made) -> None:
    one, other = made("set/1/a.json", "[1]"), made("set/b.json", "[2]")
    files = FilesRead(one.parents[1])

    files.data(one)
    files.data(other)

    listed = "".join(
        f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in (("1/a.json", b"[1]"), ("b.json", b"[2]"))
    )
    assert files.sha256 == hashlib.sha256(listed.encode()).hexdigest()


def test_a_file_is_hashed_to_its_end_though_only_its_beginning_was_read(made: Made) -> None:
    path = made("a.txt", "abc" * 1_000_000)
    files = FilesRead(path)

    with files.opened(path) as file:
        assert file.read(3) == b"abc"

    assert files.sha256 == hashlib.sha256(b"abc" * 1_000_000).hexdigest()


def test_only_a_line_feed_ends_a_line_and_blank_ones_are_passed_over(made: Made) -> None:
    path = made("a.txt", "\ufeffone\u2028two\r\n\n \nthree")

    assert list(FilesRead(path).lines(path)) == [(1, "one\u2028two"), (4, "three")]


def test_a_line_that_is_no_object_is_named(made: Made) -> None:
    path = made("a.jsonl", '{"a": 1}\n[2]\n')

    with pytest.raises(ImportFormatError, match=r"a\.jsonl, line 2: '\[2\]' is no JSON object"):
        list(FilesRead(path).json_lines(path))


def test_a_broken_line_is_named(made: Made) -> None:
    path = made("a.jsonl", '{"a": 1}\n{"a":\n')

    with pytest.raises(ImportFormatError, match=r"a\.jsonl, line 2: broken JSON"):
        list(FilesRead(path).json_lines(path))


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\nb\xffd\n")

    with pytest.raises(ImportFormatError, match=r"a\.txt, line 2: not UTF-8"):
        list(FilesRead(path).lines(path))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match=r"gone\.json: can't be read: No such file"):
        FilesRead(tmp_path).json(tmp_path / "gone.json")
