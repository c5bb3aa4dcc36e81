"""Turns that are said now: what isn't given has its default."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime

from memory_rag.store.new_turn import placed
from memory_rag.turns import Block, Role, Source, Span, Turn


def test_a_turn_that_is_placed_keeps_all_else() -> None:
    given = Turn(
        turn_id="",
        conversation_id="talk",
        session_id="monday",
        ordinal=-1,
        role=Role.ASSISTANT,
        speaker="Bo",
        text="Yes.",
        said_at=datetime(2026, 5, 4, tzinfo=UTC),
        said_at_text="May 4",
        blocks=(Block("image", {}, "a kayak"),),
        source=Source("chat", "1"),
        recalled=False,
        indexed=Span(0, 3),
    )
    assert all(getattr(given, field.name) != field.default for field in fields(Turn))

    assert placed(given, turn_id="t7", ordinal=3) == replace(given, turn_id="t7", ordinal=3)
