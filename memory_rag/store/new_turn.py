"""Turns that are said now: what isn't given has its default, and which conversations they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo

from memory_rag.errors import TurnError
from memory_rag.store.turn_store import NEXT
from memory_rag.turns import Block, Conversation, Role, Source, Turn


def new_turn(
    text: str,
    *,
    role: str | Role,
    speaker: str | None,
    conversation_id: str,
    session_id: str | None,
    said_at: datetime,
    zone: tzinfo,
    blocks: Sequence[Block],
    source: Source | None,
    turn_id: str,
    recalled: bool,
) -> Turn:
    """Return a turn to be stored as the next of its conversation.

    Without a speaker its role's word is the speaker; without a session its day in ``zone`` is the session.

    Raises:
        TurnError: an unknown role, or a time without zone.
    """
    parsed = Role.parse(role)
    if not isinstance(said_at, datetime):
        raise TurnError(f"said_at is a datetime, got {type(said_at).__name__} ({said_at!r:.60})")
    if said_at.tzinfo is None:
        raise TurnError(f"said_at {said_at.isoformat(sep=' ')} has no time zone; give one, for example tzinfo=UTC")
    return Turn(
        turn_id=turn_id,
        conversation_id=conversation_id,
        session_id=session_id or said_at.astimezone(zone).date().isoformat(),
        ordinal=NEXT,
        role=parsed,
        speaker=parsed.value if speaker is None else speaker,
        text=text,
        said_at=said_at,
        blocks=tuple(blocks),
        source=source,
        recalled=recalled,
    )


def placed(turn: Turn, *, turn_id: str, ordinal: int) -> Turn:
    """Return a turn with the id and the ordinal it is stored with. ``replace`` takes five times as long."""
    return Turn(
        turn_id,
        turn.conversation_id,
        turn.session_id,
        ordinal,
        turn.role,
        turn.speaker,
        turn.text,
        turn.said_at,
        turn.said_at_text,
        turn.blocks,
        turn.source,
        turn.recalled,
        turn.indexed,
    )


def noting_conversations(items: Iterable[Turn | Conversation], names: dict[str, None]) -> Iterator[Turn | Conversation]:
    """Yield what is given, and note in ``names`` the conversations of which there are turns, in their order."""
    for item in items:
        if isinstance(item, Turn):
            names[item.conversation_id] = None
        yield item
