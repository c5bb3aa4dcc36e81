"""A server that runs for weeks sees a memory that is made, replaced or gone meanwhile."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memory_rag.errors import NotAMemoryError
from memory_rag.memory import Memory
from tests.interfaces.mcp.conftest import live_in


def test_a_memory_is_opened_once_and_when_it_is_needed(tmp_path: Path) -> None:
    live = live_in(tmp_path / "m")
    assert not (tmp_path / "m").exists()

    assert live.get(create=True) is live.get()
    live.close()


def test_one_that_is_put_in_its_place_is_opened_instead(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "old", embedder="none") as old, Memory.open(tmp_path / "new", embedder="none") as new:
        old.add("Det gamla.")
        new.add("Det nya.")
    live = live_in(tmp_path / "old")
    before = live.get()
    assert next(before.turns()).text == "Det gamla."

    shutil.rmtree(tmp_path / "old")
    shutil.move(tmp_path / "new", tmp_path / "old")

    assert next(live.get().turns()).text == "Det nya."
    live.close()


def test_one_that_was_removed_is_missed_and_not_written_to(tmp_path: Path) -> None:
    live = live_in(tmp_path / "m")
    live.get(create=True).add("Ett ord.")
    shutil.rmtree(tmp_path / "m")

    with pytest.raises(NotAMemoryError, match="nothing is stored yet"):
        live.get()
    assert len(live.get(create=True)) == 0
    live.close()
