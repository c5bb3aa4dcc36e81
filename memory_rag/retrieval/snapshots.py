"""When the keyword index is written to its snapshot, and that while others search in it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

from memory_rag.retrieval.derived import Derived
from memory_rag.retrieval.keyword import KeywordIndex

_WORTH_SAVING: Final = 200
_SOON: Final = 2000
"""Entries of which a snapshot is written in some 10 ms."""
_DEAD_SHARE: Final = 0.1
"""Of the entries in memory, so many may be of removed turns before all are numbered anew."""


class Snapshots:
    """The snapshot of one memory's keyword index."""

    def __init__(self, derived: Derived) -> None:
        self._derived = derived
        self._saved_seq = 0

    def alone(self) -> AbstractContextManager[None]:
        """Keep others from saving meanwhile.

        Raises:
            MemoryLockedError: another process is saving.
        """
        return self._derived.alone(timeout_s=0.0)

    def are_soon_made(self, keyword: KeywordIndex) -> bool:
        """Tell whether the snapshot is small enough to be written while somebody waits."""
        return len(keyword.table) <= _SOON

    def is_worth_saving(self, keyword: KeywordIndex) -> bool:
        """Tell whether a good deal happened since the snapshot was written."""
        return keyword.applied_seq - self._saved_seq >= _WORTH_SAVING

    def was_read(self, keyword: KeywordIndex) -> None:
        """Note that the index was made of the snapshot."""
        self._saved_seq = keyword.applied_seq

    def is_gone(self) -> None:
        """Note that somebody has deleted the snapshot."""
        self._saved_seq = 0

    def write(self, keyword: KeywordIndex, *, embedder: str | None) -> None:
        """Write the snapshot, with nothing in it of turns that are not stored any more. Call while others can't.

        Raises:
            StoreError: it can't be written; the words are safe.
        """
        keyword.compact()
        self._derived.save(keyword, embedder=embedder)
        self._saved_seq = keyword.applied_seq

    def writing(self, keyword: KeywordIndex, *, embedder: str | None) -> Callable[[], None]:
        """Return what writes the snapshot of what the index holds now, whatever happens to it meanwhile."""
        if keyword.table.n_alive < len(keyword.table) * (1 - _DEAD_SHARE):
            keyword.compact()
        made = keyword.as_now()
        return lambda: self.write(made(), embedder=embedder)
