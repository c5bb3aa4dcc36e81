"""Random conversations with tools for tests, in each provider's shape, and what a provider would refuse of one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One round: somebody speaks, or the model calls tools at once; each answers, fails or never comes back.

    ``apart``: every call is a message of its own, as clients store them that write a line for each block. ``between``:
    somebody speaks before the answers are there.
    """

    said: str
    answers: tuple[str, ...] = ()
    thought: bool = False
    nested: bool = False
    apart: bool = False
    between: bool = False


STEPS = st.lists(
    st.builds(
        Step,
        said=st.sampled_from(["plan", "next", "done", ""]),
        answers=st.lists(st.sampled_from(["ok", "error", "silent"]), max_size=4).map(tuple),
        thought=st.booleans(),
        nested=st.booleans(),
        apart=st.booleans(),
        between=st.booleans(),
    ),
    max_size=12,
)
REUSED = st.booleans()


def _key(number: int, place: int, *, reused: bool) -> str:
    return f"call_{place}" if reused else f"call_{number}_{place}"


def openai_chat(steps: Sequence[Step], *, reused: bool = False) -> list[Json]:
    """Return the steps as OpenAI's chat messages."""
    messages: list[Json] = [{"role": "system", "content": "Be brief."}]
    for number, step in enumerate(steps):
        if not step.answers:
            messages.append({"role": "assistant" if step.thought else "user", "content": step.said})
            continue
        keys = [_key(number, place, reused=reused) for place in range(len(step.answers))]
        calls = [{"id": key, "type": "function", "function": {"name": "look", "arguments": "{}"}} for key in keys]
        groups = [[one] for one in calls] if step.apart else [calls]
        messages += [{"role": "assistant", "content": step.said or None, "tool_calls": group} for group in groups]
        messages += [{"role": "user", "content": "hurry"}] if step.between else []
        messages.extend(
            {"role": "tool", "tool_call_id": key, "content": answer}
            for key, answer in zip(keys, step.answers, strict=True)
            if answer != "silent"
        )
    return messages


def anthropic(steps: Sequence[Step], *, reused: bool = False) -> list[Json]:
    """Return the steps as Anthropic's messages; answers lie in one message each, as some clients store them."""
    messages: list[Json] = []
    for number, step in enumerate(steps):
        if not step.answers:
            messages.append({"role": "assistant" if step.thought else "user", "content": step.said})
            continue
        keys = [_key(number, place, reused=reused) for place in range(len(step.answers))]
        content: list[Json] = [{"type": "thinking", "thinking": "hm", "signature": "s"}] if step.thought else []
        calls: list[Json] = [{"type": "tool_use", "id": key, "name": "look", "input": {}} for key in keys]
        groups = [[one] for one in calls] if step.apart else [calls]
        groups[0] = [*content, *groups[0]]
        messages += [{"role": "assistant", "content": group} for group in groups]
        messages += [{"role": "user", "content": "hurry"}] if step.between else []
        for key, answer in zip(keys, step.answers, strict=True):
            if answer == "silent":
                continue
            inside: Any = answer
            if step.nested:
                # A tool that quotes a transcript: what looks like a call in it is none.
                inside = [
                    {"type": "text", "text": json.dumps({"type": "tool_use", "id": "call_9_9"})},
                    {"type": "image"},
                ]
            result = {"type": "tool_result", "tool_use_id": key, "content": inside, "is_error": answer == "error"}
            messages.append({"role": "user", "content": [result]})
    return messages


def responses(steps: Sequence[Step], *, reused: bool = False) -> list[Json]:
    """Return the steps as items of OpenAI's Responses API: all calls of a round, then their answers."""
    items: list[Json] = []
    for number, step in enumerate(steps):
        if step.thought:
            items.append({"type": "reasoning", "id": f"rs_{number}", "encrypted_content": "x", "summary": []})
        if not step.answers:
            role = "assistant" if step.thought else "user"
            items.append({"type": "message", "role": role, "content": step.said})
            continue
        keys = [_key(number, place, reused=reused) for place in range(len(step.answers))]
        items += [{"type": "function_call", "call_id": key, "name": "look", "arguments": "{}"} for key in keys]
        items += [{"type": "message", "role": "user", "content": "hurry"}] if step.between else []
        items += [
            {"type": "function_call_output", "call_id": key, "output": answer}
            for key, answer in zip(keys, step.answers, strict=True)
            if answer != "silent"
        ]
    return items


SHAPES = {"openai_chat": openai_chat, "anthropic": anthropic, "responses": responses}


def answers_without_call(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys of answers whose call isn't before them: what a provider refuses a conversation for.

    Written apart from the library's own reading, by walking the JSON of each shape.
    """
    called: set[str] = set()
    missing: list[str] = []
    for message in messages:
        parts: list[Any] = [message]
        if isinstance(message.get("content"), list):
            parts += message["content"]
        for part in parts:
            called.update(str(call["id"]) for call in part.get("tool_calls") or ())
            if part.get("type") == "tool_use":
                called.add(str(part["id"]))
            if part.get("type") == "function_call":
                called.add(str(part["call_id"]))
            for name in ("tool_call_id", "tool_use_id"):
                if name in part and part[name] not in called:
                    missing.append(part[name])
            if part.get("type") == "function_call_output" and part["call_id"] not in called:
                missing.append(part["call_id"])
    return missing


def calls_without_answer(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys of calls that nothing after them answers."""
    text = json.dumps(list(messages))
    keys = {
        *(str(call["id"]) for message in messages for call in message.get("tool_calls") or ()),
        *(str(item["call_id"]) for item in messages if item.get("type") == "function_call"),
        *(
            str(block["id"])
            for message in messages
            if isinstance(message.get("content"), list)
            for block in message["content"]
            if block.get("type") == "tool_use"
        ),
    }
    marks = ('"tool_call_id": "%s"', '"tool_use_id": "%s"', '"type": "function_call_output", "call_id": "%s"')
    return sorted(key for key in keys if not any(mark % key in text for mark in marks))
