"""Items of OpenAI's Responses API, each a turn: messages, calls of tools and their answers, reasoning."""

from __future__ import annotations

from typing import Any, Final

from memory_rag.importers.messages import as_list, as_object, is_said, joined, kind_of, role_of
from memory_rag.importers.openai_content import blocks_of, text_of, without_files
from memory_rag.importers.parts import Part
from memory_rag.turns import Block, Role

CALLS: Final = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "web_search_call",
        "file_search_call",
        "computer_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "tool_search_call",
    }
)
ANSWERS: Final = frozenset(
    {
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "computer_call_output",
        "mcp_tool_call_output",
        "tool_search_output",
    }
)


def is_item(value: Any) -> bool:
    """Whether a JSON value is an item that only the Responses API has, or a message written as one."""
    kind = kind_of(value)
    return kind in CALLS or kind in ANSWERS or kind == "reasoning" or (kind == "message" and "role" in value)


def part_of(item: dict[str, Any], *, tools: dict[str, str]) -> Part | None:
    """Return an item's turn, None for one that says nothing; ``tools`` are the tools called so far, by call id."""
    kind = kind_of(item) or "message"
    if kind == "message":
        role = role_of(item.get("role"))
        text, blocks = text_of(item), blocks_of(item, Role.USER)
        if role is None or not (text or blocks):
            return None
        return Part(role, text, blocks, recalled=role is not Role.TOOL and is_said(text, blocks))
    fields = as_object(without_files(item))
    if kind in CALLS:
        name = str(item.get("name") or kind.removesuffix("_call"))
        tools[str(item.get("call_id") or item.get("id"))] = name
        return Part(Role.ASSISTANT, "", (Block("tool_call", fields),), recalled=False)
    if kind in ANSWERS:
        name = tools.get(str(item.get("call_id")), "")
        return Part(Role.TOOL, _output(item), (Block("tool_result", _shell(fields)),), recalled=False, speaker=name)
    if kind == "reasoning":
        return Part(Role.ASSISTANT, _thought(item), (Block("thinking", fields),), recalled=False)
    return Part(Role.ASSISTANT, "", (Block(kind, fields),), recalled=False)


def _output(item: dict[str, Any]) -> str:
    """Return what a tool answered: a text, parts with texts, or an object around either."""
    output = item.get("output", item.get("tools"))
    output = output.get("content", output.get("output")) if isinstance(output, dict) else output
    if isinstance(output, str):
        return output
    return joined([text for part in as_list(output) if isinstance(text := as_object(part).get("text"), str) and text])


def _shell(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != "output"}


def _thought(item: dict[str, Any]) -> str:
    """Return the reasoning that can be read: its content, else its summary; what is encrypted is no text."""
    for key in ("content", "summary"):
        texts = [as_object(part).get("text") for part in as_list(item.get(key))]
        found = [text for text in texts if isinstance(text, str) and text]
        if found:
            return joined(found)
    return ""
