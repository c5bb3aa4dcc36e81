"""What callers give as numbers and names, checked before it is compared with anything."""

from __future__ import annotations

from typing import Any


def is_whole(value: Any, *, least: int) -> bool:
    """Tell whether a value is a whole number of at least so much; True and 3.0 are none."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def are_names(value: Any) -> bool:
    """Tell whether a value is a list of texts; one text alone isn't, though it would pass for its letters."""
    return isinstance(value, list | tuple | set | frozenset) and all(isinstance(one, str) for one in value)
