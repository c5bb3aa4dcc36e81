"""Backup and restore."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.command_line import CommandLine

pytestmark = pytest.mark.usefixtures("talk")


def test_a_backup_is_restored_word_for_word(memory_rag: CommandLine, tmp_path: Path) -> None:
    copied = memory_rag("backup", str(tmp_path / "copy"))
    restored = memory_rag("restore", str(tmp_path / "copy"), "--memory", "again")

    assert (copied.code, restored.code) == (0, 0)
    assert copied.out.startswith("copied 5 turns (")
    assert copied.out.endswith(f" to {tmp_path / 'copy'}, every text checked\n")
    assert restored.out.startswith("restored 5 turns (")
    assert memory_rag("export", "--memory", "again").out == memory_rag("export").out


def test_a_backup_reports_as_json(memory_rag: CommandLine, tmp_path: Path) -> None:
    copied = memory_rag("backup", str(tmp_path / "copy"), "--json").json

    assert list(copied) == ["folder", "n_turns", "last_seq", "n_files", "n_bytes"]
    assert (copied["folder"], copied["n_turns"], copied["last_seq"]) == (str(tmp_path / "copy"), 5, 5)


def test_a_memory_that_is_there_is_replaced_only_when_told_to(memory_rag: CommandLine, tmp_path: Path) -> None:
    memory_rag("backup", str(tmp_path / "copy"))
    memory_rag("forget", "t1", "--yes")
    refused = memory_rag("restore", str(tmp_path / "copy"))

    assert refused.code == 1
    assert "holds a memory already" in refused.err
    assert "--overwrite" in refused.err
    assert memory_rag("show", "t1").code == 1
    assert memory_rag("restore", str(tmp_path / "copy"), "--overwrite").code == 0
    assert memory_rag("show", "t1").code == 0


def test_a_folder_without_a_backup_is_an_error(memory_rag: CommandLine, tmp_path: Path) -> None:
    refused = memory_rag("restore", str(tmp_path / "nothing"), "--memory", "again")

    assert refused.code == 1
    assert "holds no backup of a memory" in refused.err
    assert not (memory_rag.home / "again").exists()
