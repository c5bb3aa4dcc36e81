"""What one message of a model's API is worth: one turn, or two where it carries a tool's answer beside words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memory_rag.importers.messages import as_object, as_written, raw_json
from memory_rag.importers.moments import Moment
from memory_rag.turns import Block, Role, Source, Turn


@dataclass(frozen=True, slots=True)
class Part:
    """A turn to be: who speaks, the words, the blocks, and whether recall reads it.

    ``suffix`` tells the parts of one message apart in their native ids; the words of its writer have none. ``own`` is
    that part of the message's content which this turn is made of, None for all of it: a turn that is forgotten must not
    live on in the JSON of another.
    """

    role: Role
    text: str
    blocks: tuple[Block, ...] = ()
    recalled: bool = True
    speaker: str = ""
    suffix: str = ""
    own: Any = None


def turn_of(
    part: Part,
    *,
    conversation_id: str,
    session_id: str,
    ordinal: int,
    said: Moment,
    source: Source,
    recalled: bool = True,
) -> Turn:
    """Return the turn that a part is; without a name its role's word is its speaker."""
    return Turn(
        turn_id="",
        conversation_id=conversation_id,
        session_id=session_id,
        ordinal=ordinal,
        role=part.role,
        speaker=part.speaker or part.role.value,
        text=part.text,
        said_at=said.said_at,
        said_at_text=said.written,
        blocks=part.blocks,
        source=source,
        recalled=recalled and part.recalled,
    )


def raw_without_bytes(value: Any, *, written: str = "") -> str:
    """Return the JSON of a value that :func:`without_bytes` gives; most hold no file, which their JSON shows.

    ``written`` is how its source wrote it, if that is known.
    """
    kept = as_written(value, written)
    return raw_json(without_bytes(value)) if '"base64"' in kept else kept


def without_bytes(value: Any) -> Any:
    """Return a JSON value with every base64 file of Anthropic's shape replaced by its type and length."""
    if isinstance(value, list):
        return [without_bytes(item) for item in value]
    fields = as_object(value)
    if not fields:
        return value
    data = fields.get("data")
    if fields.get("type") == "base64" and isinstance(data, str):
        kind = str(fields.get("media_type") or "*/*")
        return {**fields, "data": f"data:{kind};base64,[{len(data)} characters, not stored]"}
    return {key: without_bytes(item) for key, item in fields.items()}
