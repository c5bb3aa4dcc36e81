"""Arrays in one file that may be deleted at any time, and read again as if nothing had been there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from memory_rag.store.files import write_atomically

Read = TypeVar("Read")


def write_archive(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write named arrays; not compressed: a proof of deletion has to be able to read the file."""
    write_atomically(path, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]


def read_archive(path: Path, read: Callable[[Mapping[str, npt.NDArray[Any]]], Read]) -> Read | None:
    """Return what ``read`` makes of a file's arrays; None if it is missing, damaged, or lacks any.

    What lies there is derived: whoever gets None makes it anew.
    """
    try:
        # Opened here: np.load leaves it open when it fails.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return read(arrays)
    except Exception:
        # A garbled archive makes zipfile and NumPy raise nearly anything: BadZipFile, RuntimeError for a file that
        # seems encrypted, NotImplementedError, struct.error, MemoryError for a shape.
        return None
