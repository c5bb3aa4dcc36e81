"""Something that is done in a thread of its own, once it wasn't asked for for a while and nobody is in its way."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

_LOOKED_EVERY_S: Final = 0.2


class Later:
    """Does something some time after it was asked for the last time.

    ``uses`` counts what others do whom it would keep waiting, by sharing an interpreter with them: while the count
    grows it is put off, but not for longer than ``patience_s`` in all.
    The thread lives as long as something is asked for. A process that ends without closing this waits for it, but not
    for the time to pass. What fails ends the thread, as in any other; it is done again when it is asked for again.
    """

    def __init__(
        self,
        do: Callable[[], object],
        *,
        quiet_s: float,
        uses: Callable[[], int] = lambda: 0,
        patience_s: float = 0.0,
    ) -> None:
        self._do = do
        self._quiet_s = quiet_s
        self._uses = uses
        self._n_uses = 0
        self._patience_s = patience_s
        self._latest = math.inf
        self._changed = threading.Condition()
        self._due = math.inf
        self._worker: threading.Thread | None = None
        self._is_closed = False

    def ask(self) -> None:
        """Let it be done in a while; what was asked for before and isn't begun is put off until then."""
        with self._changed:
            if self._is_closed:
                return
            self._n_uses = self._uses()
            now = time.monotonic()
            self._due = now + self._quiet_s
            self._latest = self._due + self._patience_s
            if self._worker is None:
                worker = threading.Thread(target=self._work, name="memory-rag-later")
                # None can be started in a process that ends, or that has as many as it may have.
                with suppress(RuntimeError):
                    worker.start()
                    self._worker = worker

    def wait(self) -> None:
        """Wait until all is done that was asked for."""
        with self._changed:
            self._changed.wait_for(lambda: self._worker is None)

    def close(self) -> None:
        """Begin nothing more, and wait for what is being done."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self.wait()

    def _work(self) -> None:
        try:
            while self._is_to_be_done():
                self._do()
        except BaseException:
            with self._changed:
                self._has_ended()
            raise

    def _is_to_be_done(self) -> bool:
        with self._changed:
            while not self._is_closed and self._due < math.inf:
                now = time.monotonic()
                if self._n_uses != (n_uses := self._uses()):
                    self._n_uses, self._due = n_uses, min(now + self._quiet_s, self._latest)
                left = self._due - now if threading.main_thread().is_alive() else 0
                if left <= 0:
                    self._due = math.inf
                    return True
                self._changed.wait(min(left, _LOOKED_EVERY_S))
            self._has_ended()
            return False

    def _has_ended(self) -> None:
        """Let who asks from now on start another thread. Call within the lock in which nothing more was to be done."""
        self._worker = None
        self._changed.notify_all()
