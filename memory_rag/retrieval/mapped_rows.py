"""The rows of a file, mapped into memory once for more of them than it has: what is appended shows without another."""

from __future__ import annotations

import ctypes
import mmap
import os
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from memory_rag.embedding.embedder import Vectors

_SPARE: Final = 8192
"""Rows that may be appended at least before a file is mapped anew: addresses, not memory."""
_SPARE_SHARE: Final = 4
"""One of so many rows that there are may be appended, if that is more."""
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
)
_LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_FAILED: Final = ctypes.c_void_p(-1).value


class MappedRows:
    """The float32 rows of a file that only grows at its end, or is replaced by another of its name.

    A new map costs a page fault for every row that a search reads, of all rows: two milliseconds after each turn that
    is said. So it is made for more rows than there are, as LMDB makes its own, and lasts until these are used up.
    """

    def __init__(self, *, dim: int) -> None:
        self._dim = dim
        self._mapped: Vectors = np.zeros((0, dim), np.float32)
        self._file: tuple[int, int] | None = None

    def of(self, path: Path) -> Vectors:
        """Return the whole rows that the file at a path has now, shape (n, dim); none without a file.

        Raises:
            OSError: it can't be mapped.
        """
        try:
            status = os.stat(path)  # noqa: PTH116  a quarter of the time of Path's, and every search after an add asks
            n = status.st_size // (self._dim * 4)
            if n > len(self._mapped) or self._file != (status.st_dev, status.st_ino):
                self._map(path)
        except FileNotFoundError:
            n = 0
        return self._mapped[:n]

    def _map(self, path: Path) -> None:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            n = status.st_size // (self._dim * 4)
            n += max(_SPARE, n // _SPARE_SHARE)
            bytes_of_file = np.asarray(_Map(file.fileno(), n * self._dim * 4))
        self._mapped = bytes_of_file.view("<f4").reshape(n, self._dim)
        self._file = status.st_dev, status.st_ino


class _Map:
    """The first bytes of a file as an array's memory, for as long as an array looks at it.

    ``mmap.mmap`` refuses more bytes than the file has. Those behind its end must not be read before they are there.
    """

    def __init__(self, descriptor: int, n_bytes: int) -> None:
        address = _LIBC.mmap(None, n_bytes, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
        if address == _FAILED:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        # Kept here: at the end of a process the module's names may be gone before this is.
        self._unmap = partial(_LIBC.munmap, address, n_bytes)
        self.__array_interface__: dict[str, Any] = {
            "version": 3,
            "shape": (n_bytes,),
            "typestr": "|u1",
            "data": (address, True),
        }

    def __del__(self) -> None:
        unmap = getattr(self, "_unmap", None)
        if unmap is not None:
            unmap()
