"""Where a memory is moved from, and to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memory_rag.opening import opened
from memory_rag.retrieval.vector_spaces import FolderSpaces, VectorSpaces
from memory_rag.settings import Settings
from memory_rag.store.turn_writer import TurnWriter


@dataclass(frozen=True, slots=True)
class End:
    """One side of a move: the store of a memory, and its vectors."""

    store: TurnWriter
    spaces: VectorSpaces

    @property
    def place(self) -> str:
        """Where it is, as messages name it."""
        return self.store.connections.place


@contextmanager
def end_at(place: Path | str, *, settings: Settings, create: bool) -> Iterator[End]:
    """Open the memory in a folder, or the one of ``settings.owner`` at a server's URL; it is closed at the end.

    Raises:
        NotAMemoryError: there is no memory and ``create`` is False.
        NewerFormatError: a later release wrote it.
        StoreError: it can't be opened.
    """
    one = opened(place, settings=settings, create=create)
    try:
        if one.folder is None:
            from memory_rag.postgres.vector_spaces import ServerSpaces

            yield End(one.store, ServerSpaces(one.store.connections))
        else:
            yield End(one.store, FolderSpaces(one.folder, lock_timeout_s=settings.lock_timeout_s))
    finally:
        one.store.close()
