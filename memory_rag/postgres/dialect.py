"""The store's statements in PostgreSQL's words: where values stand, and what makes a row one of its kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

OWNER: Final = "owner"
_PARTS: Final = re.compile(
    r"""(?P<literal>'(?:[^']|'')*')"""
    r"""|(?P<mark>\?(?P<number>\d+)?)"""
    r"""|(?<!:):(?P<name>[a-z_][a-z_0-9]*)"""
    r"""|(?P<same>\bIS(?P<not>\s+NOT)?(?=\s+[?:]))"""
    r"""|(?P<key>\bON\s+CONFLICT\s*\()"""
    r"""|(?P<order>\bCROSS\s+(?=JOIN\s+\w+\s+USING\b))"""
    r"""|(?P<none>(?:(?P<but>\bNOT)\s+)?\bIN\s*\(\s*\))"""
    r"""|(?P<numbers>\bsqlite_sequence\b)"""
)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A statement with its values at ``$1``, ``$2`` …; ``names`` are those of the values, if they have any."""

    statement: str
    names: tuple[str, ...] = ()

    def placed(self, values: Sequence[Any] | Mapping[str, Any]) -> Sequence[Any]:
        """Return the values in the order of their places."""
        if isinstance(values, Mapping):
            return [values[name] for name in self.names]
        return values


@lru_cache(maxsize=1024)
def in_postgres(statement: str) -> Spoken:
    """Return a statement of the store as PostgreSQL reads it; what stands in quotes stays.

    ``?``, ``?2`` and ``:name`` become ``$1``, ``$2`` …; ``IS ?`` compares with NULL too; every key that an insert may
    meet begins with the owner; ``CROSS JOIN … USING``, by which SQLite is told where to begin, is a join; a list may be
    empty; the numbers that SQLite keeps in ``sqlite_sequence`` are in ``numbers``.
    """
    names: list[str] = []
    n_places = 0

    def spoken(part: re.Match[str]) -> str:
        nonlocal n_places
        match part.lastgroup:
            case "mark":
                place = int(part["number"]) if part["number"] else n_places + 1
                n_places = max(n_places, place)
                return f"${place}"
            case "name":
                if part["name"] not in names:
                    names.append(part["name"])
                return f"${names.index(part['name']) + 1}"
            case "same":
                return "IS DISTINCT FROM" if part["not"] else "IS NOT DISTINCT FROM"
            case "key":
                return f"ON CONFLICT ({OWNER}, "
            case "order":
                return ""
            case "none":
                return "<> ALL ('{}')" if part["but"] else "= ANY ('{}')"
            case "numbers":
                return "numbers"
        return part[0]

    return Spoken(_PARTS.sub(spoken, statement), tuple(names))
