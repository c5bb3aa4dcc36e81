"""What a search needs of a memory's indexes: what searches by keyword, what by meaning, and what to say of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory_rag.retrieval.searcher import Searcher

if TYPE_CHECKING:
    from memory_rag.retrieval.dense import DenseIndex


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of the indexes, caught up; ``dense`` is None where there is no embedder, and ``notes`` say why."""

    searcher: Searcher
    dense: DenseIndex | None = None
    notes: tuple[str, ...] = ()
