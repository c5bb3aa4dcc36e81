"""What chats of people have in common: everybody is a user, and a day is a session."""

from __future__ import annotations

from datetime import datetime, tzinfo
from pathlib import PurePosixPath
from typing import Any

from memory_rag.turns import Block

_IMAGES = frozenset({"jpg", "jpeg", "png", "gif", "webp", "heic", "bmp", "avif"})


def day_session(conversation_id: str, said_at: datetime | None, tz: tzinfo) -> str:
    """Return the session of what was said then: its day by the clock of ``tz``, or the conversation without a time."""
    return conversation_id if said_at is None else f"{conversation_id}/{said_at.astimezone(tz).date().isoformat()}"


def file_block(data: dict[str, Any], name: str, *, caption: str = "", mime_type: str = "") -> Block:
    """Return the block of a file that was sent, found by its name or a longer caption; a picture is an image."""
    suffix = PurePosixPath(name).suffix.removeprefix(".").casefold()
    is_image = mime_type.startswith("image/") or (not mime_type and suffix in _IMAGES)
    return Block("image" if is_image else "attachment", data, caption or name)


def words_of(*values: Any) -> str:
    """Return the texts among the values, a space between them, as a block's caption."""
    return " ".join(value for value in values if isinstance(value, str) and value)
