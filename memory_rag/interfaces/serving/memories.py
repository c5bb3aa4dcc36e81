"""The memories that a server serves: its own, and others under the home folder by name."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from memory_rag.errors import NotAMemoryError
from memory_rag.interfaces.serving.live_memory import LiveMemory

OpenNamed = Callable[[str], LiveMemory]


class Memories:
    """Opens each memory when it is first asked for. Only memories that are there can be named: a typo makes none."""

    def __init__(
        self, own: LiveMemory, *, name: str, home: Path | None = None, opened: OpenNamed | None = None
    ) -> None:
        self.own = own
        self.name = name
        self._home = home
        self._opened = opened
        self._others: dict[str, LiveMemory] = {}
        self._lock = threading.Lock()

    def get(self, name: str | None = None) -> LiveMemory:
        """Return a memory by its name; the server's own without one.

        Raises:
            NotAMemoryError: there is none of this name.
        """
        if name is None or name == self.name:
            return self.own
        if self._home is None:
            raise NotAMemoryError(f"this server has no memory {name!r}; the one it serves is {self.name}, and no other")
        if self._opened is None or name not in self.names():
            raise NotAMemoryError(
                f"this server has no memory {name!r}; it has: {', '.join(self.names())}; make one with: "
                f"memory-rag import --memory {name}"
            )
        with self._lock:
            if name not in self._others:
                self._others[name] = self._opened(name)
            return self._others[name]

    def names(self) -> list[str]:
        """Return the names that can be asked for, the server's own first."""
        found = [] if self._home is None else sorted(path.parent.name for path in self._home.glob("*/turns.sqlite"))
        return [self.name, *(name for name in found if name != self.name)]

    def close(self) -> None:
        for live in (self.own, *self._others.values()):
            live.close()
