"""Ids that stay the same when a history is exported again: from what was said, never from where it lies."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

_NO_ID: Final = re.compile("[\0\ud800-\udfff]")
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def digest(*values: Any) -> str:
    """Return 20 hex digits that stand for these JSON values, whatever the order of their keys."""
    return hashlib.sha256(_CANONICAL.encode(values).encode()).hexdigest()[:20]


def is_storable(value: str) -> bool:
    """Whether a string can be an id: 1 to 1000 characters without NUL and lone surrogates."""
    if not 0 < len(value) <= 1000:
        return False
    return "\0" not in value if value.isascii() else _NO_ID.search(value) is None


@dataclass(slots=True)
class DistinctIds:
    """Keeps ids apart: the second ``a`` becomes ``a#2``, so nothing is taken for something already stored.

    The number is that of the occurrence, so it doesn't change when more follows later.
    """

    _seen: dict[str, int] = field(default_factory=dict)

    def distinct(self, native_id: str) -> str:
        """Return the id itself the first time, then with the number of its occurrence."""
        candidate = native_id
        while candidate in self._seen:
            self._seen[native_id] += 1
            candidate = f"{native_id}#{self._seen[native_id]}"
        self._seen[candidate] = 1
        return candidate
