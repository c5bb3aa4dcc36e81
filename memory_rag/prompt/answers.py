"""A provider's answer, written down: its blocks to be sent back, what was edited, what it cost, what went wrong."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from memory_rag.errors import RefusedError
from memory_rag.prompt.events import Event, EventKind, EventLog, Price
from memory_rag.prompt.lost_compaction import LostCompaction, LostCompactionWarning, lost_compaction, newest_compaction
from memory_rag.prompt.returned_blocks import COMPACTION, ReturnedBlocks, Shape
from memory_rag.prompt.usage import Usage, applied_edits, usage_of

_KINDS: Final = {
    "clear_tool_uses_20250919": EventKind.CLEARED_TOOL_USES,
    "clear_thinking_20251015": EventKind.CLEARED_THINKING,
}
_ONLY_WORDS: Final = frozenset({"text", "message"})
_LOOKED_BACK: Final = 200
"""Events of the conversation in which the newest compaction is looked for."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was written down of an answer. ``kept`` tells whether its blocks are kept; ``lost`` is the silent bug."""

    events: tuple[Event, ...]
    kept: bool
    usage: Usage | None
    lost: LostCompaction | None = None


@dataclass(frozen=True, slots=True)
class AnswerLog:
    """Writes down answers of one memory; ``prices`` are by model, and a model without a price has no cost."""

    events: EventLog
    blocks: ReturnedBlocks
    prices: Mapping[str, Price] = field(default_factory=dict)

    def record(self, answer: Mapping[str, Any], *, turn_id: str, conversation_id: str, provider: Shape) -> Recorded:
        """Write down an answer as its API gave it, for the stored turn that holds its words.

        Warns with :class:`LostCompactionWarning` when its request had again what had been compacted.

        Raises:
            UnknownTurnError: no turn has this id.
        """
        content = answer.get("content") if provider == "anthropic" else answer.get("output")
        blocks = [block for block in content or () if isinstance(block, Mapping)]
        kept = any(block.get("type") not in _ONLY_WORDS for block in blocks)
        refused: list[Event] = []
        if kept:
            try:
                self.blocks.keep(turn_id, blocks, provider=provider)
            except RefusedError as error:
                kept = False
                refused.append(
                    self.events.log(
                        EventKind.WARNING,
                        conversation_id=conversation_id,
                        turn_id=turn_id,
                        details={"warning": str(error)},
                    )
                )
        usage = usage_of(answer)
        lost = None if usage is None else self._lost(usage, turn_id=turn_id, conversation_id=conversation_id)
        logged = refused + self._log(answer, blocks, usage, turn_id=turn_id, conversation_id=conversation_id)
        if lost is not None:
            event = self.events.log(
                EventKind.WARNING,
                conversation_id=conversation_id,
                turn_id=turn_id,
                tokens_before=lost.compacted.tokens_before,
                tokens_after=lost.n_sent,
                details={"warning": str(lost), "compacted_at": lost.compacted.turn_id},
            )
            logged.append(event)
            warnings.warn(str(lost), LostCompactionWarning, stacklevel=2)
        return Recorded(tuple(logged), kept, usage, lost)

    def _lost(self, usage: Usage, *, turn_id: str, conversation_id: str) -> LostCompaction | None:
        before = self.events.events(conversation_id=conversation_id, newest=_LOOKED_BACK)
        compacted, _ = newest_compaction(before)
        if compacted is None:
            return None
        kept = self.blocks.of([compacted.turn_id]).get(compacted.turn_id)
        was_kept = kept is not None and kept.has_compaction
        return lost_compaction(before, turn_id=turn_id, n_sent=usage.n_sent, was_kept=was_kept)

    def _log(
        self,
        answer: Mapping[str, Any],
        blocks: list[Mapping[str, Any]],
        usage: Usage | None,
        *,
        turn_id: str,
        conversation_id: str,
    ) -> list[Event]:
        model = str(answer["model"]) if answer.get("model") else None
        logged: list[Event] = []

        def log(kind: EventKind, before: int | None, after: int | None, **more: Any) -> None:
            logged.append(
                self.events.log(
                    kind,
                    conversation_id=conversation_id,
                    turn_id=turn_id,
                    model=model,
                    tokens_before=before,
                    tokens_after=after,
                    **more,
                )
            )

        sent = None if usage is None else usage.n_sent
        for edit in applied_edits(answer):
            before = None if sent is None else sent + edit.n_tokens
            kind = _KINDS.get(edit.type, EventKind.CLEARED_TOOL_USES)
            log(kind, before, sent, details={"type": edit.type, "cleared": edit.n_cleared, "tokens": edit.n_tokens})
        compactions = [block for block in blocks if block.get("type") == COMPACTION]
        if compactions:
            made = any(block.get("content") or block.get("encrypted_content") for block in compactions)
            details = {} if made else {"failed": "the provider made no summary; the history was sent on whole"}
            after = usage.n_compacted_to if usage is not None else None
            log(EventKind.COMPACTION, sent if made else None, after, details=details)
        if usage is not None:
            price = self.prices.get(model or "")
            cost = None if price is None else price.of(n_read=usage.n_read, n_written=usage.n_written)
            log(EventKind.ANSWER, sent, None, cost=cost, details={"read": usage.n_read, "written": usage.n_written})
        return logged
