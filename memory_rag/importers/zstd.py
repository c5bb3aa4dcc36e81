"""Files compressed with Zstandard, as Codex CLI leaves its sessions of last week: read as what is in them."""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib import import_module
from typing import IO, Any, Final

from memory_rag.errors import ImportFormatError, MissingExtraError

SUFFIX: Final = ".zst"


def decompressed(opener: Callable[[], IO[bytes]], *, label: str) -> Callable[[], IO[bytes]]:
    """Return what opens the bytes within a compressed file, to be read from their beginning to their end.

    A file may have several frames, one behind the other, which is how something is added to one.
    """

    def open_() -> IO[bytes]:
        try:
            # Not in the standard library before Python 3.14; it has no part in any other format.
            zstandard: Any = import_module("zstandard")
        except ImportError as error:
            absent = MissingExtraError("zstandard", extra="zstd")
            raise ImportFormatError(f"{label}: it is compressed, and {absent}") from error
        reader = zstandard.ZstdDecompressor().stream_reader(opener(), read_across_frames=True)
        return io.BufferedReader(_Whole(reader, zstandard.ZstdError), buffer_size=1 << 17)

    return open_


class _Whole(io.RawIOBase):
    """A stream whose faults are those of a file that can't be read."""

    def __init__(self, reader: Any, fault: type[Exception]) -> None:
        self._reader, self._fault = reader, fault

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            return int(self._reader.readinto(buffer))
        except self._fault as error:
            raise OSError(str(error)) from error

    def close(self) -> None:
        self._reader.close()
        super().close()
