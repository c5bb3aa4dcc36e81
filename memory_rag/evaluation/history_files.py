"""What every invented history is made of: sittings, speakers, times and ids, and how its files are written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from memory_rag.evaluation.speed_corpus import SESSION_TURNS
from memory_rag.turns import Turn

Talk = tuple[str, Sequence[Turn]]
"""A conversation's id and its turns, the first speaker's and the second's in turns."""


def sessions_of(turns: Sequence[Turn]) -> list[Sequence[Turn]]:
    """Return the turns of each sitting."""
    return [turns[start : start + SESSION_TURNS] for start in range(0, len(turns), SESSION_TURNS)]


def role_of(turn: Turn) -> str:
    """Return who speaks, the first being the person and the second the model."""
    return "assistant" if turn.ordinal % 2 else "user"


def time_of(turn: Turn) -> datetime:
    """Return when a turn was said, which every invented one tells."""
    if turn.said_at is None:
        raise ValueError(f"turn {turn.ordinal} of {turn.conversation_id} has no time")
    return turn.said_at


def iso(turn: Turn) -> str:
    """Return when a turn was said, as programs write it."""
    return f"{time_of(turn):%Y-%m-%dT%H:%M:%S}.123Z"


def made_id(*of: object) -> str:
    """Return an id like a random one that is always the same for the same values."""
    return str(uuid5(NAMESPACE_OID, "/".join(map(str, of))))


def write_json(path: Path, value: Any) -> None:
    """Write a file of one JSON value, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def write_lines(path: Path, values: Iterable[Any]) -> None:
    """Write a file of JSON Lines, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(value, ensure_ascii=False)}\n" for value in values), encoding="utf-8")
