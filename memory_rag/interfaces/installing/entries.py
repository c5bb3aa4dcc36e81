"""The memory's entry among a program's MCP servers, and its hooks: put in, renewed, taken out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from memory_rag.interfaces.installing.json_edit import JsonText

HOOK_TIMEOUTS_S: Final[Mapping[str, int]] = {"PreCompact": 30, "SessionStart": 30, "SessionEnd": 30}
"""The events that are hooked into, and how long Claude Code waits for each; ours ends earlier by itself."""
_OURS: Final = re.compile(r"memory[-_]rag\b.*\bhook claude-code\b", re.DOTALL)


def with_server(settings: JsonText, *, servers: str, name: str, entry: Mapping[str, Any]) -> JsonText:
    """Return settings with an entry; of one that is there, what isn't ours stays, such as other variables."""
    if not isinstance(settings.get(servers, name), dict):
        return settings.with_value((servers, name), dict(entry))
    for key, value in entry.items():
        if key == "env" and isinstance(settings.get(servers, name, "env"), dict):
            for variable, given in value.items():
                settings = settings.with_value((servers, name, "env", variable), given)
        else:
            settings = settings.with_value((servers, name, key), value)
    return settings


def without_server(settings: JsonText, *, servers: str, name: str) -> JsonText:
    """Return settings without an entry, and without the list if it was the only one."""
    if not settings.has(servers, name):
        return settings
    settings = settings.without((servers, name))
    return settings if settings.length(servers) else settings.without((servers,))


def with_hooks(settings: JsonText, *, command: str) -> JsonText:
    """Return Claude Code's settings with our hook at each event, once; other hooks stay."""
    for event, timeout_s in HOOK_TIMEOUTS_S.items():
        hook = {"type": "command", "command": command, "timeout": timeout_s}
        there = _ours(settings, event)
        if not there:
            settings = settings.with_item(("hooks", event), {"hooks": [hook]})
            continue
        for key, value in hook.items():
            settings = settings.with_value((*there[0], key), value)
        settings = _without(settings, event, there[1:])
    return settings


def without_hooks(settings: JsonText) -> JsonText:
    """Return Claude Code's settings without any hook of ours."""
    events = settings.get("hooks")
    if not isinstance(events, dict):
        return settings
    for event in events:
        settings = _without(settings, event, _ours(settings, event))
    return settings


def _ours(settings: JsonText, event: str) -> list[tuple[str | int, ...]]:
    """Return where our hooks stand among those of an event."""
    groups = settings.get("hooks", event)
    return [
        ("hooks", event, number, "hooks", place)
        for number, group in enumerate(groups if isinstance(groups, list) else ())
        for place, hook in enumerate(_list(group))
        if isinstance(hook, dict) and isinstance(hook.get("command"), str) and _OURS.search(hook["command"])
    ]


def _without(settings: JsonText, event: str, places: Sequence[tuple[str | int, ...]]) -> JsonText:
    """Return settings without these hooks, and without whatever held nothing else."""
    for place in reversed(places):
        settings = settings.without(place)
        for holder, holds in ((place[:3], place[:4]), (place[:2], place[:2]), (place[:1], place[:1])):
            if settings.length(*holds):
                break
            settings = settings.without(holder)
    return settings


def _list(group: Any) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []
