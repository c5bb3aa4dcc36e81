"""The tools by which a model asks a memory itself, as each provider wants them described; and what a call may say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from memory_rag.errors import QueryError
from memory_rag.prompt.message_parts import Json

MOST_HITS: Final = 20
_SHOWN: Final = 80
_LONGEST: Final = 10_000
_KINDS: Final = {"string": str, "integer": int}


@dataclass(frozen=True, slots=True)
class MemoryTool:
    """One tool: its name, what it is for, its parameters as JSON schema, and those that must be given."""

    name: str
    description: str
    properties: Mapping[str, Json]
    required: tuple[str, ...]

    @property
    def schema(self) -> Json:
        return {
            "type": "object",
            "properties": {name: dict(schema) for name, schema in self.properties.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }

    def checked(self, arguments: Any) -> dict[str, Any]:
        """Return the arguments of a call, given as an object or as its JSON text.

        An argument that is null counts as not given; a whole number that comes as 3.0 or "3" is read as one.

        Raises:
            QueryError: what is wrong and what is allowed, in words that a model can act on.
        """
        given = _object(arguments, self)
        unknown = [name for name in given if name not in self.properties]
        if unknown:
            raise QueryError(f"{self.name} has no parameter {_short(unknown[0])}; it has: {', '.join(self.properties)}")
        missing = [name for name in self.required if given.get(name) is None]
        if missing:
            raise QueryError(f"{self.name} needs {missing[0]!r}: {self.properties[missing[0]]['description']}")
        return {name: self._value(name, value) for name, value in given.items() if value is not None}

    def _value(self, name: str, value: Any) -> Any:
        schema = self.properties[name]
        if schema["type"] == "integer":
            value = _whole(value)
        if not isinstance(value, _KINDS[schema["type"]]) or isinstance(value, bool):
            raise QueryError(f"{name} of {self.name} must be {_article(schema['type'])}, got {_short(value)}")
        if isinstance(value, str):
            if not value.strip() or len(value) > _LONGEST:
                raise QueryError(f"{name} of {self.name} has 1 to {_LONGEST:,} characters, got {len(value.strip()):,}")
            if value not in schema.get("enum", [value]):
                raise QueryError(f"{name} of {self.name} is one of: {', '.join(schema['enum'])}; got {_short(value)}")
        elif not schema["minimum"] <= value <= schema.get("maximum", value):
            most = f" to {schema['maximum']}" if "maximum" in schema else " or more"
            raise QueryError(f"{name} of {self.name} is {schema['minimum']}{most}, got {_short(value)}")
        return value


SEARCH: Final = MemoryTool(
    "search_memory",
    "Search what was said in earlier conversations. Returns the turns that answer best, word for word, each with its "
    "id, who said it and when. Use it before answering anything about the past: preferences, decisions, names, prices, "
    "dates. If nothing is found, say that it isn't in the memory rather than guess.",
    {
        "query": {"type": "string", "description": "what to look for, as a question or as words"},
        "k": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_HITS,
            "description": "how many turns at most, 6 if not given",
        },
        "speaker": {"type": "string", "description": "only turns by the person of this name"},
        "role": {
            "type": "string",
            "enum": ["user", "assistant", "system", "tool"],
            "description": "only turns by this side of the talk",
        },
        "since": {"type": "string", "description": "only what was said then or later: 2026, 2026-04 or 2026-04-10"},
        "until": {
            "type": "string",
            "description": "only what was said then or earlier; a bare day, month or year is meant whole",
        },
        "conversation": {"type": "string", "description": "only of the conversation with this id"},
    },
    ("query",),
)
GET_TURN: Final = MemoryTool(
    "get_turn",
    "Get one turn whole, by its id, such as t17: also the result of a tool that was cleared to save space, whose "
    "placeholder names the turn. A long turn comes in parts.",
    {
        "turn_id": {
            "type": "string",
            "description": "the id that stands before a quoted turn or in a placeholder: t17",
        },
        "start": {
            "type": "integer",
            "minimum": 0,
            "description": "the character from which on to read; 0 if not given",
        },
    },
    ("turn_id",),
)
QUOTE: Final = MemoryTool(
    "quote",
    "Check whether words were said, and by whom: give the words, get every turn that holds them exactly, or nearly "
    "with each difference named. Use it before putting words of the past in quotation marks.",
    {
        "text": {"type": "string", "description": "the words, without quotation marks"},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 10,
            "description": "how many places at most, 5 if not given",
        },
    },
    ("text",),
)
TOOLS: Final = {tool.name: tool for tool in (SEARCH, GET_TURN, QUOTE)}


def for_openai() -> list[Json]:
    """Return the tools for ``tools`` of OpenAI's chat completions, and of endpoints that speak it."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in TOOLS.values()
    ]


def for_responses() -> list[Json]:
    """Return the tools for ``tools`` of OpenAI's Responses API."""
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
            "strict": False,
        }
        for tool in TOOLS.values()
    ]


def for_anthropic() -> list[Json]:
    """Return the tools for ``tools`` of Anthropic's messages."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in TOOLS.values()
    ]


def _object(arguments: Any, tool: MemoryTool) -> Mapping[str, Any]:
    example = json.dumps(dict.fromkeys(tool.required, "…"), ensure_ascii=False)
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            raise QueryError(f"the arguments of {tool.name} are no JSON; give an object such as {example}") from None
    if not isinstance(arguments, Mapping):
        raise QueryError(
            f"the arguments of {tool.name} are no object, got {_short(arguments)}; give one such as {example}"
        )
    return arguments


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 10:
        return int(value)
    return value


def _article(kind: str) -> str:
    return "a text" if kind == "string" else "a whole number"


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"
