"""The text of a Slack message: its three escapes undone, and the people and places that it names by id."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from memory_rag.turns import Block

_MENTION: Final = re.compile(r"<([@#])([A-Z0-9]+)(?:\|([^<>]*))?>")


def unescaped(text: str) -> str:
    """Return a text with ``&lt;``, ``&gt;`` and ``&amp;`` undone, which is all that Slack escapes."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def mentions(text: str, names: Mapping[str, str]) -> tuple[Block, ...]:
    """Return a block for each person and channel that a raw text names by id, by whose name it is found."""
    found: dict[str, Block] = {}
    for sign, native_id, label in _MENTION.findall(text):
        name = label or names.get(native_id, "")
        if name:
            found.setdefault(native_id, Block("mention", {"id": native_id}, f"{sign}{name}"))
    return tuple(found.values())
