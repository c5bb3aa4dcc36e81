"""Files that are written whole or not at all, and the lock for those who write them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from memory_rag.errors import MemoryLockedError, StoreError


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under a temporary name, fsync it and rename it into place; readable by its owner only.

    Raises:
        StoreError: the disk is full or the folder can't be written; the old file is still there.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        fsync_folder(path.parent)
    except OSError as error:
        raise StoreError(f"{path} can't be written ({error.strerror}); the old file, if any, is unchanged") from error
    finally:
        temporary.unlink(missing_ok=True)


def fsync_folder(folder: Path) -> None:
    """Make a rename in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked(path: Path, *, timeout_s: float, what: str) -> Iterator[None]:
    """Hold an exclusive lock on a file (freed by the system when the process dies).

    Raises:
        MemoryLockedError: another process held it for longer than ``timeout_s``.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise MemoryLockedError(
                        f"another process is writing {what} (lock {path}); waited {timeout_s:g} s, try again when it is done"
                    ) from None
                time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)
