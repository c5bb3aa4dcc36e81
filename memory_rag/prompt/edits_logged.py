"""What was cleared on our side, as entries of the event log: one a kind, with the turns that hold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memory_rag.prompt.editing import Cleared
from memory_rag.prompt.events import EventKind, EventLog

_KINDS: Final = {"tool_result": EventKind.CLEARED_TOOL_USES, "thinking": EventKind.CLEARED_THINKING}


def log_cleared(
    events: EventLog,
    cleared: Sequence[Cleared],
    *,
    conversation_id: str | None,
    tokens_before: int,
    tokens_after: int,
) -> None:
    """Write down what was cleared; nothing cleared is nothing written."""
    for name, kind in _KINDS.items():
        turn_ids = [one.turn_id for one in cleared if one.kind == name]
        if turn_ids:
            events.log(
                kind,
                conversation_id=conversation_id,
                tokens_before=tokens_before,
                tokens_after=tokens_after,
                details={"turns": turn_ids, "made_by": "memory_rag"},
            )
