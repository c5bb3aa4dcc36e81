"""Files that tell only as a whole what a part of them means, and so are read twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

T = TypeVar("T")

HELD_BYTES: Final = 1 << 22
"""Most sessions and chats are smaller; parsed, so much takes some 40 MB."""


def read_twice(read: Callable[[], Iterable[T]], *, size: int) -> Callable[[], Iterable[T]]:
    """Return what gives a file's pieces each time: a small one is read and kept, a large one read anew."""
    if size > HELD_BYTES:
        return read
    held = list(read())
    return lambda: held
