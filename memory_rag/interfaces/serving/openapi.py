"""What the API takes, as far as this server reads it; the upstream decides about the rest."""

from __future__ import annotations

from typing import Any, Final

CHAT_BODY: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["model", "messages"],
    "additionalProperties": True,
    "properties": {
        "model": {"type": "string", "description": "The upstream's model, or model::memory."},
        "messages": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["role"],
                "additionalProperties": True,
                "properties": {
                    "role": {"type": "string", "enum": ["system", "developer", "user", "assistant", "tool"]},
                    "content": {
                        "anyOf": [
                            {"type": "string"},
                            {"type": "null"},
                            {"type": "array", "items": {"type": "object"}},
                        ]
                    },
                },
            },
        },
        "stream": {"type": "boolean"},
        "n": {"type": "integer", "minimum": 1},
    },
}
EMBEDDINGS_BODY: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["model", "input"],
    "additionalProperties": True,
    "properties": {"model": {"type": "string"}, "input": {"anyOf": [{"type": "string"}, {"type": "array"}]}},
}
JSON_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"description": what}
    for status, what in (
        (400, "the request can't be read"),
        (404, "no such memory"),
        (413, "too large"),
        (502, "the upstream can't be reached"),
        (503, "no upstream is set"),
        (504, "the upstream didn't answer in time"),
    )
}
