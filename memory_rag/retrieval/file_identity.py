"""Which file of ids it is that was read, and whether it, or the vectors beside it, were written to since."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Self

from memory_rag.retrieval.vector_blocks import HEAD

Look = tuple[int, int, int, int]
"""What shows that a file was written to: device, inode, size and time."""


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """Which file it is: its inode, and the head of its first block, since an inode's number is soon given again."""

    device: int
    inode: int
    n_bytes: int
    head: bytes

    @classmethod
    def of(cls, file: FileIO) -> Self:
        status = os.fstat(file.fileno())
        return cls(status.st_dev, status.st_ino, status.st_size, file.read(HEAD.itemsize))

    def continues(self, earlier: FileIdentity) -> bool:
        """Tell whether this may be the earlier file with more at its end."""
        return (self.device, self.inode, self.head) == (earlier.device, earlier.inode, earlier.head)


def look_at(path: Path) -> Look | None:
    """Return what shows that a file was written to; None without a file."""
    try:
        status = os.stat(path)  # noqa: PTH116  half the time of Path's, and every search asks it
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
