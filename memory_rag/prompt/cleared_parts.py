"""A message without one of its parts, and the line that stands in its place."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from memory_rag.prompt.message_parts import (
    THINKING,
    Json,
    Message,
    answer_text,
    answers,
    blocks,
    calls,
    is_answer,
    may_be_text,
)
from memory_rag.prompt.tokens import TokenCounter, value_tokens

_FORM: Final = "[{what} cleared to save space: {n} tokens; the whole of it: get_turn {turn_id}]"
_IS_FORM: Final = re.compile(r"\[[^\[\]\n]* cleared to save space: \d+ tokens; the whole of it: get_turn \S+\]")
_THOUGHT_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_details")


def placeholder(what: str, tool: str, n_tokens: int, turn_id: str) -> str:
    """Return the line that stands for what was cleared and names the turn in which it is kept."""
    # A tool's name comes from outside; it stays on the line and outside of the brackets' meaning.
    named = re.sub(r"[^\w.:/-]", "_", tool)[:80]
    return _FORM.format(what=f"{what} of {named}" if named else what, n=n_tokens, turn_id=turn_id)


def is_placeholder(text: str) -> bool:
    """Tell whether a text is such a line and nothing else."""
    return _IS_FORM.fullmatch(text) is not None


def result_of(message: Message, key: str) -> str:
    """Return what a message says in answer to a call, as text; parts that are no text count as their JSON."""
    texts, others = _result(message, key)
    return texts + (json.dumps(others, ensure_ascii=False) if others else "")


def result_tokens(message: Message, key: str, *, counter: TokenCounter) -> int:
    """Return what a message's answer to a call costs."""
    texts, others = _result(message, key)
    return counter.count(texts) + (value_tokens(others, counter=counter) if others else 0)


def _result(message: Message, key: str) -> tuple[str, list[Any]]:
    """Return an answer's words, and its parts that are none."""
    block = _block_answering(message, key)
    answer = message if block is None else block
    content = answer.get("output", answer.get("content"))
    if isinstance(content, str) or content is None:
        return content or "", []
    parts = [content] if isinstance(content, Mapping) else content
    return answer_text(answer), [part for part in parts if not (isinstance(part, Mapping) and "text" in part)]


def can_be_cleared(message: Message, key: str) -> bool:
    """Tell whether a line may stand for a message's answer to a call, so that its provider still takes it."""
    block = _block_answering(message, key)
    return may_be_text(message if block is None else block)


def without_result(message: Message, key: str, *, placeholder: str) -> Json:
    """Return the message with its answer to a call replaced; whether the call failed stays to be seen."""
    if _block_answering(message, key) is None:
        field = "output" if "output" in message else "content"
        return {**message, field: placeholder}
    content = [{**block, "content": placeholder} if _answers(block, key) else block for block in blocks(message)]
    return {**message, "content": content}


def without_inputs(message: Message, key: str) -> Json:
    """Return the message with the arguments of a call left out: an empty object in the shape's own form."""
    result = dict(message)
    if message.get("type") is not None and key in {call.key for call in calls(message)} and "arguments" in message:
        result["arguments"] = "{}"
    if isinstance(message.get("tool_calls"), list):
        result["tool_calls"] = [_without_arguments(call, key) for call in message["tool_calls"]]
    if isinstance(message.get("function_call"), Mapping):
        result["function_call"] = {**message["function_call"], "arguments": "{}"}
    if blocks(message):
        result["content"] = [
            {**block, "input": {}} if _is(block, "id", key) and "input" in block else block for block in blocks(message)
        ]
    return result


def has_thinking(message: Message) -> bool:
    """Tell whether a message holds thinking: blocks of it, or a field that some chat APIs add."""
    return any(_kind(block) in THINKING for block in blocks(message)) or any(
        message.get(name) for name in _THOUGHT_FIELDS
    )


def without_thinking(message: Message, *, placeholder: str | None) -> Json:
    """Return the message without its thinking; the placeholder, if one is given, is the first of its texts."""
    kept = {name: value for name, value in message.items() if name not in _THOUGHT_FIELDS}
    line = [] if placeholder is None else [{"type": "text", "text": placeholder}]
    if blocks(message):
        return {**kept, "content": [*line, *(block for block in blocks(message) if _kind(block) not in THINKING)]}
    said = message.get("content")
    if placeholder is None:
        return kept
    return {**kept, "content": f"{placeholder}\n{said}" if said else placeholder}


def _block_answering(message: Message, key: str) -> Mapping[str, Any] | None:
    if key not in set(answers(message)):
        return None
    return next((block for block in blocks(message) if _answers(block, key)), None)


def _answers(block: Any, key: str) -> bool:
    return isinstance(block, Mapping) and is_answer(block) and str(block.get("tool_use_id")) == key


def _without_arguments(call: Any, key: str) -> Any:
    if not _is(call, "id", key):
        return call
    for kind, words in (("function", "arguments"), ("custom", "input")):
        if isinstance(call.get(kind), Mapping):
            return {**call, kind: {**call[kind], words: "{}" if kind == "function" else ""}}
    return call


def _is(value: Any, name: str, key: str) -> bool:
    return isinstance(value, Mapping) and str(value.get(name)) == key


def _kind(block: Any) -> str:
    return str(block.get("type", "")) if isinstance(block, Mapping) else ""
