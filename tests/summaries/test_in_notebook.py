"""What a notebook shows of a summary and its audit."""

from __future__ import annotations

from pathlib import Path

from memory_rag import Memory
from tests.html.reading import shown_by

DECIDED = "I decided to go with 49 euro, since two prices confuse people."


def test_every_line_is_shown_with_its_turns_and_every_loss_with_its_turn(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder="none") as memory:
        memory.add(DECIDED, conversation_id="pricing")
        memory.add("Sure. Rasmus called about invoice 4711-ZX on 3 May.", role="assistant", conversation_id="pricing")
        memory.summaries.summarise("pricing", keep_recent=0)
        [told] = memory.summaries.audited("pricing")

        summary, audit, both = shown_by(told.summary).text, shown_by(told.audit).text, shown_by(told).text

    assert "words for 2 turns, t1 to t2 of pricing" in summary
    assert f"decision{DECIDED}t1" in summary.replace("user: ", "").replace("Decision", "decision")
    assert "made by extractive" in summary
    assert "decision" in audit
    assert both == summary + audit


def test_a_summary_that_lost_nothing_says_so(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder="none") as memory:
        memory.add(DECIDED, conversation_id="pricing")
        memory.summaries.summarise("pricing", keep_recent=0)

        assert shown_by(memory.summaries.audited("pricing")[0].audit).text.startswith("Nothing is lost")
