"""Which files a test's code waits for until the disk has them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

NAMES_FILES = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="needs /proc, in which an open file is told by its number"
)


class Disk:
    """The endings of the files that were waited for since it was made, in their order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waited_for: list[str] = []
        fsync = os.fsync

        def noted(descriptor: int) -> None:
            self.waited_for.append(Path(f"/proc/self/fd/{descriptor}").readlink().suffix)
            fsync(descriptor)

        monkeypatch.setattr(os, "fsync", noted)
