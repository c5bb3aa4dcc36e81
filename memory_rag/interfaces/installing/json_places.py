"""Where everything stands in a JSON text: a reader that keeps positions, for edits that change nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final

from memory_rag.errors import MemoryRagError

Key = str | int
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_COMMENT: Final = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_DECODER: Final = JSONDecoder()
_DEEPEST: Final = 200


class JsonTextError(MemoryRagError):
    """A text is no JSON; the message names the line and the column."""


@dataclass(slots=True)
class Node:
    """A value and the half-open range in which it stands; an object or an array has children in their order."""

    start: int
    end: int
    value: Any = None
    """Of a string, number, true, false or null."""
    kind: str = "scalar"
    children: list[Child] = field(default_factory=list)

    def child(self, key: Key) -> Child | None:
        """Return the member of this name, the last if there are several, or the item at this place."""
        if isinstance(key, int):
            return self.children[key] if self.kind == "array" and key < len(self.children) else None
        named = [one for one in self.children if one.key == key]
        return named[-1] if named and self.kind == "object" else None


@dataclass(slots=True)
class Child:
    """A member of an object or an item of an array: where it begins, its value, and the comma after it, if any."""

    key: str | None
    start: int
    node: Node
    comma: int | None = None


def parsed(text: str, *, comments: bool) -> Node:
    """Return the tree of a JSON text; with ``comments``, these and a comma before a closing bracket are passed over.

    Raises:
        JsonTextError: it isn't JSON.
    """
    reader = _Reader(text, comments)
    node, end = reader.value(reader.past_space(0), 0)
    end = reader.past_space(end)
    if end < len(text):
        raise reader.wrong(end, "there is more after the end")
    return node


def at(root: Node, path: tuple[Key, ...]) -> Node | None:
    """Return the node at a path; None if there is none."""
    node = root
    for key in path:
        child = node.child(key)
        if child is None:
            return None
        node = child.node
    return node


def value_of(node: Node) -> Any:
    """Return what a node says, as :mod:`json` would."""
    if node.kind == "object":
        return {one.key: value_of(one.node) for one in node.children}
    if node.kind == "array":
        return [value_of(one.node) for one in node.children]
    return node.value


@dataclass(slots=True)
class _Reader:
    text: str
    comments: bool

    def past_space(self, place: int) -> int:
        """Return the first place from here on that is neither space nor, where they may stand, a comment."""
        while True:
            found = _SPACE.match(self.text, place)
            place = found.end() if found else place
            comment = _COMMENT.match(self.text, place)
            if comment is None:
                return place
            if not self.comments:
                raise self.wrong(place, "a comment, which JSON doesn't have")
            place = comment.end()

    def value(self, place: int, depth: int) -> tuple[Node, int]:
        if depth > _DEEPEST:
            raise self.wrong(place, f"it is nested more than {_DEEPEST} deep")
        sign = self.text[place : place + 1]
        if sign in ("{", "["):
            node = self._container(place, depth, closing="}" if sign == "{" else "]")
            return node, node.end
        if not sign:
            raise self.wrong(place, "it ends where a value should stand")
        try:
            value, end = _DECODER.raw_decode(self.text, place)
        except (JSONDecodeError, RecursionError):
            raise self.wrong(place, "a value should stand here") from None
        return Node(place, end, value), end

    def _container(self, start: int, depth: int, *, closing: str) -> Node:
        node = Node(start, start, kind="object" if closing == "}" else "array")
        place = self.past_space(start + 1)
        while self.text[place : place + 1] != closing:
            if node.children and (last := node.children[-1]).comma is None:
                raise self.wrong(place, f"a comma or {closing} should stand here")
            child, place = self._child(place, depth, named=closing == "}")
            node.children.append(child)
            place = self.past_space(place)
            if self.text[place : place + 1] == ",":
                child.comma = place
                place = self.past_space(place + 1)
        if node.children and (last := node.children[-1]).comma is not None and not self.comments:
            raise self.wrong(last.comma, f"a comma before {closing}, which JSON doesn't have")
        node.end = place + 1
        return node

    def _child(self, place: int, depth: int, *, named: bool) -> tuple[Child, int]:
        if not named:
            node, end = self.value(place, depth + 1)
            return Child(None, place, node), end
        if self.text[place : place + 1] != '"':
            raise self.wrong(place, 'a name in quotation marks, or "}", should stand here')
        name, end = self.value(place, depth + 1)
        colon = self.past_space(end)
        if self.text[colon : colon + 1] != ":":
            raise self.wrong(colon, "a colon should stand here")
        node, end = self.value(self.past_space(colon + 1), depth + 1)
        return Child(str(name.value), place, node), end

    def wrong(self, place: int | None, what: str) -> JsonTextError:
        before = self.text[: place or 0]
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        return JsonTextError(f"line {line}, column {column}: {what}")
