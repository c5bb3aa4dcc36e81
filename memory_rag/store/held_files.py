"""SQLite's files read and written beside it, without ever closing one that it has open.

POSIX frees every lock that a process has on a file as soon as it closes any descriptor of it, whichever it locked by.
SQLite would go on without its locks, and another process that opens the memory and closes it again would take itself
for the last one and delete the write-ahead log, with every turn that is added afterwards. What is opened here stays
open until the last that has the memory open in this process is done with it.
"""

from __future__ import annotations

import io
import os
import shutil
import threading
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

_File = tuple[int, int]
_AT_ONCE: Final = 2**20
_LOCKS: Final[dict[int, threading.RLock]] = {}
"""By process: in a forked one, nobody gives back a lock that another thread of its parent held. Within it, what nobody
closed may be collected as garbage, which takes it once more.
"""


@dataclass(slots=True)
class _Held:
    """What is open of one store, and how many have it open in this process."""

    n_users: int = 0
    descriptors: dict[tuple[_File, int], int] = field(default_factory=dict)


_HELD: Final[dict[_File, _Held]] = {}


class HeldFiles:
    """SQLite's file and those that it makes beside it, by the path of the first."""

    def __init__(self, path: Path) -> None:
        """Hold on to the files of a store that is there.

        Raises:
            OSError: it isn't.
        """
        self._path = path
        self._store = _file_of(path.stat())
        with _alone():
            _HELD.setdefault(self._store, _Held()).n_users += 1
        self._release = weakref.finalize(self, _let_go, self._store)
        # A process that ends closes its files, and its connections may still be in use.
        self._release.atexit = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()

    def are(self, path: Path) -> bool:
        """Tell whether a file is one of SQLite's."""
        return path.parent == self._path.parent and path.name.startswith(self._path.name)

    def descriptor(self, path: Path, *, writable: bool = False) -> int:
        """Return a descriptor of one of the files, which nobody may close. Read and write by place: others use it too.

        Raises:
            OSError: it can't be opened.
        """
        access = os.O_RDWR if writable else os.O_RDONLY
        with _alone():
            held = _HELD[self._store].descriptors
            known = held.get((_file_of(path.stat()), access))
            if known is not None:
                return known
            opened = os.open(path, access | os.O_CLOEXEC)
            # It may be another file than a moment ago, but then it isn't known either.
            return held.setdefault((_file_of(os.fstat(opened)), access), opened)

    def open(self, path: Path) -> io.BufferedReader:
        """Return one of the files for reading; closing it closes nothing.

        Raises:
            OSError: it can't be opened.
        """
        return io.BufferedReader(_Reading(self.descriptor(path)))

    def copy(self, path: Path, target: Path) -> None:
        """Copy one of the files.

        Raises:
            OSError: it can't be read, or the copy can't be written.
        """
        with self.open(path) as file, target.open("wb") as copy:
            shutil.copyfileobj(file, copy, _AT_ONCE)

    def release(self) -> None:
        """Close what is open, unless another has the store open too. Call when all connections are closed."""
        self._release()


class _Reading(io.RawIOBase):
    """A place of its own in a file whose descriptor is another's."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: os.fstat(self._descriptor).st_size}[whence]
        self._place = base + offset
        return self._place

    def readinto(self, buffer: Any) -> int:
        n = os.preadv(self._descriptor, [buffer], self._place)
        self._place += n
        return n


def _let_go(store: _File) -> None:
    with _alone():
        held = _HELD[store]
        held.n_users -= 1
        if held.n_users == 0:
            del _HELD[store]
            for descriptor in held.descriptors.values():
                os.close(descriptor)


def _alone() -> threading.RLock:
    return _LOCKS.setdefault(os.getpid(), threading.RLock())


def _file_of(status: os.stat_result) -> _File:
    return status.st_dev, status.st_ino
