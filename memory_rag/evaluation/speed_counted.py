"""Work that is counted and not timed: the same on a busy machine, so that a slow-down of a few percent is seen."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from types import FrameType
from typing import Any, Final, Protocol, Self

_LEAST_BYTES: Final = 1024
"""A line that takes less memory takes it for a few objects, not for an array."""
_FEW_BYTES: Final = 4096
"""A dict or list that happens to grow meanwhile, of whoever's thread, takes up to so many; an array of turns more."""
TOLERANCE: Final = 0.15


@dataclass(frozen=True, slots=True)
class Work:
    """Lines of Python executed, bytes that lines took for arrays, and steps of SQLite's machine."""

    lines: int
    array_bytes: int
    sql_steps: int

    @classmethod
    def of_json(cls, found: Mapping[str, int]) -> Self:
        return cls(**{field.name: found[field.name] for field in fields(cls)})

    def as_json(self) -> dict[str, int]:
        return asdict(self)

    def more_than(self, before: Work, *, tolerance: float = TOLERANCE) -> list[str]:
        """Say of each count that grew by more than the tolerance, by how much; empty if none did."""
        grown = []
        for field in fields(self):
            was, now = getattr(before, field.name), getattr(self, field.name)
            least = _FEW_BYTES if field.name == "array_bytes" else 0
            if now - was > max(was * tolerance, least):
                grown.append(f"{field.name.replace('_', ' ')}: {was:,} -> {now:,} ({now / max(was, 1) - 1:+.0%})")
        return grown


class CountedConnection(Protocol):
    """What is asked of a SQLite connection here."""

    def set_progress_handler(self, handler: Callable[[], int | None] | None, n: int, /) -> None: ...


class _Counter:
    """Counts while it is the trace function of this thread."""

    def __init__(self) -> None:
        self.lines = 0
        self.array_bytes = 0
        self.sql_steps = 0
        self._before = 0

    def call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self.line

    def line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.lines += 1
            self.look()
        return self.line

    def look(self) -> None:
        """Count what was taken since the last look at its most, whether or not it was given back."""
        now, most = tracemalloc.get_traced_memory()
        taken = most - self._before
        if taken >= _LEAST_BYTES:
            self.array_bytes += taken
        tracemalloc.reset_peak()
        self._before = now

    def step(self) -> None:
        self.sql_steps += 1

    def begin(self) -> None:
        tracemalloc.reset_peak()
        self._before = tracemalloc.get_traced_memory()[0]


def counted(work: Callable[[], object], connections: Iterable[CountedConnection] = ()) -> Work:
    """Return what one call does in this thread, what these SQLite connections do for it included.

    Neither a warm cache nor the garbage collector changes a count; a call that fills a cache should go before.
    """
    counter = _Counter()
    with _tracing_memory(), _steps_counted(counter, list(connections)), _without_collecting():
        before = sys.gettrace()
        counter.begin()
        sys.settrace(counter.call)
        try:
            work()
        finally:
            sys.settrace(before)
            counter.look()
    return Work(counter.lines, counter.array_bytes, counter.sql_steps)


@contextmanager
def _tracing_memory() -> Iterator[None]:
    started = not tracemalloc.is_tracing()
    if started:
        tracemalloc.start(1)
    try:
        yield
    finally:
        if started:
            tracemalloc.stop()


@contextmanager
def _steps_counted(counter: _Counter, connections: list[CountedConnection]) -> Iterator[None]:
    for connection in connections:
        connection.set_progress_handler(counter.step, 1)
    try:
        yield
    finally:
        for connection in connections:
            connection.set_progress_handler(None, 0)


@contextmanager
def _without_collecting() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
