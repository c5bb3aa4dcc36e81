"""How far a long task is: a bar with rate and time left on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress

Tell = Callable[[str, int, int], None]
_BYTES: Final = frozenset({"reading"})
_SURE_AFTER_S: Final = 0.3
"""Before that, a rate says more about the start than about the task."""


@contextmanager
def progress_bar() -> Iterator[Tell | None]:
    """Give what a memory's method reports its progress to; None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    # Here and not above: a search shows no bar and starts 30 ms faster without.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[told]}"),
    )
    with Progress(
        *columns,
        console=Console(stderr=True, highlight=False),
        transient=True,
        refresh_per_second=8,
    ) as progress:
        yield _Bar(progress)


class _Bar:
    """One bar, for what is being done at the moment."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None, told="", visible=False)
        self._what = ""
        self._since = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        if what != self._what or done == 0:
            self._what, self._since = what, time.monotonic()
            self._progress.reset(self._task, total=total or None)
        self._progress.update(
            self._task,
            description=what,
            completed=done,
            total=total or None,
            told=told(what, done, total, seconds=time.monotonic() - self._since),
            visible=True,
        )


def told(what: str, done: int, total: int, *, seconds: float) -> str:
    """Return how much is done, how fast, and how long the rest will take; a total of 0 is one that isn't known."""
    parts = [_amount(what, done, total)]
    if done and seconds >= _SURE_AFTER_S:
        rate = done / seconds
        parts.append(f"{rate / 1e6:,.1f} MB/s" if what in _BYTES else f"{rate:,.0f} {_unit(what)}/s")
        if total:
            parts.append(f"{_clock((total - done) / rate)} left")
    return "  ".join(parts)


def _amount(what: str, done: int, total: int) -> str:
    if what in _BYTES:
        return f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB"
    return f"{done:,} of {total:,} {_unit(what)}" if total else f"{done:,} {_unit(what)}"


def _unit(what: str) -> str:
    if what.endswith("vectors"):
        return "vectors"
    return "questions" if what.startswith("asking") else "turns"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
