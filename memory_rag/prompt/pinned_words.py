"""What words pinned files had when they were pinned or went into a prompt, as digests: no copy of a file is kept."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memory_rag.prompt.pinned_files import FileRead
from memory_rag.store.engine import Connections
from memory_rag.text.folding import fold
from memory_rag.turns import from_microseconds, to_microseconds

_RUN: Final = 3
_BYTES: Final = 8
_KEPT: Final = 5
"""States of a file that are remembered, the newest."""
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class FileThen:
    """A state of a pinned file: until when it was seen so."""

    path: str
    sha256: str
    seen_at: datetime


class PinnedWords:
    """Remembers of each pinned file which words it had, by digests of one to three words in a row."""

    def __init__(self, connections: Connections, *, clock: Callable[[], datetime]) -> None:
        self._connections = connections
        self._clock = clock
        self._known: set[tuple[str, str]] = set()

    def see(self, files: Sequence[FileRead]) -> None:
        """Take in files as they were read; what was seen before isn't written again."""
        new = [file for file in files if file.sha256 and (file.path, file.sha256) not in self._known]
        if not new:
            return
        now = to_microseconds(self._clock())
        with self._connections.writing() as connection:
            for file in new:
                path = os.fsencode(file.path)
                connection.execute(
                    "INSERT INTO pinned_words VALUES (?, ?, ?, ?) ON CONFLICT (path, sha256) DO UPDATE SET "
                    "seen_at = excluded.seen_at",
                    (path, bytes.fromhex(file.sha256), now, _digests(file.text)),
                )
                connection.execute(
                    "DELETE FROM pinned_words WHERE path = ? AND sha256 NOT IN (SELECT sha256 FROM pinned_words "
                    "WHERE path = ? ORDER BY seen_at DESC LIMIT ?)",
                    (path, path, _KEPT),
                )
        self._known |= {(file.path, file.sha256) for file in new}

    def with_words(self, words: str) -> list[FileThen]:
        """Return the states of files that had these words, the newest first."""
        wanted = _runs(words, longest_only=True)
        if not wanted:
            return []
        with self._connections.reading() as connection:
            rows = connection.execute(
                "SELECT path, sha256, seen_at, digests FROM pinned_words WHERE path IN (SELECT path FROM pinned_files) "
                "ORDER BY seen_at DESC, path"
            ).fetchall()
        found = []
        for path, sha256, seen_at, digests in rows:
            own = {digests[at : at + _BYTES] for at in range(0, len(digests), _BYTES)}
            if wanted <= own:
                found.append(FileThen(os.fsdecode(path), sha256.hex(), from_microseconds(seen_at)))
        return found


def _runs(text: str, *, longest_only: bool) -> set[bytes]:
    words = _WORD.findall(fold(text).text)
    longest = min(_RUN, len(words))
    sizes = [longest] if longest_only else range(1, longest + 1)
    return {
        hashlib.blake2b(" ".join(words[at : at + size]).encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()
        for size in sizes
        if size
        for at in range(len(words) - size + 1)
    }


def _digests(text: str) -> bytes:
    return b"".join(sorted(_runs(text, longest_only=False)))
