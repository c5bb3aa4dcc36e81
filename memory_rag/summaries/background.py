"""Work on conversations that is done between turns, one after the other, in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

_HERE: Final = threading.local()
_PAUSE_S: Final = 0.0001


def give_way() -> None:
    """Let other threads go first, if this one works in the background; to be called every fraction of a millisecond.

    A thread that computes keeps Python's lock for 5 ms at a time, and an ``add`` asks for it about eight times: beside
    an extractive summary it took 42 ms.
    """
    if getattr(_HERE, "is_background", False):
        time.sleep(_PAUSE_S)


class Background:
    """Does something for each conversation that was named since; naming one returns at once.

    The thread starts when the first is named, and doesn't keep a process from ending.
    """

    def __init__(self, do: Callable[[str], None]) -> None:
        self._do = do
        self._waiting: dict[str, None] = {}
        self._is_busy = False
        self._changed = threading.Condition()
        self._worker: threading.Thread | None = None
        self._closed = False

    def name(self, conversation_id: str) -> None:
        """Let a conversation be worked on; once, however often it is named before its turn comes."""
        with self._changed:
            if self._closed:
                return
            self._waiting[conversation_id] = None
            if self._worker is None:
                self._start()
            self._changed.notify_all()

    def wait(self, *, timeout_s: float | None) -> bool:
        """Wait until nothing is left to do; False if it took longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._is_busy, timeout_s)

    def close(self) -> None:
        """Begin nothing more; what is being done isn't waited for."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _start(self) -> None:
        self._worker = threading.Thread(target=self._work, name="summaries", daemon=True)
        self._worker.start()

    def _work(self) -> None:
        _HERE.is_background = True
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    self._waiting.clear()
                    self._changed.notify_all()
                    return
                # Named anew while it is worked on, it is worked on again.
                conversation_id = next(iter(self._waiting))
                del self._waiting[conversation_id]
                self._is_busy = True
            is_done = False
            try:
                self._do(conversation_id)
                is_done = True
            finally:
                with self._changed:
                    self._is_busy = False
                    if not is_done:
                        # This thread ends with the fault; what waits, or is named later, gets another.
                        self._worker = None
                        if self._waiting:
                            self._start()
                    self._changed.notify_all()
