"""What chat messages of several formats have in common: text in parts, a role, their own JSON."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Final

from memory_rag.errors import TurnError
from memory_rag.turns import Block, Role

# What json.dumps does, without making an encoder for each message; what was parsed is never circular.
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False)


def joined(texts: list[str]) -> str:
    """Return the one text as it is, or several with an empty line between them."""
    return "\n\n".join(texts)


def role_of(value: Any) -> Role | None:
    """Return the role that a message names, or None when it is none that can be stored."""
    return _role_named(value) if isinstance(value, str) else None


@lru_cache(maxsize=256)
def _role_named(value: str) -> Role | None:
    try:
        return Role.parse(value)
    except TurnError:
        return None


def unknown_role(value: Any) -> str:
    """Return the reason under which a message of an unknown role is counted."""
    return f"unknown role {str(value)[:40]!r}" if value is not None else "no role"


def raw_json(message: Any) -> str:
    """Return a message's JSON as it is kept: readable letters, so that a proof of deletion finds them."""
    return _ENCODER.encode(message)


def as_written(message: Any, written: str) -> str:
    """Return a message's JSON as it is kept: as its source wrote it, unless it escapes what need not be."""
    return written if written and "\\u" not in written and "\\/" not in written else raw_json(message)


def is_said(text: str, blocks: tuple[Block, ...]) -> bool:
    """Whether there are words to be found: text that isn't blank, or a block's caption."""
    return bool(text.strip()) or any(block.caption for block in blocks)


def kind_of(value: Any, key: str = "type") -> str:
    """Return the word by which a JSON object says what it is, "" if it says none: a list there is no word."""
    kind = value.get(key) if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def as_object(value: Any) -> dict[str, Any]:
    """Return a JSON object as it is, and an empty one for anything else, so a bad field costs only itself."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return a JSON array as it is, and an empty one for anything else."""
    return value if isinstance(value, list) else []
