"""Talks without a secret come out of a memory as they went in, at the default settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory_rag.importers import open_import
from memory_rag.memory import Memory
from memory_rag.turns import Turn, text_bytes


@pytest.mark.needs_data
@pytest.mark.parametrize(("name", "n_turns"), [("locomo10.json", 5882), ("beam/100K", 5732)])
def test_every_text_is_the_same_byte_by_byte_after_an_import(tmp_path: Path, name: str, n_turns: int) -> None:
    data = os.environ.get("MEMORY_RAG_DATA")
    if not data:
        pytest.skip("MEMORY_RAG_DATA is not set")
    with open_import(Path(data) / name) as opened:
        said = [text_bytes(item.text) for file in opened for item in file if isinstance(item, Turn)]
    with Memory.open(tmp_path / "memory", embedder="none") as memory:
        memory.import_path(Path(data) / name)
        stored = [text_bytes(turn.text) for turn in memory.turns()]

    assert len(said) == n_turns
    assert sorted(stored) == sorted(said)
