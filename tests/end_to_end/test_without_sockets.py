"""A whole session, model and all, needs no network."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.store.backup import backup, restore


@pytest.mark.usefixtures("no_sockets")
def test_a_session_from_the_first_word_to_the_backup_opens_no_socket(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m") as memory:
        memory.add("Mormor bakar kanelbullar varje lördag.", speaker="Åsa")
        memory.add("What a lovely smell, when may I come over?", role="assistant")
        memory.add("We paddled across the lake in a red canoe.", speaker="Bo", turn_id="canoe")

        assert memory.search("a trip on the water", mode="dense", k=1).turn_ids == ("canoe",)
        assert memory.search("Who paddled across the lake?", k=1).turn_ids == ("canoe",)
        assert memory.quote("kanelbullar varje lördag")[0].text == "kanelbullar varje lördag"
        assert memory.verify('You said "paddled across the lake in a red canoe".')[0].status == "verbatim"
        memory.correct("canoe", text="We paddled across the lake in a green canoe.")
        assert memory.compare("canoe").query == "canoe"
        memory.forget(["t1"])
        assert memory.reindex() == 0
        assert list(memory.export()) != []
        assert memory.doctor().is_well
        assert memory.stats().n_turns == 2
        backup(memory.folder, tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "again")

    with Memory.open(tmp_path / "again") as memory:
        assert memory.search("a boat trip", mode="dense", k=1).turn_ids == ("canoe",)
