"""What a stored turn holds for a prompt: its words, the calls it makes, the answers it gives; whatever its source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

from memory_rag.prompt.message_parts import Json, Message, answer_text
from memory_rag.turns import Block, Role, Turn, printable, text_bytes

NO_RESULT: Final = "[no result of this call is stored]"
_KEY: Final = re.compile(r"[^A-Za-z0-9_-]")
"""What no provider takes in the name of a tool or the id of a call."""
_LONGEST_NAME: Final = 64
LONGEST_KEY: Final = 40
"""Characters of a call's id that OpenAI's chat takes; ids of its own Responses API and of others are longer."""
_SHARED: Final = ("image", "attachment")
"""What is told of even without a caption: that there was one tells the model what is spoken of."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as every provider can be told it; ``arguments`` is a JSON text, as the model wrote it.

    ``given_key`` is the key as its provider gave it, of a call that goes back unchanged: its answer has to name that.
    """

    key: str
    name: str
    arguments: str
    given_key: str = ""

    @property
    def input(self) -> Json:
        """The arguments as an object; arguments that are none lie under ``arguments``."""
        try:
            parsed = json.loads(self.arguments or "{}")
            # An escaped half of a character comes out of it as one that no request can hold.
            parsed = json.loads(printable(json.dumps(parsed, ensure_ascii=False)))
        except (ValueError, RecursionError):
            parsed = self.arguments
        return parsed if isinstance(parsed, dict) else {"arguments": parsed}


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool said; ``turn_id`` is the turn that holds it, empty for a stand-in."""

    key: str
    text: str
    is_error: bool = False
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A turn, taken apart. ``content`` is what its provider gave, to be sent back as it is; None if nothing is kept."""

    turn_id: str
    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    answers: tuple[ToolAnswer, ...] = ()
    content: tuple[Json, ...] | None = field(default=None)


def spoken(turn: Turn, *, content: Sequence[Json] | None = None) -> Spoken:
    """Take a turn apart; what it shared beside words (an image, a file) is told by its caption, if it has one."""
    shown = "".join(
        f" [shared {block.kind}{': ' if block.caption else ''}{block.caption}]"
        for block in turn.blocks
        if block.kind not in ("tool_call", "tool_result") and (block.caption or block.kind in _SHARED)
    )
    calls = (
        [_call(block.data, f"{turn.turn_id}_{at}") for at, block in enumerate(turn.blocks) if block.kind == "tool_call"]
        if content is None
        else list(_calls_in(content))
    )
    answers = tuple(_answers(turn))
    # A user's turn may hold the answer of a tool, as Anthropic's messages do: its words are then the tool's.
    is_answer = turn.role is Role.USER and len(answers) == 1 and answers[0].text == printable(turn.text)
    return Spoken(
        turn_id=turn.turn_id,
        role=turn.role,
        text="" if is_answer else printable(turn.text + shown if turn.text else shown.lstrip()),
        calls=tuple(calls),
        answers=answers,
        content=None if content is None else tuple(content),
    )


def pair_shape(turn: Turn) -> Message:
    """Return a turn as far as cutting must know it: the keys of the calls that it makes and answers."""
    parts = spoken(turn)
    return {
        "role": "assistant" if parts.calls else "user",
        "tool_calls": [{"id": call.key} for call in parts.calls],
        "content": [{"type": "tool_result", "tool_use_id": answer.key} for answer in parts.answers],
    }


def is_heard(turn: Turn) -> bool:
    """Tell whether a turn belongs to the talk as it went on: spoken words, and the traffic with tools."""
    if turn.role is Role.SYSTEM:
        return False
    return turn.recalled or turn.role is Role.TOOL or any(b.kind in ("tool_call", "tool_result") for b in turn.blocks)


def _call(data: Mapping[str, Any], fallback: str) -> ToolCall:
    nested = data.get("function")
    function: Mapping[str, Any] = nested if isinstance(nested, Mapping) else data
    # Calls of before there were ids, and ChatGPT's, are answered by the tool's name.
    own_name = data.get("name") or data.get("recipient")
    fallback = _by_name(own_name) if nested is None and own_name else fallback
    name = _KEY.sub("_", str(function.get("name") or own_name or data.get("type") or "tool"))[:_LONGEST_NAME]
    fields = ("arguments", "input", "action")
    given: Any = next((function[name] for name in fields if function.get(name) is not None), {})
    arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return ToolCall(_key(data, "call_id", "id", fallback=fallback), name, printable(arguments))


def _calls_in(content: Sequence[Json]) -> Iterator[ToolCall]:
    """Yield the calls that the caller has to answer: the provider's own tools answer themselves."""
    for block in content:
        if block.get("type") in ("tool_use", "function_call", "custom_tool_call"):
            yield replace(_call(block, "call"), given_key=str(block.get("call_id") or block.get("id") or ""))


def _answers(turn: Turn) -> Iterator[ToolAnswer]:
    blocks = [block for block in turn.blocks if block.kind == "tool_result"]
    for block in blocks:
        key = _key(block.data, "tool_use_id", "tool_call_id", "call_id", fallback=_by_name(block.data.get("name")))
        # One answer alone has its words as the turn's text; of several, each has its own.
        own = answer_text(block.data)
        text = own if own and len(blocks) > 1 else turn.text or own
        yield ToolAnswer(key, printable(text), _failed(block), turn.turn_id)


def _by_name(tool: Any) -> str:
    return f"function {tool}"


def _failed(block: Block) -> bool:
    return block.data.get("is_error") is True or block.data.get("status") == "failed"


def _key(data: Mapping[str, Any], *names: str, fallback: str) -> str:
    given = next((str(data[name]) for name in names if data.get(name)), fallback)
    key = _KEY.sub("_", given)
    if len(key) <= LONGEST_KEY:
        return key
    digest = blake2b(text_bytes(given), digest_size=8).hexdigest()
    return f"{key[: LONGEST_KEY - len(digest) - 1]}_{digest}"
