"""The content of an OpenAI message: its words, its blocks, and the files that it carries as base64."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memory_rag.importers.messages import as_list, as_object, as_written, joined, kind_of, raw_json
from memory_rag.turns import Block, Role

_BESIDE_WORDS = frozenset({"refusal", "audio", "tool_calls", "function_call"})
_TEXT_KINDS = {"text", "input_text", "output_text"}
_BLOCK_KINDS = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "audio": "audio",
    "file": "attachment",
    "input_file": "attachment",
}
_DATA_URL = re.compile(r"data:([^;,\s]*)[^,\s]*;base64,")
_MIME_OF_FORMAT = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def text_of(message: dict[str, Any]) -> str:
    """Return a message's words: its text, its text parts, or what its audio says; "" when there are none."""
    content = message.get("content")
    said = [content] if isinstance(content, str) else [_said(part) for part in as_list(content)]
    spoken = as_object(message.get("audio")).get("transcript")
    return joined([text for text in said if text]) or (spoken if isinstance(spoken, str) else "")


def blocks_of(message: dict[str, Any], role: Role) -> tuple[Block, ...]:
    """Return what a message holds beside its text, in order: parts, a refusal, calls, or the call it answers.

    Text parts are blocks as well when there are several, since the joined text doesn't show where one ends.
    """
    content = message.get("content")
    if isinstance(content, str) and role is not Role.TOOL and message.keys().isdisjoint(_BESIDE_WORDS):
        return ()
    parts = as_list(content)
    several = sum(1 for part in parts if _said(part)) > 1
    blocks = [_block(part) for part in parts if several or _said(part) is None]
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        blocks.append(Block("refusal", {"refusal": refusal}, refusal))
    if isinstance(message.get("audio"), dict):
        blocks.append(_file_block("audio", message["audio"]))
    blocks.extend(Block("tool_call", as_object(call)) for call in as_list(message.get("tool_calls")))
    if isinstance(message.get("function_call"), dict):
        blocks.append(Block("tool_call", message["function_call"]))
    if role is Role.TOOL:
        answer = {key: value for key, value in message.items() if key not in {"role", "content"}}
        blocks.append(Block("tool_result", answer))
    return tuple(blocks)


def raw_without_files(value: Any, *, written: str = "") -> str:
    """Return the JSON of a value that :func:`without_files` gives; most hold no file, which their JSON shows.

    ``written`` is how its source wrote it, if that is known.
    """
    kept = as_written(value, written)
    return raw_json(without_files(value)) if ";base64," in kept or '"data"' in kept else kept


def without_files(value: Any) -> Any:
    """Return a message with every base64 file outside its words replaced by its type and length."""
    if isinstance(value, list):
        return [without_files(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _said(value) is not None:
        return value
    kept = {key: without_files(item) for key, item in value.items()}
    for key, mime_type, length in _files(value):
        kept[key] = f"data:{mime_type};base64,[{length} characters, not stored]"
    return kept


def _said(part: Any) -> str | None:
    """Return the words of a text part, None for any other part."""
    if isinstance(part, str):
        return part
    text = part.get("text") if kind_of(part) in _TEXT_KINDS else None
    return text if isinstance(text, str) else None


def _block(part: Any) -> Block:
    if isinstance(part, str):
        return Block("text", {"text": part})
    fields = as_object(part)
    kind = str(fields.get("type", "unknown"))
    if kind in _TEXT_KINDS:
        return Block("text", fields)
    if kind == "refusal":
        return Block("refusal", fields, str(fields.get("refusal") or ""))
    return _file_block(_BLOCK_KINDS.get(kind, kind), fields if fields else {"value": part})


def _file_block(kind: str, fields: dict[str, Any]) -> Block:
    """Return the block of a part; of a base64 file in it, ``mime_type`` and ``length`` are all that stays."""
    data = without_files(fields)
    for _, mime_type, length in _all_files(fields):
        data = {**data, "mime_type": mime_type, "length": length}
    name = as_object(fields.get("file")).get("filename") or fields.get("filename")
    return Block(kind, data, name if isinstance(name, str) else "")


def _all_files(value: Any) -> Iterator[tuple[str, str, int]]:
    if isinstance(value, dict):
        yield from _files(value)
    for item in value.values() if isinstance(value, dict) else as_list(value):
        yield from _all_files(item)


def _files(fields: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Yield key, MIME type and base64 length of the files that an object holds itself."""
    for key, value in fields.items():
        if not isinstance(value, str):
            continue
        url = _DATA_URL.match(value)
        if url and key != "text" and key != "content":
            yield key, url[1] or "text/plain", len(value) - url.end()
        elif key == "data" and not fields.keys().isdisjoint(("format", "expires_at")):
            written = str(fields.get("format", "*"))
            yield key, _MIME_OF_FORMAT.get(written, f"audio/{written}"), len(value)
