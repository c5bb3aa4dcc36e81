"""A chat request with what the memory knows put into it, and every message of the client's still there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def with_memory(
    messages: Sequence[Any], *, system: str = "", window: Sequence[Mapping[str, Any]] = (), quoted: str = "", at: int
) -> list[Any]:
    """Return the messages with the memory's part in them.

    What always holds goes after the words of the first instruction, or before everything; ``window`` (turns that the
    client didn't send) before message ``at``, the user's last, and ``quoted`` at its beginning. No message is split or
    added where one can take it: many models want users and assistants to take turns, and one instruction.
    """
    told = list(messages)
    if quoted:
        told[at] = _led_by(quoted, told[at])
    told[at:at] = [dict(message) for message in window]
    if system:
        first = told[0] if told else None
        if isinstance(first, dict) and first.get("role") in ("system", "developer"):
            told[0] = _followed_by(system, first)
        else:
            told.insert(0, {"role": "system", "content": system})
    return told


def _led_by(text: str, message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": f"{text}\n\n{content}"}
    return {**message, "content": [{"type": "text", "text": text}, *(content or [])]}


def _followed_by(text: str, message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [*content, {"type": "text", "text": text}]}
    return {**message, "content": f"{content}\n\n{text}" if content else text}
