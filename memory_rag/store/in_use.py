"""A connection while a thread works with it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import RLock
from typing import Any, Generic, Protocol, TypeVar

Made = TypeVar("Made")


class Opened(Protocol[Made]):
    """A thread's connection, and the lock that whoever closes it waits for."""

    connection: Made
    in_use: RLock
    n_uses: int


class InUse(Generic[Made]):
    """This thread's connection of a name, which nobody closes meanwhile, with the engine's errors turned into ours."""

    # No generator: a search enters several, at a microsecond each.
    __slots__ = ("_acquired", "_errors", "_name", "_opened")

    def __init__(
        self, acquired: Callable[[str], Opened[Made]], name: str, errors: AbstractContextManager[None]
    ) -> None:
        self._acquired = acquired
        self._name = name
        self._errors = errors

    def __enter__(self) -> Made:
        self._opened = self._acquired(self._name)
        return self._opened.connection

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self._opened.n_uses -= 1
        self._opened.in_use.release()
        self._errors.__exit__(kind, error, traceback)
