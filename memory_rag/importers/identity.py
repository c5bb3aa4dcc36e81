"""Ids that stay the same when a history is exported again: from what was said, never from where it lies."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any


def digest(*values: Any) -> str:
    """Return 20 hex digits that stand for these JSON values, whatever the order of their keys."""
    canonical = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:20]


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
