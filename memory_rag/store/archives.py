"""Arrays in one file that may be deleted at any time, and read again as if nothing had been there."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

import numpy as np
import numpy.typing as npt

from memory_rag.store.files import write_atomically

Read = TypeVar("Read")
_ALIGNED: Final = 64
"""Where numbers begin in the file is a multiple of this, as NumPy's own format has it within its header."""
_LOCAL_HEADER: Final = 30
_ZIP64: Final = 20
"""Bytes of a member's header before its name, and those that ``force_zip64`` puts behind its extra field."""
_PADDING: Final = 0xD935
"""The id of the extra field with which ``zipalign`` fills headers up; readers pass over it."""
_CHUNK: Final = 1 << 20


def write_archive(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write named arrays; not compressed: a proof of deletion has to be able to read the file."""

    def write(file: BinaryIO) -> None:
        with zipfile.ZipFile(file, "w") as archive:
            for name, values in arrays.items():
                member = zipfile.ZipInfo(f"{name}.npy")
                before = file.tell() + _LOCAL_HEADER + len(member.filename.encode()) + 4 + _ZIP64
                room = -before % _ALIGNED
                member.extra = struct.pack("<HH", _PADDING, room) + bytes(room)
                with archive.open(member, "w", force_zip64=True) as opened:
                    np.lib.format.write_array(opened, np.asanyarray(values), allow_pickle=False)

    write_atomically(path, write)


def read_archive(
    path: Path, read: Callable[[Mapping[str, npt.NDArray[Any]]], Read], *, mapped: Collection[str] = ()
) -> Read | None:
    """Return what ``read`` makes of a file's arrays; None if it is missing, damaged, or lacks any.

    What lies there is derived: whoever gets None makes it anew. Arrays that are ``mapped`` take memory only where they
    are looked at, and can't be written to; the file may be replaced or deleted meanwhile.
    """
    try:
        # Opened here: np.load leaves it open when it fails.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return read(_Arrays(arrays, file, mapped if os.name == "posix" else ()))
    except Exception:
        # A garbled archive makes zipfile and NumPy raise nearly anything: BadZipFile, RuntimeError for a file that
        # seems encrypted, NotImplementedError, struct.error, MemoryError for a shape.
        return None


class _Arrays(Mapping[str, npt.NDArray[Any]]):
    """The arrays of an archive, each read or mapped when it is asked for. Elsewhere no file that is mapped can go."""

    def __init__(self, arrays: Any, file: BinaryIO, mapped: Collection[str]) -> None:
        self._arrays = arrays
        self._file = file
        self._mapped = mapped

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = self._map(name) if name in self._mapped else self._arrays[name]
        return found

    def _map(self, name: str) -> npt.NDArray[Any]:
        member = self._arrays.zip.getinfo(f"{name}.npy")
        if member.compress_type != zipfile.ZIP_STORED:
            raise ValueError(f"{name} is compressed")
        with self._arrays.zip.open(member) as opened:
            if np.lib.format.read_magic(opened) != (1, 0):
                raise ValueError(f"{name} is of another version")
            shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(opened)
            header = opened.tell()
            # To its end: that is when zipfile compares the checksum.
            while opened.read(_CHUNK):
                pass
        if is_fortran or 0 in shape or dtype.hasobject:
            whole: npt.NDArray[Any] = self._arrays[name]
            return whole
        self._file.seek(member.header_offset)
        n_name, n_extra = struct.unpack("<HH", self._file.read(_LOCAL_HEADER)[-4:])
        start = member.header_offset + _LOCAL_HEADER + n_name + n_extra + header
        return np.asarray(np.memmap(self._file, dtype, "r", start, shape))
