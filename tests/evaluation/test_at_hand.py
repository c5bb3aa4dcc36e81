"""Which benchmarks can be run here is said before one is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag import benchmarks
from memory_rag.errors import SettingsError
from tests.html.reading import shown_by


def test_without_a_folder_of_data_our_own_set_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMORY_RAG_DATA", raising=False)

    known = benchmarks()

    assert [one.name for one in known if one.is_ready] == ["chats"]
    assert known.first("locomo", "longmemeval", "chats") == "chats"
    with pytest.raises(SettingsError, match="none of locomo, beam can be run here, only: chats; set MEMORY_RAG_DATA"):
        known.first("locomo", "beam")


def test_what_the_folder_holds_is_ready(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "locomo10.json").write_text("[]", encoding="utf-8")
    (tmp_path / "beam" / "100K").mkdir(parents=True)
    monkeypatch.setenv("MEMORY_RAG_DATA", str(tmp_path))

    known = benchmarks()

    assert {one.name: one.data for one in known if one.data} == {
        "beam": tmp_path / "beam/100K",
        "locomo": tmp_path / "locomo10.json",
    }
    assert known.first("longmemeval", "locomo") == "locomo"


def test_a_notebook_shows_what_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMORY_RAG_DATA", raising=False)

    shown = shown_by(benchmarks()).text

    assert "locomoneeds data" in shown
    assert "chatsready" in shown
    assert "ownneeds a memory" in shown
