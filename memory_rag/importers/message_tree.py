"""The branch of a conversation that was shown last, where edits and new answers make it a tree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from memory_rag.importers.messages import as_list, as_object

FIRST_ABANDONED: Final = 1_000_000
"""The ordinal of the first message of abandoned branches: they lie after all that was shown."""
ABANDONED_SESSION: Final = "other branches"


@dataclass(frozen=True, slots=True)
class Branch:
    """The messages from the root to the shown leaf, as (node id, message), nodes without a message left out.

    ``root`` is the id of the node where the branch begins, "" for an empty tree; ``elsewhere`` are the messages of all
    other branches, as they are written; ``notes`` say what had to be guessed.
    """

    messages: tuple[tuple[str, Any], ...]
    root: str
    elsewhere: tuple[tuple[str, Any], ...]
    notes: tuple[str, ...]


def active_branch(mapping: dict[str, Any], current_node: Any) -> Branch:
    """Walk from the current node to the root; a missing or dangling one is replaced by the newest leaf.

    Where a message's parent isn't in the file, the walk goes on with what was written before it: one lost message must
    not take along all that was said before.
    """
    nodes = {node_id: as_object(node) for node_id, node in mapping.items()}
    parents = _parents(nodes)
    notes: list[str] = []
    if isinstance(current_node, str) and current_node in nodes:
        at: str | None = current_node
    else:
        at = _newest_leaf(nodes, parents)
        if at is not None:
            notes.append("current_node missing, newest leaf taken")
    path: list[str] = []
    on_path: set[str] = set()
    while at is not None:
        if at in on_path:
            notes.append("the messages' tree has a cycle, cut where it closes")
            break
        path.append(at)
        on_path.add(at)
        above = parents[at]
        if above is None:
            above = _before_the_gap(nodes, parents, at)
            if above is not None:
                notes.append("a message's parent missing, what was written before it taken")
        at = above
    path.reverse()
    messages = tuple((node_id, nodes[node_id]["message"]) for node_id in path if _has_message(nodes[node_id]))
    elsewhere = tuple(
        (node_id, node["message"]) for node_id, node in nodes.items() if node_id not in on_path and _has_message(node)
    )
    return Branch(messages, path[0] if path else "", elsewhere, tuple(notes))


def _before_the_gap(nodes: dict[str, dict[str, Any]], parents: dict[str, str | None], at: str) -> str | None:
    """Return the last message that was written before one whose parent is missing, and that isn't its sibling.

    None if it names no parent, or nothing was: a conversation's first messages may name a root that no file has.
    """
    missing = nodes[at].get("parent")
    if not (isinstance(missing, str) and missing):
        return None
    own, own_place = _time(nodes[at]), list(nodes).index(at)
    before: list[tuple[float, int, str]] = []
    for place, (name, node) in enumerate(nodes.items()):
        root, time = _root(parents, name), _time(node)
        # A file whose names were sorted since is in no order.
        is_earlier = time <= own if math.isfinite(own) and math.isfinite(time) else place < own_place
        if is_earlier and _has_message(node) and root != at and nodes[root].get("parent") != missing:
            before.append((time, place, name))
    return max(before)[-1] if before else None


def _root(parents: dict[str, str | None], at: str) -> str:
    seen: set[str] = set()
    while (above := parents[at]) is not None and at not in seen:
        seen.add(at)
        at = above
    return at


def _parents(nodes: dict[str, dict[str, Any]]) -> dict[str, str | None]:
    """Return each node's parent: the one it names, else the one that names it as a child, else None."""
    named_by = {
        child: node_id
        for node_id, node in nodes.items()
        for child in as_list(node.get("children"))
        if isinstance(child, str)
    }
    parents: dict[str, str | None] = {}
    for node_id, node in nodes.items():
        parent = node.get("parent")
        known = isinstance(parent, str) and parent in nodes
        parents[node_id] = parent if known else named_by.get(node_id)
    return parents


def _newest_leaf(nodes: dict[str, dict[str, Any]], parents: dict[str, str | None]) -> str | None:
    """Return the leaf with the latest time; of equally late ones, and without any time, the last written."""
    inner = set(parents.values())
    said = [node_id for node_id, node in nodes.items() if _has_message(node)]
    leaves = [node_id for node_id in said if node_id not in inner] or said
    return max(reversed(leaves), key=lambda leaf: _time(nodes[leaf]), default=None)


def _time(node: dict[str, Any]) -> float:
    value = as_object(node.get("message")).get("create_time")
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else -math.inf


def _has_message(node: dict[str, Any]) -> bool:
    return node.get("message") is not None
