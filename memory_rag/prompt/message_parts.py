"""What a message holds, whichever provider's shape it has: calls of tools, answers to them, thinking.

Three shapes are read: OpenAI's chat messages, Anthropic's messages, and the items of OpenAI's Responses API.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Message = Mapping[str, Any]
Json = dict[str, Any]

THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_ITEM_CALLS: Final = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "tool_search_call",
        "mcp_approval_request",
    }
)
_ITEM_ANSWERS: Final = frozenset({*(f"{kind}_output" for kind in _ITEM_CALLS), "tool_search_output"})
_TEXT_ANSWERS: Final = frozenset(
    {"tool_result", "mcp_tool_result"}
    | {f"{kind}_output" for kind in ("function_call", "custom_tool_call", "local_shell_call", "apply_patch_call")}
)
"""Answers that may be a text; of all others (searches, code that ran, screenshots) the provider prescribes the form."""
_CALL_SUFFIX: Final = "tool_use"
_ANSWER_SUFFIX: Final = "tool_result"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool; ``key`` is what its answer names it by, ``name`` may be empty."""

    key: str
    name: str = ""


def blocks(message: Message) -> Sequence[Any]:
    """Return the content blocks of a message; a message whose content is a text or missing has none."""
    content = message.get("content")
    return content if isinstance(content, list | tuple) else ()


def calls(message: Message) -> Iterator[Call]:
    """Yield the calls that a message makes, in order. What an answer holds inside itself is data, not a call."""
    kind = message.get("type")
    if kind in _ITEM_CALLS:
        yield Call(_item_key(message), str(message.get("name") or str(kind).removesuffix("_call")))
    for call in _objects(message.get("tool_calls")):
        function = call.get("function") or call.get("custom") or call
        yield Call(str(call.get("id")), str(function.get("name") or "") if isinstance(function, Mapping) else "")
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        yield Call(_function_key(legacy.get("name")), str(legacy.get("name") or ""))
    for block in _objects(blocks(message)):
        if is_call(block):
            yield Call(str(block.get("id")), str(block.get("name") or ""))


def answers(message: Message) -> Iterator[str]:
    """Yield the keys of the calls that a message answers, in order."""
    kind = message.get("type")
    if kind in _ITEM_ANSWERS:
        yield _item_key(message)
    elif kind == "mcp_approval_response":
        yield str(message.get("approval_request_id"))
    elif message.get("role") == "tool":
        yield str(message.get("tool_call_id"))
    elif message.get("role") == "function":
        yield _function_key(message.get("name"))
    for block in _objects(blocks(message)):
        if is_answer(block):
            yield str(block.get("tool_use_id"))


def is_call(block: Mapping[str, Any]) -> bool:
    """Tell whether a content block calls a tool: the caller's, the provider's own, or an MCP server's."""
    return str(block.get("type", "")).endswith(_CALL_SUFFIX)


def is_answer(block: Mapping[str, Any]) -> bool:
    """Tell whether a content block answers a call: ``tool_result`` and the provider's tools' own kinds of it."""
    return str(block.get("type", "")).endswith(_ANSWER_SUFFIX)


def may_be_text(answer: Mapping[str, Any]) -> bool:
    """Tell whether an answer, a message or a block of one, may say anything in words of ours."""
    return answer.get("role") in ("tool", "function") or answer.get("type") in _TEXT_ANSWERS


def leads_the_next(message: Message) -> bool:
    """Tell whether an item is refused without the one after it: reasoning, in the Responses API."""
    return message.get("type") == "reasoning"


def is_system(message: Message) -> bool:
    """Tell whether a message is the application's own instruction."""
    return message.get("role") in ("system", "developer")


def opens_a_turn(message: Message) -> bool:
    """Tell whether a person speaks here, and not only a tool that answers."""
    return message.get("role") == "user" and not (
        blocks(message) and all(is_answer(block) for block in _objects(blocks(message)))
    )


def answer_text(answer: Mapping[str, Any]) -> str:
    """Return the words of an answer, in any shape: its text, or the texts of its parts, a line break between."""
    content = answer.get("output") if answer.get("type") in _ITEM_ANSWERS else answer.get("content")
    if isinstance(content, str):
        return content
    texts = [part if isinstance(part, str) else _text(part) for part in content or ()]
    return "\n".join(text for text in texts if text)


def thought_text(data: Mapping[str, Any]) -> str:
    """Return the words of thinking, in whichever shape it was kept; empty if its provider encrypted them."""
    for name in ("thinking", "thoughts", "summary", "content", "reasoning_content", "reasoning", "text"):
        found = data.get(name)
        told = [found] if isinstance(found, str) else [_thought(part) for part in found or () if found]
        if any(told):
            return "\n".join(text for text in told if text)
    return ""


def _thought(part: Any) -> str:
    if not isinstance(part, Mapping):
        return part if isinstance(part, str) else ""
    return "\n".join(str(part[name]) for name in ("text", "summary", "content") if isinstance(part.get(name), str))


def _text(part: Any) -> str:
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else ""


def _item_key(item: Message) -> str:
    return str(item.get("call_id") or item.get("id"))


def _function_key(name: Any) -> str:
    # Before calls had ids, the name told which one was answered.
    return f"function {name}"


def _objects(values: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(values, list | tuple):
        yield from (value for value in values if isinstance(value, Mapping))
