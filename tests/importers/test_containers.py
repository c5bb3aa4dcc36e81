"""Folders and zips are looked through in a natural order, and nothing in them is passed over in silence."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.importers.containers import MAX_ENTRY_BYTES, Unread, files_at
from memory_rag.importers.source import SourceFile

Made = Callable[[str, Any], Path]


def labels(path: Path, *, max_entry_bytes: int = MAX_ENTRY_BYTES) -> list[str | Unread]:
    with ExitStack() as opened:
        found = files_at(path, opened=opened, max_entry_bytes=max_entry_bytes)
        return [file.label.removeprefix(f"{path}/") if isinstance(file, SourceFile) else file for file in found]


def zipped(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def test_numbers_in_names_are_ordered_as_numbers(made: Made, tmp_path: Path) -> None:
    for name in ("c-10.json", "c-9.json", "c-009.json", "b/2/x.json", "b/10/x.json", "a.json"):
        made(name, [])
    assert labels(tmp_path) == [
        "a.json",
        "c-009.json",
        "c-9.json",
        "c-10.json",
        "b/2/x.json",
        "b/10/x.json",
    ]


def test_a_zip_is_read_where_it_lies(tmp_path: Path) -> None:
    path = zipped(tmp_path / "export.zip", {"chat-10.json": b"[10]", "chat-2.json": b"[2]", "img/a.png": b"\0"})
    with ExitStack() as opened:
        files = [file for file in files_at(path, opened=opened) if isinstance(file, SourceFile)]
        assert [file.label for file in files] == [
            f"{path}/chat-2.json",
            f"{path}/chat-10.json",
            f"{path}/img/a.png",
        ]
        assert [file.read_text() for file in files[:2]] == ["[2]", "[10]"]
        assert [file.size for file in files[:2]] == [3, 4]
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_zip_in_a_folder_is_looked_into_and_a_zip_in_a_zip_is_named(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {"c.json": b"[]"}).read_bytes()
    (tmp_path / "inner.zip").unlink()
    outer = zipped(tmp_path / "outer.zip", {"a.json": b"[]", "inner.zip": inner})
    assert labels(tmp_path) == [
        "outer.zip/a.json",
        Unread(f"{outer}/inner.zip", "a zip inside a zip; unpack it first"),
    ]


def test_an_entry_above_the_limit_is_named_and_not_opened(tmp_path: Path) -> None:
    path = zipped(tmp_path / "bomb.zip", {"big.json": b" " * 2000, "small.json": b"[]"})
    assert labels(path, max_entry_bytes=1000) == [
        Unread(f"{path}/big.json", "2,000 bytes unpacked; the limit in a zip is 1,000"),
        "small.json",
    ]
    assert MAX_ENTRY_BYTES == 4 * 1024**3


def test_an_encrypted_zip_says_so(tmp_path: Path) -> None:
    path = zipped(tmp_path / "locked.zip", {"a.json": b"[]"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the entry's general purpose flag: encrypted
    path.write_bytes(content)
    with pytest.raises(ImportFormatError, match=r"locked\.zip: the zip is encrypted; unpack it"):
        labels(path)


def test_a_damaged_zip_says_so(tmp_path: Path) -> None:
    path = tmp_path / "half.zip"
    path.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(ImportFormatError, match=r"half\.zip: not a zip that can be read"):
        labels(path)


def test_an_entry_with_a_wrong_checksum_says_so(tmp_path: Path) -> None:
    path = tmp_path / "flipped.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.json", b"[1, 2, 3]")
    path.write_bytes(path.read_bytes().replace(b"[1, 2, 3]", b"[1, 2, 4]"))
    with ExitStack() as opened:
        (entry,) = files_at(path, opened=opened)
        assert isinstance(entry, SourceFile)
        with pytest.raises(ImportFormatError, match=r"flipped\.zip/a\.json: can't be read: Bad CRC-32"):
            entry.read_text()


def test_linked_folders_and_what_is_no_file_are_named_and_not_followed(made: Made, tmp_path: Path) -> None:
    made("talk/a.json", [])
    (tmp_path / "talk" / "again").symlink_to(tmp_path / "talk")
    (tmp_path / "talk" / "gone.json").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "talk" / "pipe.json")
    root = tmp_path / "talk"
    assert labels(root) == [
        Unread(str(root / "again"), "a link to a folder"),
        "a.json",
        Unread(str(root / "gone.json"), "not a file"),
        Unread(str(root / "pipe.json"), "not a file"),
    ]


def test_the_files_of_a_memory_are_named_and_not_opened(made: Made, tmp_path: Path) -> None:
    made("talk/a.json", [])
    root = tmp_path / "talk"
    memory = root / "memory"
    memory.mkdir()
    for name in ("turns.sqlite", "turns.sqlite-shm", "turns.sqlite-wal"):
        (memory / name).touch()
    (root / "linked.sqlite").symlink_to(memory / "turns.sqlite")
    own = "a memory's own file; write what it holds to another with: memory-rag export"

    assert labels(root) == [
        "a.json",
        Unread(str(root / "linked.sqlite"), own),
        *(Unread(str(memory / name), own) for name in ("turns.sqlite", "turns.sqlite-shm", "turns.sqlite-wal")),
    ]
    with pytest.raises(ImportFormatError, match=r"turns\.sqlite: a memory's own file; write what it holds"):
        labels(memory / "turns.sqlite")


def test_a_path_that_is_not_there_or_is_no_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match="missing: can't be read: No such file or directory"):
        labels(tmp_path / "missing")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ImportFormatError, match="pipe: neither a file nor a folder"):
        labels(tmp_path / "pipe")


def test_a_linked_file_is_the_file_it_leads_to(made: Made, tmp_path: Path) -> None:
    target = made("100K/7/chat.json", "[1]")
    link = tmp_path / "link.json"
    link.symlink_to(target)
    with ExitStack() as opened:
        (file,) = files_at(link, opened=opened)
    assert isinstance(file, SourceFile)
    assert (file.label, file.path, file.size) == (str(link), target.resolve(), 3)


def test_files_of_one_place_find_each_other(tmp_path: Path) -> None:
    (tmp_path / "x" / "general").mkdir(parents=True)
    (tmp_path / "x" / "users.json").write_text("folder")
    (tmp_path / "x" / "general" / "day.json").write_text("[]")
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("users.json", "zip")
        archive.writestr("general/day.json", "[]")
    with ExitStack() as opened:
        for place, content in ((tmp_path / "x", "folder"), (tmp_path / "x.zip", "zip")):
            days = [file for file in files_at(place, opened=opened) if isinstance(file, SourceFile)]
            day = next(file for file in days if file.path.name == "day.json")
            found = day.beside("../users.json")
            assert found is not None
            assert found.read_text() == content
            assert day.beside("nobody.json") is None
            assert day.beside("../../../../../../etc/nothing-here") is None
