"""Whether a file that is open is still the one at its path, and of the process that opened it."""

from __future__ import annotations

import os
from pathlib import Path


class OpenFile:
    """A file as it was when it was opened, in the process that opened it."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._opened = os.stat(self._path)  # noqa: PTH116  half the time of Path's, and it is asked at each use
        self.pid = os.getpid()

    def is_in_place(self) -> bool:
        """Tell whether it is still the file at its path."""
        try:
            return os.path.samestat(os.stat(self._path), self._opened)  # noqa: PTH116
        except OSError:
            return False
