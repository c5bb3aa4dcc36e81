"""Work between requests: what waits is embedded and indexed, so that the next search finds all of it ready."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final

from memory_rag.errors import MemoryRagError

if TYPE_CHECKING:
    from memory_rag.memory import Memory

_LOG: Final = logging.getLogger(__name__)
_PAUSE_S: Final = 0.05
"""Before a run, so long nothing was asked for: one run does for many, and none is in the way of an answer's end."""
_LATEST_S: Final = 1.0
"""After so long a run begins, however much is asked for."""
_PATIENCE_S: Final = 3.0
"""How long the batch at hand is waited for at the end; one that is left is embedded anew."""
_ANY_QUESTION: Final = "What did I say in January 2024?"
"""With a month in it, since a search sorts the days of all turns for the first question that names one."""


def is_paid_for(embedder: str) -> bool:
    """Tell whether each text that an embedder is given may cost money."""
    return embedder.startswith("openai:")


class _StoppedError(MemoryRagError):
    """The server is being closed."""


class CatchingUp:
    """Works in a thread of its own, one run at a time; searches and writes go on meanwhile.

    A search embeds only a few turns on its way, so a large import would wait for ever; and the first search after a
    turn was stored would have to make anew, over all turns, what the next ones share. An embedder that is paid for
    isn't run unasked.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._asked = threading.Event()
        self._thread: threading.Thread | None = None
        self._wanted: Memory | None = None

    def begin(self, memory: Memory) -> None:
        """Catch up with all that is stored by now. Returns at once."""
        with self._lock:
            if self._stopped.is_set():
                return
            self._wanted = memory
            self._asked.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True, name="catching up")
                self._thread.start()

    def wait(self, *, timeout_s: float | None = None) -> None:
        """Wait until nothing is left to be done."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def close(self) -> None:
        """Begin nothing more, and stop after the batch at hand."""
        self._stopped.set()
        self._asked.set()
        self.wait(timeout_s=_PATIENCE_S)

    def _run(self) -> None:
        while True:
            self._pause()
            with self._lock:
                memory, self._wanted = self._wanted, None
                if memory is None or self._stopped.is_set():
                    self._thread = None
                    return
            try:
                self._catch_up(memory)
            except MemoryRagError:
                # What is wrong with the embedder is told by the search that has to do without it.
                continue
            except Exception:
                # The next run may well do better; without this one, searches are slower and no worse.
                _LOG.exception("what waits couldn't be embedded")

    def _pause(self) -> None:
        """Wait until nothing was asked for during a pause, or for long enough."""
        latest = time.monotonic() + _LATEST_S
        self._asked.clear()
        while self._asked.wait(_PAUSE_S) and time.monotonic() < latest and not self._stopped.is_set():
            self._asked.clear()

    def _catch_up(self, memory: Memory) -> None:
        is_free = not is_paid_for(memory.settings.embedder)
        if is_free:
            memory.embed(progress=self._tell)
        memory.search(_ANY_QUESTION, k=1, mode="hybrid" if is_free else "keyword")

    def _tell(self, what: str, done: int, total: int) -> None:
        if self._stopped.is_set():
            raise _StoppedError(f"stopped while {what}, {done} of {total}")
