"""Files that are written whole or not at all, and the lock for those who write them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from memory_rag.errors import MemoryLockedError, StoreError

LOCK_NAME: Final = ".lock"
"""The file in a memory's folder that its one writer of vectors and derived files holds; not in ``derived/``, which may
be deleted at any time."""
DERIVED: Final = "derived"
"""The folder in a memory's own of what is made from its words."""
_WAIT_S: Final = 0.05


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under a temporary name, fsync it and rename it into place; readable by its owner only.

    The temporary name is always the same, so that what a killed process left is overwritten: two that write the same
    file need a lock.

    Raises:
        StoreError: the disk is full or the folder can't be written; the old file is still there.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        fsync_path(path.parent)
    except OSError as error:
        raise StoreError(f"{path} can't be written ({error.strerror}); the old file, if any, is unchanged") from error


def fsync_path(path: Path) -> None:
    """Make what was written to a file, or renamed in a folder, durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_tree(folder: Path) -> None:
    """Make a folder and all that lies under it durable."""
    for path in [*folder.rglob("*"), folder]:
        fsync_path(path)


@contextlib.contextmanager
def locked(path: Path, *, timeout_s: float, what: str) -> Iterator[None]:
    """Hold an exclusive lock on a file (freed by the system when the process dies).

    Raises:
        MemoryLockedError: another process held it for longer than ``timeout_s``.
        StoreError: the file can't be made.
    """
    deadline = time.monotonic() + timeout_s
    while (descriptor := _try_lock(path)) is None:
        if time.monotonic() >= deadline:
            raise MemoryLockedError(
                f"another process is writing {what} (lock {path}); waited {timeout_s:g} s, try again when it is done"
            )
        time.sleep(_WAIT_S)
    try:
        yield
    finally:
        # Closing would not free it if a process that was forked meanwhile has the file open too.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _try_lock(path: Path) -> int | None:
    """Return the descriptor of the file that is locked now, or None if another has the lock."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(
            f"{path.parent} can't be written ({error.strerror}); the words are safe, and what is derived from them "
            "is made anew when it can be written"
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The folder may have been deleted since, and another process may hold a new file of this name.
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None


def bytes_by_kind(folder: Path) -> dict[str, int]:
    """Return how many bytes a memory takes on disk: its words, its vectors, and what can be rebuilt from them.

    Raises:
        StoreError: the folder can't be looked at.
    """
    sizes = {"words": 0, "vectors": 0, "derived": 0}
    try:
        for path in folder.rglob("*"):
            # Another process may take a file away between the two looks.
            with contextlib.suppress(FileNotFoundError):
                if path.is_file():
                    top = path.relative_to(folder).parts[0]
                    sizes[top if top in sizes else "words"] += path.stat().st_size
    except OSError as error:
        raise StoreError(f"{folder} can't be looked through ({error.strerror}); try again when it can") from error
    return sizes
