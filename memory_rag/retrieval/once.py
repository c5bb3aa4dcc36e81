"""Values that are worked out when they are first asked for, once for each object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class once(Generic[Value]):
    """As ``functools.cached_property``, for objects that one thread uses at a time.

    That one takes a lock in Python 3.11, at three times the time, and a search asks for twenty such values.
    """

    def __init__(self, work: Callable[[Any], Value]) -> None:
        self._work = work
        self._name = work.__name__
        self.__doc__ = work.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object, owner: type) -> Self | Value:
        if instance is None:
            return self
        # Found there from now on, before this is asked again.
        value = instance.__dict__[self._name] = self._work(instance)
        return value
