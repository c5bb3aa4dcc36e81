"""What is said in a chat, and its answers, as turns that are known again when the client sends them back."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Final

from memory_rag.interfaces.endpoint.heard import Choice
from memory_rag.interfaces.endpoint.sayings import Saying
from memory_rag.store.chat_messages import SOURCE
from memory_rag.store.turn_store import NEXT
from memory_rag.turns import Block, Role, Source, Turn

CUT_OFF: Final = "cut_off"
"""The kind of the block that marks an answer that didn't come to its end; its data say why."""


def turn_said(
    saying: Saying,
    text: str,
    *,
    conversation_id: str,
    digests: str,
    speaker: str | None,
    said_at: datetime | None,
    now: datetime,
    zone: tzinfo,
) -> Turn:
    """Return a client's message as a turn: ``text`` is what is stored of it, ``speaker`` the user's name if given."""
    spoken = speaker if saying.role is Role.USER else None
    return Turn(
        turn_id="",
        conversation_id=conversation_id,
        session_id=now.astimezone(zone).date().isoformat(),
        ordinal=NEXT,
        role=saying.role,
        speaker=saying.name or spoken or saying.role.value,
        text=text,
        said_at=said_at,
        blocks=saying.blocks,
        source=Source(SOURCE, digests),
        recalled=saying.recalled,
    )


def turn_answered(
    saying: Saying,
    choice: Choice,
    *,
    conversation_id: str,
    digests: str,
    model: str,
    is_first: bool,
    cut_off: str,
    now: datetime,
    zone: tzinfo,
) -> Turn:
    """Return an answer as a turn, with its thinking and why it was cut off; of alternatives search finds the first."""
    blocks = list(saying.blocks)
    if choice.thinking:
        blocks.append(Block("thinking", {"thinking": "".join(choice.thinking)}))
    if cut_off:
        blocks.append(Block(CUT_OFF, {"reason": cut_off}))
    return Turn(
        turn_id="",
        conversation_id=conversation_id,
        session_id=now.astimezone(zone).date().isoformat(),
        ordinal=NEXT,
        role=Role.ASSISTANT,
        speaker=model or Role.ASSISTANT.value,
        text=saying.text,
        said_at=now,
        blocks=tuple(blocks),
        source=Source(SOURCE, digests),
        recalled=saying.recalled and is_first,
    )
