"""JSON merge patch (RFC 7396): what a patch names is set, what it names as null is taken away, the rest stays."""

from __future__ import annotations

from typing import Any


def merge_patch(target: Any, patch: Any) -> Any:
    """Return the target with the patch laid over it; neither is changed. A patch that is no object takes its place."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged
