"""Turns in a line, for tests of stores."""

from __future__ import annotations

from typing import Any

from memory_rag.store.turn_store import NEXT
from memory_rag.turns import Role, Turn


def said(text: str, **given: Any) -> Turn:
    """A turn in which nothing matters but what is given."""
    fields: dict[str, Any] = {
        "turn_id": "",
        "conversation_id": "c",
        "session_id": "s",
        "ordinal": NEXT,
        "role": Role.USER,
        "speaker": "user",
        "text": text,
        **given,
    }
    return Turn(**fields)
