"""Files that grow while they are watched: which of them are other than they were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

State = dict[Path, tuple[int, int]]
"""Each file's length and its time of change in nanoseconds."""


def state_of(paths: Iterable[Path]) -> State:
    """Return the state of every file at or below the paths; one that can't be looked at is left out."""
    found: State = {}
    for path in paths:
        for file in _files(path):
            try:
                status = file.stat()
            except OSError:  # it was deleted meanwhile
                continue
            found[file] = (status.st_size, status.st_mtime_ns)
    return found


def changed(before: State, now: State) -> list[Path]:
    """Return the files that are new or other than before, by name; deleted ones have nothing more to give."""
    return sorted(path for path, state in now.items() if before.get(path) != state)


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (file for file in path.rglob("*") if file.is_file())
    elif path.is_file():
        yield path
