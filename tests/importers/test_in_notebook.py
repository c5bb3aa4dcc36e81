"""What a notebook shows of an import."""

from __future__ import annotations

from pathlib import Path

from memory_rag import Memory
from memory_rag.sample import history_path
from tests.html.reading import shown_by


def test_the_sum_stands_first_and_reasons_below(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder="none") as memory:
        first = shown_by(memory.import_path(history_path())).text
        memory.forget(["t1"])
        again = shown_by(memory.import_path(history_path())).text

    assert first.startswith("326 read = 326 kept + 0 already there + 0 skipped")
    assert "history.jsonl" in first
    assert again.startswith("326 read = 0 kept + 325 already there + 1 skipped")
    assert "skipped, forgotten earlier" in again


def test_secrets_that_were_taken_out_are_counted(tmp_path: Path) -> None:
    transcript = tmp_path / "talk.md"
    transcript.write_text("Ebba: My password is hunter2-Rye!\nNova: Noted.\n", encoding="utf-8")

    with Memory.open(tmp_path / "memory", embedder="none") as memory:
        shown = shown_by(memory.import_path(transcript, format="transcript")).text

    assert "password redact: 1" in shown
    assert "hunter2" not in shown
