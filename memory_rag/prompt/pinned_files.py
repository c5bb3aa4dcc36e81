"""Files that are read anew for every prompt: what must hold is on disk, and what was read of it is always told."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from memory_rag.errors import SettingsError
from memory_rag.store.engine import Connections
from memory_rag.turns import to_microseconds

KEPT_BYTES: Final = 8192
"""Of a longer file its beginning goes into the prompt, up to the last whole line."""
LARGEST_BYTES: Final = 16 * 1024 * 1024
"""A file over this is not read at all."""

Status = Literal["as pinned", "changed", "missing", "unreadable"]


@dataclass(frozen=True, slots=True)
class FileRead:
    """A pinned file as it is now: what goes into the prompt, and what can be told of it.

    ``n_lines``, ``n_bytes``, ``sha256`` and ``first_line`` are the whole file's; ``text`` is what is kept of it, and
    ``is_cut`` tells that this is only its beginning. A file that can't be read has no text, and ``why`` says why.
    """

    path: str
    status: Status
    text: str = ""
    n_lines: int = 0
    n_bytes: int = 0
    sha256: str = ""
    first_line: str = ""
    is_cut: bool = False
    why: str = ""

    def __str__(self) -> str:
        """Return the line by which an account tells of the file."""
        if self.status in ("missing", "unreadable"):
            return f"{self.path}: {self.status}{f' ({self.why})' if self.why else ''}"
        lines = f"{self.n_lines:,} line" if self.n_lines == 1 else f"{self.n_lines:,} lines"
        return (
            f"{self.path}: {self.status}, {lines}, {self.n_bytes:,} bytes, sha256 {self.sha256[:12]}, "
            f"begins {self.first_line[:60]!r}{self._cut}"
        )

    @property
    def _cut(self) -> str:
        if not self.is_cut:
            return ""
        n_lines = self.text.count("\n")
        if not n_lines:
            return f", cut: the first {len(self.text.encode()):,} bytes of its first line are in"
        return f", cut: the first {n_lines:,} lines are in" if n_lines > 1 else ", cut: the first line is in"


class PinnedFiles:
    """The files pinned in one memory; ``pinned`` is called with what a file was when it was pinned."""

    def __init__(
        self,
        connections: Connections,
        *,
        clock: Callable[[], datetime],
        kept_bytes: int = KEPT_BYTES,
        pinned: Callable[[Sequence[FileRead]], None] = lambda _files: None,
    ) -> None:
        self._connections = connections
        self._clock = clock
        self._kept_bytes = kept_bytes
        self._told_of = pinned

    def pin(self, path: str | Path) -> FileRead:
        """Read a file for every prompt from now on, and return what it is now; pinned again, it counts as unchanged.

        Raises:
            SettingsError: it can't be read.
        """
        absolute = Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100  a link's own name is what was meant
        read = self._read(absolute, None)
        if read.status in ("missing", "unreadable"):
            raise SettingsError(
                f"{absolute} can't be pinned: {read.why or read.status}; name a text file that you may read"
            )
        with self._connections.writing() as connection:
            connection.execute(
                "INSERT INTO pinned_files VALUES (?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET "
                "sha256 = excluded.sha256, n_bytes = excluded.n_bytes, pinned_at = excluded.pinned_at",
                (os.fsencode(absolute), bytes.fromhex(read.sha256), read.n_bytes, to_microseconds(self._clock())),
            )
        self._told_of([read])
        return read

    def unpin(self, path: str | Path) -> None:
        """Read a file no more.

        Raises:
            SettingsError: it isn't pinned.
        """
        absolute = os.path.abspath(Path(path).expanduser())  # noqa: PTH100
        with self._connections.writing() as connection:
            gone = connection.execute("DELETE FROM pinned_files WHERE path = ?", (os.fsencode(absolute),)).rowcount
        if not gone:
            known = ", ".join(path for path, _ in self._pinned()) or "none"
            raise SettingsError(f"{absolute} is not pinned; pinned files are: {known}")

    def read(self) -> list[FileRead]:
        """Read every pinned file now, in the order of their paths; one that can't be read is told, not left out."""
        return [self._read(Path(path), pinned) for path, pinned in self._pinned()]

    def _pinned(self) -> list[tuple[str, str]]:
        with self._connections.reading() as connection:
            return [
                (os.fsdecode(path), digest.hex())
                for path, digest in connection.execute("SELECT path, sha256 FROM pinned_files ORDER BY path")
            ]

    def _read(self, path: Path, pinned: str | None) -> FileRead:
        name = str(path)
        try:
            if not path.exists():
                return FileRead(name, "missing", why="no such file")
            if not path.is_file():
                return FileRead(name, "unreadable", why="not a file")
            n_bytes = path.stat().st_size
            if n_bytes > LARGEST_BYTES:
                return FileRead(name, "unreadable", n_bytes=n_bytes, why=f"{n_bytes:,} bytes, over {LARGEST_BYTES:,}")
            data = path.read_bytes()
        except OSError as error:
            return FileRead(name, "unreadable", why=error.strerror or str(error))
        try:
            text = data.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            return FileRead(name, "unreadable", n_bytes=len(data), why=f"not UTF-8 at byte {error.start}")
        digest = hashlib.sha256(data).hexdigest()
        kept = self._beginning(text)
        return FileRead(
            path=name,
            status="as pinned" if pinned in (None, digest) else "changed",
            text=kept,
            n_lines=text.count("\n") + (not text.endswith("\n") and bool(text)),
            n_bytes=len(data),
            sha256=digest,
            first_line=text.partition("\n")[0].strip(),
            is_cut=len(kept) < len(text),
        )

    def _beginning(self, text: str) -> str:
        if len(text.encode("utf-8")) <= self._kept_bytes:
            return text
        beginning = text.encode("utf-8")[: self._kept_bytes].decode("utf-8", "ignore")
        return beginning[: beginning.rfind("\n") + 1] or beginning
