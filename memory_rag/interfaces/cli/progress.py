"""How far a long task is: a bar with rate and time left on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Tell = Callable[[str, int, int], None]
_BYTES = frozenset({"reading", "copying"})


@contextmanager
def progress_bar() -> Iterator[Tell | None]:
    """Give what a memory's method reports its progress to; None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    # Here and not above: a search shows no bar and starts 30 ms faster without.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, highlight=False)
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[amount]:>20}"),
        TextColumn("{task.fields[rate]:>14}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=console, transient=True, refresh_per_second=8) as progress:
        yield _Bars(progress)


class _Bars:
    """One bar for each thing that is being done, in the order in which they begin."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        task = self._tasks.get(what)
        if task is None or (done == 0 and self._progress.tasks[task].finished):
            task = self._progress.add_task(what, total=total or None, amount="", rate="")
            self._tasks[what] = task
        speed = self._progress.tasks[task].speed
        self._progress.update(
            task,
            completed=done,
            total=total or None,
            amount=_amount(what, done, total),
            rate="" if not speed else f"{_quantity(what, speed)}/s",
        )


def _amount(what: str, done: int, total: int) -> str:
    if what in _BYTES:
        return f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB"
    return f"{done:,} of {total:,}" if total else f"{done:,} turns"


def _quantity(what: str, amount: float) -> str:
    return f"{amount / 1e6:,.1f} MB" if what in _BYTES else f"{amount:,.0f} turns"
