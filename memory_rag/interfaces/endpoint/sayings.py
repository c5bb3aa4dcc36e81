"""What is said in a chat request: its messages as they are stored and known again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory_rag.importers.identity import digest
from memory_rag.importers.messages import as_list, as_object, is_said, role_of
from memory_rag.importers.openai_content import blocks_of, text_of
from memory_rag.text.thoughts import without_thoughts
from memory_rag.turns import Block, Role

_READ_BY_CLIENT: Final = "parsed_arguments"
_NOT_SAID: Final = (None, "text", "thinking", "reasoning")
"""Parts that are words already, or no words of an answer."""


@dataclass(frozen=True, slots=True)
class Saying:
    """A message of a user, an assistant or a tool; ``content`` is a digest of who says what in it."""

    role: Role
    text: str
    blocks: tuple[Block, ...]
    name: str
    content: str
    at: int
    """Its place among the messages of the request."""

    @property
    def recalled(self) -> bool:
        """Whether search finds it: what tools answer, and calls without a word, are kept and shown only."""
        return self.role is not Role.TOOL and is_said(self.text, self.blocks)


def sayings_of(messages: Sequence[Any]) -> list[Saying]:
    """Return what is said in these messages, in order; instructions (system, developer) are not said by anybody."""
    said: list[Saying] = []
    tools: dict[str, str] = {}
    for at, message in enumerate(messages):
        fields = as_object(message)
        role = role_of(fields.get("role"))
        if role is None or role is Role.SYSTEM:
            continue
        for call in as_list(fields.get("tool_calls")):
            name = as_object(as_object(call).get("function")).get("name")
            if isinstance(name, str):
                tools[str(as_object(call).get("id"))] = name
        said.append(saying_of(fields, role, at=at, tools=tools))
    return said


def saying_of(message: Mapping[str, Any], role: Role, *, at: int, tools: Mapping[str, str] | None = None) -> Saying:
    """Return one message as it is stored; ``tools`` are the names of the tools that were called, by call id."""
    fields = dict(message)
    name = fields.get("name") or (tools or {}).get(str(fields.get("tool_call_id")))
    return Saying(
        role=role,
        text=text_of(fields),
        blocks=blocks_of(fields, role),
        name=name if isinstance(name, str) and name.strip() else "",
        content=digest(role.value, _told(fields, role)),
        at=at,
    )


def _told(fields: dict[str, Any], role: Role) -> list[Any]:
    """Return what makes a message the same message again, however a client writes it: words, parts, calls.

    Many clients leave out what a model thought aloud, and send a refusal back as words; frameworks write the arguments
    of a call anew.
    """
    refusal = fields.get("refusal") or None
    words = text_of(fields)
    if isinstance(refusal, str) and not words.strip():
        words, refusal = refusal, None
    words = " ".join((without_thoughts(words) if role is Role.ASSISTANT else words).split())
    parts = [part for part in as_list(fields.get("content")) if as_object(part).get("type") not in _NOT_SAID]
    calls = [
        [as_object(call).get("id"), _called(as_object(call).get("function")), as_object(call).get("custom")]
        for call in as_list(fields.get("tool_calls"))
    ]
    function_call = _called(fields.get("function_call") or None)
    return [words, parts, calls, function_call, fields.get("tool_call_id"), refusal]


def _called(function: Any) -> Any:
    """Return a called function as the model named it: the official client's helpers add what they read of it."""
    if not isinstance(function, dict):
        return function
    kept = {key: value for key, value in function.items() if key != _READ_BY_CLIENT}
    if "arguments" in kept:
        kept["arguments"] = _unspaced(kept["arguments"])
    return kept


def _unspaced(arguments: Any) -> Any:
    """Return a call's arguments as most models write them: JSON without spaces; what is no JSON as it is."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return arguments


def chain_of(before: str, saying: Saying) -> str:
    """Return the digest of a talk up to and with a saying; ``before`` is that of the talk before it, or empty."""
    return digest(before, saying.content)


def pair_of(before: Saying | None, saying: Saying) -> str:
    """Return the digest of a saying with the one before it."""
    return digest(before.content if before is not None else "", saying.content)
