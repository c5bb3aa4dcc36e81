"""What was cleared and compacted on our side, as entries of the event log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memory_rag.prompt.compaction import Fitted
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
    """Write down what was cleared, one entry a kind with the turns that hold it; nothing cleared writes nothing."""
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


def log_fitted(events: EventLog, fitted: Fitted, *, conversation_id: str | None) -> None:
    """Write down how a conversation was made to fit: what was cleared, and then how many messages were summarised."""
    log_cleared(
        events,
        fitted.cleared,
        conversation_id=conversation_id,
        tokens_before=fitted.tokens_before,
        tokens_after=fitted.tokens_cleared_to,
    )
    if fitted.summarized:
        events.log(
            EventKind.COMPACTION,
            conversation_id=conversation_id,
            tokens_before=fitted.tokens_cleared_to,
            tokens_after=fitted.tokens_after,
            details={"messages": fitted.summarized, "made_by": "memory_rag"},
        )
