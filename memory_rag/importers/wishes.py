"""What the user wants of a file beyond its format: only what is newer, and people under other names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from memory_rag.errors import ImportFormatError
from memory_rag.turns import Role, Turn


@dataclass(frozen=True, slots=True)
class SpeakerMap:
    """Other names for speakers, by the name in the file; ``assistant:Nova`` gives a role as well as a name."""

    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, given: Iterable[str]) -> Self:
        """Read ``OLD=NEW`` pairs, and JSON files of ``{"OLD": "NEW"}``; of two for a name the later counts.

        Raises:
            ImportFormatError: one is neither.
        """
        names: dict[str, str] = {}
        for one in given:
            old, equals, new = one.partition("=")
            if equals and old and new:
                names[old] = new
            else:
                names.update(_read(Path(one)))
        return cls(names)

    def applied(self, turn: Turn) -> Turn:
        """Return a turn with its speaker's other name, and the role that stands before it, if any."""
        named = self.names.get(turn.speaker)
        if named is None:
            return turn
        before, colon, after = named.partition(":")
        if colon and after and before in list(Role):
            return replace(turn, speaker=after, role=Role(before))
        return replace(turn, speaker=named)


def _read(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ImportFormatError(
            f"speaker map {str(path)!r} is neither OLD=NEW nor a JSON file that can be read ({error}); "
            'write --speaker-map "Old name=New name"'
        ) from error
    if not isinstance(found, dict) or not all(isinstance(name, str) and name for name in found.values()):
        raise ImportFormatError(f'{path}: no speaker map; it is a JSON object such as {{"Old name": "New name"}}')
    return found
