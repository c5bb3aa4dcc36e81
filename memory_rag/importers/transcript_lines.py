"""Where a transcript changes hands: headings, bold names, or names before a colon, whichever a file uses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from memory_rag.turns import Role

Style = Literal["heading", "bold", "colon"]

ROLES: Final = {
    "user": Role.USER,
    "human": Role.USER,
    "you": Role.USER,
    "me": Role.USER,
    "prompt": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "gpt": Role.ASSISTANT,
    "gpt-4": Role.ASSISTANT,
    "claude": Role.ASSISTANT,
    "gemini": Role.ASSISTANT,
    "copilot": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "response": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "tool": Role.TOOL,
}

_NAME: Final = r"[^\W\d_][\w .'’&-]{0,39}?"
_PATTERNS: Final[dict[Style, re.Pattern[str]]] = {
    "heading": re.compile(rf"#{{1,6}} +(?:\*\*)?({_NAME})(?::\*\*|\*\*:|\*\*|:)? *()\Z"),
    "bold": re.compile(rf"(?:\*\*|__)({_NAME})(?::(?:\*\*|__)|(?:\*\*|__):)(?:[ \t]+(.*)|[ \t]*())\Z"),
    "colon": re.compile(rf"({_NAME}):(?:[ \t]+(.*)|[ \t]*())\Z"),
}
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Speakers:
    """How a file names who speaks, and which names it has."""

    style: Style
    names: frozenset[str]


def role_named(name: str) -> Role | None:
    """Return the role that a name says, None for a person's own name."""
    return ROLES.get(name.casefold())


def unfenced(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield each line with whether it stands outside of fenced code, the fences' own lines not."""
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            yield line, False
        elif found:
            fence = found[1]
            yield line, False
        else:
            yield line, True


def speakers_in(lines: Iterable[str]) -> Speakers | None:
    """Return how a text names its speakers, or None if nobody speaks in it.

    The first style counts in which a role speaks (``User``, ``Assistant`` and the like), or two names speak that each
    do so twice at least: a heading of a chapter or "Note:" alone is nobody.
    """
    counts: dict[Style, Counter[str]] = {style: Counter() for style in _PATTERNS}
    for line, outside in unfenced(lines):
        if outside:
            for style, pattern in _PATTERNS.items():
                found = pattern.match(line)
                if found:
                    counts[style][found[1]] += 1
    for wanted in (_with_roles, _with_people):
        for style, names in counts.items():
            chosen = wanted(names)
            if chosen and not (style == "heading" and wanted is _with_people):
                return Speakers(style, chosen)
    return None


def header_in(line: str, speakers: Speakers) -> tuple[str, str] | None:
    """Return who begins to speak in a line and what follows on it, or None for any other line."""
    found = _PATTERNS[speakers.style].match(line)
    return (found[1], found[2] or "") if found and found[1] in speakers.names else None


def _with_roles(names: Counter[str]) -> frozenset[str]:
    roles = frozenset(name for name in names if role_named(name) is not None)
    return roles | _with_people(names) if roles else roles


def _with_people(names: Counter[str]) -> frozenset[str]:
    often = frozenset(name for name, count in names.items() if count >= 2)
    return often if len(often) >= 2 else frozenset()
