"""Turns with tool traffic for tests, as they are stored: from OpenAI's chat, from Anthropic, from the Responses API."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from memory_rag.turns import Block, Role, Turn
from tests.prompt.conversations import Step

START = datetime(2026, 4, 10, 8, 0, tzinfo=UTC)


def turn(
    text: str,
    *,
    turn_id: str = "t1",
    role: str = "user",
    speaker: str = "Ebba",
    ordinal: int = 0,
    conversation_id: str = "talk",
    blocks: Sequence[Block] = (),
    recalled: bool = True,
    minutes: int | None = None,
) -> Turn:
    """Return a turn; all but its text has a default, and its minute is its ordinal."""
    at = START + timedelta(minutes=ordinal if minutes is None else minutes)
    return Turn(
        turn_id, conversation_id, "day", ordinal, Role.parse(role), speaker, text, said_at=at, blocks=tuple(blocks),
        recalled=recalled,
    )  # fmt: skip


def call(key: str, name: str = "read", *, shape: str = "openai_chat", **arguments: Any) -> Block:
    """Return the block of a call as an importer of the shape writes it."""
    text = json.dumps(arguments)
    shapes: dict[str, dict[str, Any]] = {
        "openai_chat": {"id": key, "type": "function", "function": {"name": name, "arguments": text}},
        "anthropic": {"type": "tool_use", "id": key, "name": name, "input": arguments},
        "responses": {"type": "function_call", "call_id": key, "name": name, "arguments": text},
    }
    return Block("tool_call", shapes[shape])


def answer(key: str, text: str, *, shape: str = "openai_chat", failed: bool = False) -> Block:
    """Return the block of a tool's answer as an importer of the shape writes it; its words are the turn's too."""
    shapes: dict[str, dict[str, Any]] = {
        "openai_chat": {"tool_call_id": key},
        "anthropic": {"type": "tool_result", "tool_use_id": key, "content": text, "is_error": failed},
        "responses": {"type": "function_call_output", "call_id": key},
    }
    return Block("tool_result", shapes[shape])


def numbered(turns: Sequence[Turn]) -> list[Turn]:
    """Return turns with ids t1, t2 … and ordinals 0, 1 …"""
    return [replace(one, turn_id=f"t{at + 1}", ordinal=at) for at, one in enumerate(turns)]


def turns_of(steps: Sequence[Step], *, shape: str, reused: bool = False) -> list[Turn]:
    """Return the steps of a random conversation as stored turns."""
    turns: list[Turn] = []
    for number, step in enumerate(steps):
        if not step.answers:
            turns.append(turn(step.said, role="assistant" if step.thought else "user"))
            continue
        keys = [f"call_{place}" if reused else f"call_{number}_{place}" for place in range(len(step.answers))]
        calls = [call(key, shape=shape) for key in keys]
        groups = [[one] for one in calls] if step.apart else [calls]
        turns += [turn(step.said, role="assistant", blocks=group, recalled=False) for group in groups]
        turns += [turn("hurry")] if step.between else []
        turns += [
            turn(text, role="tool", blocks=[answer(key, text, shape=shape, failed=text == "error")], recalled=False)
            for key, text in zip(keys, step.answers, strict=True)
            if text != "silent"
        ]
    return numbered(turns)
