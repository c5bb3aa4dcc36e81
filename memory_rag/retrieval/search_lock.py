"""One thread at a time at a memory's indexes, and none that was forked away from them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager


class SearchLock:
    """The lock around a memory's indexes, which threads share."""

    def __init__(self, *, refuse_if_forked: Callable[[], None]) -> None:
        self._lock = threading.RLock()
        self._refuse_if_forked = refuse_if_forked

    def held(self) -> AbstractContextManager[object]:
        """Hold the lock.

        Raises:
            StoreError: the memory was opened before this process was forked.
        """
        # Asked first: in a forked child, nobody ever gives back a lock that another thread of the parent held.
        self._refuse_if_forked()
        return self._lock

    @contextmanager
    def held_if_free(self) -> Iterator[bool]:
        """Hold the lock unless another thread does, and tell whether it is held.

        Raises:
            StoreError: the memory was opened before this process was forked.
        """
        self._refuse_if_forked()
        is_held = self._lock.acquire(blocking=False)
        try:
            yield is_held
        finally:
            if is_held:
                self._lock.release()

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """Let other threads have the lock that this thread holds once, and take it back at the end."""
        self._lock.release()
        try:
            yield
        finally:
            self._lock.acquire()
