"""What a notebook shows of what was forgotten, and of the proof."""

from __future__ import annotations

from pathlib import Path

from memory_rag import Memory
from tests.html.reading import shown_by


def test_a_plan_shows_what_would_go_and_the_proof_what_was_looked_for(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder="none") as memory:
        memory.add("My old address is Ekvägen 12.", speaker="Bo")
        memory.prompt.pins.add("Lives at the old place.", turn_id="t1")

        plan = shown_by(memory.forgetting.plan(["t1"])).text
        done = shown_by(memory.forgetting.forget(["t1"], prove=True)).text

    assert plan.startswith("1 turn")
    assert "My old address is Ekvägen 12." in plan
    assert "Lives at the old place." in plan
    assert "Nothing of it is there any more" in done
    assert "looked at every byte of" in done
