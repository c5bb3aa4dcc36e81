"""What a prompt needs of a memory."""

from __future__ import annotations

from datetime import tzinfo
from typing import Protocol

from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.quotes import Quote
from memory_rag.retrieval.ranking import Ranking
from memory_rag.summaries.memory_of_turns import MemoryOfTurns


class Recall(Protocol):
    """What finds turns and quotes."""

    def search(
        self, query: str, *, k: int | None = None, within: Within | None = None, floor: bool = True
    ) -> Ranking: ...
    def quote(self, text: str, *, limit: int = 10, within: Within | None = None) -> tuple[Quote, ...]: ...


class SearchedMemory(MemoryOfTurns, Recall, Protocol):
    """A memory that is searched, and the zone in which its people live."""

    @property
    def zone(self) -> tzinfo: ...
