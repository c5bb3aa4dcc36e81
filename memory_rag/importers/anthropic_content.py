"""The content of a message in Anthropic's shape: words, thinking, tool calls and their answers, images."""

from __future__ import annotations

from typing import Any, Final

from memory_rag.importers.messages import as_list, as_object, is_said, joined, kind_of
from memory_rag.importers.parts import Part, without_bytes
from memory_rag.turns import Block, Role

_THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_KINDS: Final = {"document": "attachment", "container_upload": "attachment"}
_OWN_KINDS: Final = _THINKING | _CALLS | {"tool_result", "mcp_tool_result", "web_search_tool_result"}


def is_result(block: Any) -> bool:
    """Whether a block answers a tool call: ``tool_result``, or a server's tool's own kind of it."""
    return kind_of(block).endswith("tool_result")


def is_anthropic(content: Any) -> bool:
    """Whether a message's content can only be of Anthropic's shape."""
    for block in as_list(content):
        kind = kind_of(block)
        if kind in _OWN_KINDS or (kind in {"image", "document"} and "source" in block):
            return True
    return False


def parts_of(role: Role, content: Any, *, tools: dict[str, str]) -> list[Part]:
    """Return what a message is worth, the answers of tools first; an empty message is an empty list.

    An answer that stands in a person's message is the tool's turn; one in the model's own message, from a tool that
    its maker runs, is a block of the model's turn. ``tools`` are the names of the tools called so far, by call id;
    this message's calls are added.
    """
    words = _only_words(content)
    if words:
        return [Part(role, words, recalled=role is not Role.TOOL and bool(words.strip()))]
    blocks = as_list(content)
    tools.update(_called(blocks))
    answers = [block for block in blocks if is_result(block)] if role is not Role.ASSISTANT else []
    parts: list[Part] = []
    if answers:
        names = [tools.get(str(as_object(answer).get("tool_use_id")), "") for answer in answers]
        text = joined([text for answer in answers if (text := result_text(answer))])
        shown = tuple(Block("tool_result", without_bytes(as_object(answer))) for answer in answers)
        speaker = names[0] if len(set(names)) == 1 else ""
        own = answers if len(answers) < len(blocks) else None
        parts.append(Part(Role.TOOL, text, shown, recalled=False, speaker=speaker, suffix="#tool", own=own))
    rest = content if isinstance(content, str) else [block for block in blocks if block not in answers]
    words = rest if isinstance(rest, str) else joined(_texts(rest))
    others = () if isinstance(rest, str) else _blocks(rest)
    if words or others:
        recalled = role is not Role.TOOL and is_said(words, others)
        parts.append(Part(role, words, others, recalled=recalled, own=rest if answers else None))
    return parts


def _only_words(content: Any) -> str:
    """Return the words of a message that holds nothing else, as most do; "" for any other."""
    if isinstance(content, list) and len(content) == 1:
        return _text(content[0])
    return content if isinstance(content, str) else ""


def result_text(answer: Any) -> str:
    """Return the words of a tool's answer, whose content is a text or a list of blocks."""
    content = as_object(answer).get("content")
    return content if isinstance(content, str) else joined(_texts(as_list(content)))


def _texts(blocks: list[Any]) -> list[str]:
    """Return the texts of the blocks that have one; a text may be null, or a bare string."""
    found = (block if isinstance(block, str) else _text(block) for block in blocks)
    return [text for text in found if text]


def _text(block: Any) -> str:
    fields = as_object(block)
    text = fields.get("text")
    return text if fields.get("type", "text") == "text" and isinstance(text, str) else ""


def _blocks(blocks: list[Any]) -> tuple[Block, ...]:
    """Return what a message holds beside its words, in order; its texts too if there are several."""
    several = len(_texts(blocks)) > 1
    return tuple(
        _block(block) for block in blocks if (several and (isinstance(block, str) or _text(block))) or _is_other(block)
    )


def _is_other(block: Any) -> bool:
    return not isinstance(block, str) and as_object(block).get("type", "text") != "text"


def _block(block: Any) -> Block:
    if isinstance(block, str):
        return Block("text", {"text": block})
    fields: dict[str, Any] = without_bytes(as_object(block))
    kind = str(fields.get("type", "unknown"))
    if kind in _THINKING:
        return Block("thinking", fields)
    if kind in _CALLS:
        return Block("tool_call", fields)
    if is_result(fields):
        return Block("tool_result", fields)
    named = fields.get("title") or fields.get("name") or fields.get("file_name")
    return Block(_KINDS.get(kind, kind), fields, named if isinstance(named, str) and kind != "text" else "")


def _called(blocks: list[Any]) -> dict[str, str]:
    calls = (as_object(block) for block in blocks)
    return {
        str(call.get("id")): call["name"]
        for call in calls
        if kind_of(call) in _CALLS and isinstance(call.get("name"), str)
    }
