"""The rule that cuts a labelled set into the half that rules are written on and the half they are reported on."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any


def halves(rows: Iterable[Mapping[str, Any]], *, group: Callable[[Mapping[str, Any]], Hashable]) -> dict[str, str]:
    """Return ``dev`` or ``test`` by id: within each group, by the sha256 of the text, every other one is ``dev``."""
    groups: dict[Hashable, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[group(row)].append(row)
    return {
        row["id"]: "test" if place % 2 else "dev"
        for members in groups.values()
        for place, row in enumerate(sorted(members, key=_digest))
    }


def _digest(row: Mapping[str, Any]) -> str:
    return hashlib.sha256(row["text"].encode()).hexdigest()
