"""What is uploaded lies in a folder of its own under a name of ours, and not for long."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import FormData, UploadFile

from memory_rag.errors import ImportFormatError
from memory_rag.interfaces.page.uploads import Upload, Uploads, safe_name


def form(*files: tuple[str, bytes]) -> FormData:
    return FormData([("file", UploadFile(io.BytesIO(data), filename=name, size=len(data))) for name, data in files])


def zipped(n_bytes: int) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", b"\0" * n_bytes)
    return target.getvalue()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("chat.json", "chat.json"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("C:\\Users\\Ebba\\chat.json", "chat.json"),
        ("/etc/passwd", "passwd"),
        ("..", "file"),
        ("", "file"),
        (".bashrc", "bashrc"),
        ("a\0b\n.json", "a\ufffdb.json"),
        ("WhatsApp-chatt med Åsa.txt", "WhatsApp-chatt med Åsa.txt"),
        ("x" * 500 + ".json", "x" * 115 + ".json"),
        ("a." + "y" * 500, "file"),
        ("\ud800.json", "\ufffd.json"),
    ],
)
def test_a_name_says_no_place(given: str, kept: str) -> None:
    assert safe_name(given) == kept


@given(st.text(max_size=300))
def test_every_name_is_a_file_in_its_folder(given: str) -> None:
    name = safe_name(given)

    assert name not in ("", ".", "..")
    assert not {"/", "\\", "\0"} & set(name)
    assert len(name.encode()) <= 121
    assert (Path("/folder") / name).parent == Path("/folder")


def test_two_of_a_name_are_both_kept_in_a_folder_that_nobody_else_reads(tmp_path: Path) -> None:
    upload = Uploads(within=tmp_path).keep(
        form(("a/chat.json", b"1"), ("b/CHAT.json", b"22"), ("chat", b"3")), memory_name="main"
    )

    assert upload.names == ["chat.json", "CHAT-2.json", "chat"]
    assert [(upload.folder / name).read_bytes() for name in upload.names] == [b"1", b"22", b"3"]
    assert (upload.n_bytes, upload.path) == (4, upload.folder)
    assert upload.folder.stat().st_mode & 0o777 == 0o700
    upload.remove()
    assert not upload.folder.exists()


def test_nothing_is_kept_of_a_form_without_files_or_of_a_zip_that_unpacks_to_a_disk(tmp_path: Path) -> None:
    uploads = Uploads(within=tmp_path, largest_unpacked=2_000_000)

    with pytest.raises(ImportFormatError, match="no file was chosen"):
        uploads.keep(FormData([("file", UploadFile(io.BytesIO(), filename="", size=0))]), memory_name="main")

    with pytest.raises(ImportFormatError, match=r"bomb.zip unpacks to 2\.1 MB; up to 2\.0 MB"):
        uploads.keep(form(("bomb.zip", zipped(2_100_000))), memory_name="main")
    assert list(tmp_path.iterdir()) == []


def test_four_are_kept_for_an_hour_each_for_its_own_memory(tmp_path: Path) -> None:
    now = [0.0]
    uploads = Uploads(within=tmp_path, clock=lambda: now[0])
    kept: list[Upload] = []
    for number in range(5):
        now[0] += 60
        kept.append(uploads.keep(form((f"{number}.json", b"{}")), memory_name="main"))

    assert [uploads.get(one.upload_id, memory_name="main") for one in kept] == [None, *kept[1:]]
    assert [one.folder.exists() for one in kept] == [False, True, True, True, True]
    assert uploads.get(kept[1].upload_id, memory_name="other") is None

    now[0] = 60 * 3 + 3600.0
    assert [uploads.get(one.upload_id, memory_name="main") for one in kept] == [None, None, *kept[2:]]
    for one in kept[2:]:
        uploads.drop(one)
        assert not one.folder.exists()


def test_at_the_end_nothing_is_left_and_what_a_killed_server_left_is_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    gone, other = tmp_path / f"memory-rag-upload-{ended.pid}-a", tmp_path / f"memory-rag-upload-{os.getpid()}-b"
    elsewhere = tmp_path / "elsewhere"
    for folder in (gone, other, elsewhere, tmp_path / "memory-rag-upload-x-y"):
        folder.mkdir()
        (folder / "chat.json").write_text("{}")
    (tmp_path / f"memory-rag-upload-{ended.pid}-link").symlink_to(elsewhere)

    uploads = Uploads(within=tmp_path)
    assert not gone.exists()
    assert other.exists()
    assert (elsewhere / "chat.json").exists()

    upload = uploads.keep(form(("chat.json", b"{}")), memory_name="main")
    uploads.close()
    assert not upload.folder.exists()
    assert uploads.get(upload.upload_id, memory_name="main") is None
