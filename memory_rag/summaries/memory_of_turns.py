"""What is needed of a memory by those who read its turns between one word and the next."""

from __future__ import annotations

from typing import Protocol

from memory_rag.embedding.embedder import Embedder
from memory_rag.settings import Settings
from memory_rag.store.turn_writer import TurnWriter


class IndexesOfTurns(Protocol):
    """What knows a memory's languages and its embedder."""

    def spoken_languages(self) -> tuple[str, ...]: ...
    @property
    def embedder(self) -> Embedder | None: ...


class MemoryOfTurns(Protocol):
    """A memory, as far as its turns are read: where they lie, how it is set, what knows its languages."""

    @property
    def store(self) -> TurnWriter: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def indexes(self) -> IndexesOfTurns: ...
