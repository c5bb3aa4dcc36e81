"""Changing one place of a JSON text; every byte that isn't part of it stays."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from memory_rag.interfaces.installing.json_places import JsonTextError, Key, Node, at, parsed, value_of

Path = tuple[Key, ...]
_FIRST_INDENT: Final = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_LINE_REST: Final = re.compile(r"[ \t]*(//[^\r\n]*|/\*[^\r\n]*?\*/)?[ \t]*(?=[\r\n]|$)")


@dataclass(frozen=True, slots=True)
class JsonText:
    """A JSON text whose root is an object; each change returns a new one.

    ``comments``: these, and a comma before a closing bracket, may stand in it, and stay.
    """

    text: str
    comments: bool = False

    def __post_init__(self) -> None:
        if self.text.strip() and self._root().kind != "object":
            raise JsonTextError("line 1, column 1: an object, { … }, should stand here")

    def get(self, *path: Key) -> Any:
        """Return the value at a path; None if there is none."""
        node = at(self._root(), path)
        return None if node is None else value_of(node)

    def has(self, *path: Key) -> bool:
        return at(self._root(), path) is not None

    def length(self, *path: Key) -> int:
        """Return how many members or items there are at a path; 0 if it is neither object nor array."""
        node = at(self._root(), path)
        return 0 if node is None else len(node.children)

    def with_value(self, path: Path, value: Any) -> JsonText:
        """Return the text with a value at a path; objects on the way that are missing are made.

        Raises:
            JsonTextError: what is on the way is no object.
        """
        root = self._root()
        known = 0
        while known < len(path) and at(root, path[: known + 1]) is not None:
            known += 1
        if known == len(path):
            node = _node(root, path)
            if value_of(node) == value:
                return self
            return self._replaced(node.start, node.end, self._dumped(value, self._indent_at(node.start)))
        for key in reversed(path[known + 1 :]):
            value = {key: value}
        container = _node(root, path[:known])
        if container.kind != "object":
            raise self._wrong(path[:known], container, "an object")
        return self._added(container, f"{json.dumps(path[known], ensure_ascii=False)}: ", value)

    def with_item(self, path: Path, value: Any) -> JsonText:
        """Return the text with an item more at the end of the array at a path, which is made if it is missing.

        Raises:
            JsonTextError: what is there is no array.
        """
        node = at(self._root(), path)
        if node is None:
            return self.with_value(path, [value])
        if node.kind != "array":
            raise self._wrong(path, node, "an array")
        return self._added(node, "", value)

    def without(self, path: Path) -> JsonText:
        """Return the text without the member or item at a path; unchanged if there is none."""
        parent = at(self._root(), path[:-1])
        child = None if parent is None else parent.child(path[-1])
        if parent is None or child is None:
            return self
        place = next(number for number, one in enumerate(parent.children) if one is child)
        if len(parent.children) == 1:
            inside = self.text[parent.start + 1 : parent.end - 1]
            own = self.text[child.start : (child.comma or child.node.end - 1) + 1]
            if inside.replace(own, "", 1).strip() == "":
                return self._replaced(parent.start + 1, parent.end - 1, "")
        before = self.text[: child.start]
        start = len(before.rstrip(" \t"))
        end = child.node.end if child.comma is None else child.comma + 1
        if before[:start].endswith("\n") and (rest := _LINE_REST.match(self.text, end)):
            # It has its lines for itself, but for the comma: they go whole.
            start -= 2 if before[:start].endswith("\r\n") else 1
            end = rest.end()
        elif place + 1 < len(parent.children):
            start, end = child.start, parent.children[place + 1].start
        shorter = self.text[:start] + self.text[end:]
        last = place == len(parent.children) - 1 and place > 0 and child.comma is None
        comma = parent.children[place - 1].comma if last else None
        return JsonText(shorter if comma is None else shorter[:comma] + shorter[comma + 1 :], self.comments)

    def _root(self) -> Node:
        return _tree(self.text if self.text.strip() else "{}", self.comments)

    def _added(self, container: Node, name: str, value: Any) -> JsonText:
        """Return the text with a child more at the end of an object or array."""
        text = self.text if self.text.strip() else "{}"
        line_end = "\r\n" if "\r\n" in text else "\n"
        closing = container.end - 1
        inside = text[container.start + 1 : closing]
        outer = self._indent_at(container.start)
        if container.children and "\n" not in inside:
            last = container.children[-1]
            new = f", {name}{json.dumps(value, ensure_ascii=False)}"
            cut = last.node.end if last.comma is None else last.comma
            return JsonText(
                text[:cut] + new + text[last.node.end if last.comma is None else last.comma + 1 :], self.comments
            )
        if not container.children and not inside.strip():
            indent = outer + self._unit()
            new = f"{line_end}{indent}{name}{self._dumped(value, indent)}{line_end}{outer}"
            return JsonText(text[: container.start + 1] + new + text[closing:], self.comments)
        indent = self._indent_at(container.children[0].start) if container.children else outer + self._unit()
        end = len(text[:closing].rstrip())
        new = f"{line_end}{indent}{name}{self._dumped(value, indent)}"
        if not container.children:
            return JsonText(text[:end] + new + text[end:], self.comments)
        last = container.children[-1]
        if last.comma is not None:
            # Here a comma ends every line.
            return JsonText(text[:end] + new + "," + text[end:], self.comments)
        return JsonText(text[: last.node.end] + "," + text[last.node.end : end] + new + text[end:], self.comments)

    def _replaced(self, start: int, end: int, new: str) -> JsonText:
        return JsonText(self.text[:start] + new + self.text[end:], self.comments)

    def _dumped(self, value: Any, indent: str) -> str:
        unit = self._unit()
        lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
        line_end = "\r\n" if "\r\n" in self.text else "\n"
        return (line_end + indent).join(lines)

    def _unit(self) -> str:
        found = _FIRST_INDENT.search(self.text)
        return found[1] if found else "  "

    def _indent_at(self, place: int) -> str:
        """Return the white space with which the line of a place begins."""
        line = self.text[self.text.rfind("\n", 0, place) + 1 : place]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _wrong(self, path: Path, node: Node, wanted: str) -> JsonTextError:
        line = self.text.count("\n", 0, node.start) + 1
        name = ".".join(map(str, path)) or "the whole"
        return JsonTextError(f"line {line}: {name} is {self.text[node.start : node.end][:40]}, not {wanted}")


@lru_cache(maxsize=2)
def _tree(text: str, comments: bool) -> Node:
    # Claude Code's file has megabytes, and one change asks for several places of it.
    return parsed(text, comments=comments)


def _node(root: Node, path: Path) -> Node:
    node = at(root, path)
    if node is None:
        raise KeyError(path)
    return node
