"""Embedding what waits, while clients are served: a session that was imported can soon be searched by meaning."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memory_rag.errors import MemoryRagError

if TYPE_CHECKING:
    from memory_rag.memory import Memory

_PATIENCE_S: Final = 3.0
"""How long the batch at hand is waited for at the end; one that is left is embedded anew."""


def is_paid_for(embedder: str) -> bool:
    """Tell whether each text that an embedder is given may cost money."""
    return embedder.startswith("openai:")


class _StoppedError(MemoryRagError):
    """The server is being closed."""


class EmbeddingOn:
    """Embeds in a thread of its own, one run at a time; searches and writes go on meanwhile.

    A search embeds only a few turns on its way, so a large import would wait for ever. An embedder that is paid for
    isn't run unasked.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, memory: Memory) -> None:
        """Embed all that waits. Returns at once."""
        embedder = memory.settings.embedder
        if embedder == "none" or is_paid_for(embedder):
            return
        with self._lock:
            if not self._stopped.is_set() and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._run, args=(memory,), daemon=True, name="embedding")
                self._thread.start()

    def wait(self, *, timeout_s: float | None = None) -> None:
        """Wait until nothing is being embedded."""
        if self._thread is not None:
            self._thread.join(timeout_s)

    def close(self) -> None:
        """Begin nothing more, and stop after the batch at hand."""
        with self._lock:
            self._stopped.set()
        self.wait(timeout_s=_PATIENCE_S)

    def _run(self, memory: Memory) -> None:
        # What is wrong with the embedder is told by the search that has to do without it.
        with suppress(MemoryRagError):
            memory.embed(progress=self._tell)

    def _tell(self, what: str, done: int, total: int) -> None:
        if self._stopped.is_set():
            raise _StoppedError(f"stopped while {what}, {done} of {total}")
