"""The memory behind a server that runs for weeks: opened when it is first needed, and again when it was replaced."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memory_rag.errors import MemoryRagError, NotAMemoryError
from memory_rag.interfaces.serving.catching_up import CatchingUp

if TYPE_CHECKING:
    from memory_rag.memory import Memory

Open = Callable[[bool], "Memory"]
"""Opens the memory; told whether to make it if it isn't there."""


class LiveMemory:
    """One memory for all threads of a server.

    Nothing is opened before it is needed, so that a server starts at once, also where there is no memory yet. If the
    file of words is another than the one that was opened (restored from a backup, removed and made anew), the new one
    is opened: words must not go into a file that has no name any more. A memory on a PostgreSQL server stays open.
    """

    def __init__(self, place: Path | str, opened: Open) -> None:
        """Take a folder, or how messages name a memory that has none."""
        self.folder = place if isinstance(place, Path) else None
        self.place = str(place)
        self._open = opened
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._file: tuple[int, int] | None = None
        self._left: list[Memory] = []
        self.catching_up = CatchingUp()
        """What embeds and indexes between requests."""

    def get(self, *, create: bool = False) -> Memory:
        """Return the memory; one that isn't there is made only if ``create``.

        Raises:
            NotAMemoryError: there is none.
        """
        with self._lock:
            if self.folder is None:
                return self._on_server(create=create)
            present = self._present()
            if self._memory is None or present != self._file:
                if self._memory is not None:
                    # Another thread may be reading from it: it is closed at the end.
                    self._left.append(self._memory)
                    self._memory = None
                if present is None and not create:
                    raise self._nothing_yet()
                self._memory = self._open(create)
                self._file = self._present()
            return self._memory

    def _on_server(self, *, create: bool) -> Memory:
        if self._memory is None:
            try:
                self._memory = self._open(create)
            except NotAMemoryError as error:
                raise self._nothing_yet() from error
        return self._memory

    def _nothing_yet(self) -> NotAMemoryError:
        return NotAMemoryError(
            f"nothing is stored yet: {self.place} holds no memory. The tool add_turn makes one; so does "
            "memory-rag import on a command line"
        )

    def close(self) -> None:
        """Close what was opened."""
        self.catching_up.close()
        with self._lock:
            for memory in (*self._left, *([self._memory] if self._memory else [])):
                with suppress(MemoryRagError):
                    memory.close()
            self._left, self._memory, self._file = [], None, None

    def is_absent(self) -> bool:
        """Tell a memory that isn't there yet from one that is there, damaged or not."""
        if self.folder is not None:
            return not self._words.exists()
        try:
            self.get()
        except MemoryRagError as error:
            return isinstance(error, NotAMemoryError)
        return False

    def when_changed(self) -> tuple[int, float] | None:
        """Return the bytes of the file of words and when it last changed (seconds since 1970), without opening it.

        None if there is no such file, or none to look at.
        """
        if self.folder is not None:
            with suppress(OSError):
                found = self._words.stat()
                return found.st_size, found.st_mtime
        return None

    @property
    def _words(self) -> Path:
        return (self.folder or Path()) / "turns.sqlite"

    def _present(self) -> tuple[int, int] | None:
        """Return what tells the file of words from another that takes its place; None if there is none."""
        with suppress(OSError):
            found = self._words.stat()
            return found.st_dev, found.st_ino
        return None
