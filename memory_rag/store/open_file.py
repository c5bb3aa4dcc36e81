"""Whether a file that is open is still the one at its path, and of the process that opened it."""

from __future__ import annotations

import os
from pathlib import Path


class OpenFile:
    """A file as it was when it was opened, in the process that opened it."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._opened = self._at_path()
        self.pid = os.getpid()

    def is_in_place(self) -> bool:
        """Tell whether it is still the file at its path."""
        try:
            return os.path.samestat(self._at_path(), self._opened)
        except OSError:
            return False

    def _at_path(self) -> os.stat_result:
        # Half the time of Path's, and it is asked at each use. A link that has come to the file's place isn't followed:
        # SQLite writes its log beside the file that it leads to.
        return os.lstat(self._path)
