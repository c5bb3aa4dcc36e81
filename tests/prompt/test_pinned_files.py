"""Pinned files are read from disk at every call, and what was read of them is always told."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_rag.errors import SettingsError
from memory_rag.memory import Memory
from memory_rag.prompt.pinned_files import PinnedFiles


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "RULES.md"
    path.write_text("# House rules\nAnswer in Swedish.\n", encoding="utf-8")
    return path


def test_a_file_is_told_by_its_lines_bytes_digest_and_first_line(memory: Memory, rules: Path) -> None:
    memory.prompt.files.pin(rules)
    [read] = memory.prompt.files.read()

    assert (read.path, read.status, read.text) == (str(rules), "as pinned", "# House rules\nAnswer in Swedish.\n")
    assert (read.n_lines, read.n_bytes, read.first_line) == (2, 33, "# House rules")
    assert read.sha256 == hashlib.sha256(rules.read_bytes()).hexdigest()
    assert str(read) == (f"{rules}: as pinned, 2 lines, 33 bytes, sha256 {read.sha256[:12]}, begins '# House rules'")


def test_it_is_read_anew_and_a_change_is_told(memory: Memory, rules: Path) -> None:
    memory.prompt.files.pin(rules)
    rules.write_text("Answer in Norwegian.", encoding="utf-8")
    [read] = memory.prompt.files.read()

    assert (read.status, read.text, read.n_lines) == ("changed", "Answer in Norwegian.", 1)
    assert memory.prompt.files.pin(rules).status == "as pinned"
    assert memory.prompt.files.read()[0].status == "as pinned"


def test_a_file_that_is_gone_is_told(memory: Memory, rules: Path) -> None:
    memory.prompt.files.pin(rules)
    rules.unlink()
    [read] = memory.prompt.files.read()

    assert (read.status, read.text) == ("missing", "")
    assert str(read) == f"{rules}: missing (no such file)"


def test_of_a_file_that_is_too_large_the_beginning_is_kept_up_to_a_whole_line(memory: Memory, rules: Path) -> None:
    files = PinnedFiles(memory.store.connections, clock=lambda: datetime(2026, 4, 10, tzinfo=UTC), kept_bytes=20)
    rules.write_text("första raden\nandra raden\n", encoding="utf-8")
    files.pin(rules)
    [read] = files.read()

    assert (read.text, read.is_cut, read.n_lines, read.n_bytes) == ("första raden\n", True, 2, 26)
    assert str(read).endswith("begins 'första raden', cut: the first line is in")


def test_one_line_that_is_too_long_is_cut_between_characters(memory: Memory, rules: Path) -> None:
    files = PinnedFiles(memory.store.connections, clock=lambda: datetime(2026, 4, 10, tzinfo=UTC), kept_bytes=5)
    rules.write_text("åäöåäö", encoding="utf-8")
    files.pin(rules)

    assert files.read()[0].text == "åä"


def test_bytes_that_are_no_text_are_told(memory: Memory, rules: Path) -> None:
    memory.prompt.files.pin(rules)
    rules.write_bytes(b"ok \xff")

    assert str(memory.prompt.files.read()[0]) == f"{rules}: unreadable (not UTF-8 at byte 3)"


def test_a_folder_in_its_place_is_told(memory: Memory, rules: Path) -> None:
    memory.prompt.files.pin(rules)
    rules.unlink()
    rules.mkdir()

    assert str(memory.prompt.files.read()[0]) == f"{rules}: unreadable (not a file)"


def test_what_cannot_be_read_cannot_be_pinned(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="can't be pinned: no such file"):
        memory.prompt.files.pin(tmp_path / "none.md")
    with pytest.raises(SettingsError, match="can't be pinned: not a file"):
        memory.prompt.files.pin(tmp_path)
    assert memory.prompt.files.read() == []


def test_a_file_is_pinned_by_its_full_path(memory: Memory, rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(rules.parent)
    memory.prompt.files.pin("RULES.md")
    monkeypatch.chdir("/")

    assert memory.prompt.files.read()[0].path == str(rules)


def test_it_is_taken_off(memory: Memory, rules: Path) -> None:
    memory.prompt.files.pin(rules)
    with pytest.raises(SettingsError, match=f"other.md is not pinned; pinned files are: {rules}"):
        memory.prompt.files.unpin(rules.parent / "other.md")
    memory.prompt.files.unpin(rules)

    assert memory.prompt.files.read() == []


def test_a_name_that_is_no_text_is_read_too(memory: Memory, tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md"))
    path.write_text("rules", encoding="utf-8")
    memory.prompt.files.pin(path)

    assert memory.prompt.files.read()[0].text == "rules"


def test_of_a_file_with_one_long_line_the_bytes_that_are_in_are_told(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "one-line.txt"
    path.write_text("a" * 20_000)

    assert str(memory.prompt.files.pin(path)).endswith(", cut: the first 8,192 bytes of its first line are in")


def test_the_mark_before_a_file_of_windows_is_no_part_of_its_words(memory: Memory, rules: Path) -> None:
    rules.write_bytes("\ufeffFirst rule.\r\nSecond.\r\n".encode())
    read = memory.prompt.files.pin(rules)

    assert (read.first_line, read.text, read.n_bytes) == ("First rule.", "First rule.\r\nSecond.\r\n", 25)
