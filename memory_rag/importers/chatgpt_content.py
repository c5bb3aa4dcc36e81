"""The content of a ChatGPT message, whose kind decides where its words are and whether search reads them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from memory_rag.importers.messages import as_list, as_object, joined, kind_of
from memory_rag.turns import Block

_SPOKEN = {"text", "audio_transcription"}
_ON_CANVAS = {"canmore.create_textdoc", "canmore.update_textdoc", "canmore.comment_textdoc"}


class Content(NamedTuple):
    """A message's words, its blocks, and whether it is talk (``recalled``) or a machine's notes."""

    text: str
    blocks: tuple[Block, ...] = ()
    recalled: bool = True


def content_of(content: Any) -> Content:
    """Return the words and blocks of any kind of content; an unknown kind is kept whole as a block."""
    if isinstance(content, str):
        return Content(content)
    fields = as_object(content)
    kind = kind_of(fields, "content_type")
    if kind in {"text", "multimodal_text"}:
        parts = fields.get("parts")
        return _of_parts(parts if isinstance(parts, list) else [_text(fields, "parts", "text")])
    if kind == "code":
        text = _text(fields, "text")
        return Content(text, (Block("code", {"language": fields.get("language")}),) if text else ())
    if kind == "execution_output":
        return Content(_text(fields, "text"), recalled=False)
    if kind == "thoughts":
        thoughts = [_text(as_object(thought), "content", "summary") for thought in as_list(fields.get("thoughts"))]
        return Content(joined([text for text in thoughts if text]), (Block("thinking", fields),), recalled=False)
    if kind == "reasoning_recap":
        return Content(_text(fields, "content"), (Block("thinking", fields),), recalled=False)
    return _unknown(fields, kind or "unknown") if fields else Content("")


def attachments_of(message: dict[str, Any]) -> tuple[Block, ...]:
    """Return the files that a message came with, by name; their bytes are not in the export's JSON."""
    listed = as_list(as_object(message.get("metadata")).get("attachments"))
    if not listed:
        return ()
    return tuple(
        Block("attachment", fields, _text(fields, "name", "file_name")) for fields in map(as_object, listed) if fields
    )


def canvas_of(recipient: str, text: str) -> tuple[Block, ...]:
    """Return what a message writes to a canvas, with the words that it puts there; none for anything else.

    A new document has a name and content, an update replacements of what its patterns match, comments their words.
    """
    if recipient not in _ON_CANVAS:
        return ()
    try:
        written = as_object(json.loads(text))
    except (ValueError, RecursionError):
        return ()
    words = [_text(written, "name"), _text(written, "content")]
    words += [_text(as_object(update), "replacement") for update in as_list(written.get("updates"))]
    words += [_text(as_object(comment), "comment") for comment in as_list(written.get("comments"))]
    said = "\n".join(word for word in words if word)
    return (Block("canvas", written, said),) if said else ()


def _unknown(fields: dict[str, Any], kind: str) -> Content:
    parts = [part for part in as_list(fields.get("parts")) if isinstance(part, str) and part]
    text = _text(fields, "text", "result", "content") or joined(parts)
    return Content(text, (Block(kind, fields),), recalled=False)


def _of_parts(parts: list[Any]) -> Content:
    """Return the parts' words joined, and the parts as blocks when more than one has words or one has none.

    What a voice message says is its transcription: words like typed ones.
    """
    if len(parts) == 1 and isinstance(parts[0], str):
        return Content(parts[0])
    said = [_spoken(part) for part in parts]
    texts = [text for text in said if text]
    blocks = [
        _block(part)
        for part, text in zip(parts, said, strict=True)
        if isinstance(part, dict) or (text and len(texts) > 1)
    ]
    return Content(joined(texts), tuple(blocks))


def _spoken(part: Any) -> str:
    if isinstance(part, str):
        return part
    return _text(part, "text") if kind_of(part, "content_type") in _SPOKEN else ""


def _block(part: Any) -> Block:
    if isinstance(part, str):
        return Block("text", {"text": part})
    kind = kind_of(part, "content_type") or "unknown"
    if "image" in kind:
        drawn = as_object(as_object(part.get("metadata")).get("dalle")).get("prompt")
        return Block("image", part, drawn if isinstance(drawn, str) else "")
    return Block("audio" if "audio" in kind else kind, part)


def _text(fields: dict[str, Any], *keys: str) -> str:
    """Return the first of the fields that holds words, "" when none does."""
    return next((fields[key] for key in keys if isinstance(fields.get(key), str) and fields[key]), "")
