"""The text of a Slack message: its three escapes undone, and the people and places that it names by id."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from memory_rag.importers.messages import as_list, as_object
from memory_rag.turns import Block

_MENTION: Final = re.compile(r"<([@#])([A-Z0-9]+)(?:\|([^<>]*))?>")


def unescaped(text: str) -> str:
    """Return a text with ``&lt;``, ``&gt;`` and ``&amp;`` undone, which is all that Slack escapes."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def laid_out(blocks: Any, names: Mapping[str, str]) -> tuple[Block, ...]:
    """Return the words of a message that a program laid out in blocks, as one block; without words none."""
    words = list(_words(blocks, names))
    return (Block("layout", {"blocks": blocks}, " ".join(words)),) if words else ()


def _words(value: Any, names: Mapping[str, str]) -> Iterator[str]:
    """Yield the words of layout blocks, in the order in which they are shown."""
    for fields in map(as_object, as_list(value)):
        text = fields.get("text")
        if isinstance(text, str) and text.strip():
            yield text
        named = names.get(str(fields.get("user_id") or fields.get("channel_id")))
        if named:
            yield named
        yield from _words([one for one in (text, fields.get("accessory")) if isinstance(one, dict)], names)
        for inner in ("elements", "fields"):
            yield from _words(fields.get(inner), names)


def mentions(text: str, names: Mapping[str, str]) -> tuple[Block, ...]:
    """Return a block for each person and channel that a raw text names by id, by whose name it is found."""
    found: dict[str, Block] = {}
    for sign, native_id, label in _MENTION.findall(text):
        name = label or names.get(native_id, "")
        if name:
            found.setdefault(native_id, Block("mention", {"id": native_id}, f"{sign}{name}"))
    return tuple(found.values())
