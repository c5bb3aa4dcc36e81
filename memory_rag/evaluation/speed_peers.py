"""Whom a memory is compared with, what each of them does, and how often each thing is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer: its script's name, and by what it ranks: ``hybrid``, ``dense`` or ``keyword``.

    ``waits`` tells whether an add of it waits for the disk, so that a power cut takes nothing that was acknowledged.
    """

    name: str
    ranks_by: str
    can_add: bool = True
    waits: bool = False
    words: tuple[str, ...] = ()

    @property
    def script(self) -> str:
        return f"with_{self.name.replace('-', '_')}.py"

    @property
    def against(self) -> Peer:
        """Who of us stands beside it: we wait for the disk where it does, and only there."""
        return US_FULL if self.waits else US


US: Final = Peer("memory_rag", "hybrid")
US_FULL: Final = Peer("memory_rag", "hybrid", waits=True, words=("full",))
PEERS: Final = (
    Peer("lancedb", "hybrid"),
    Peer("txtai", "hybrid", waits=True),
    Peer("qdrant", "hybrid", waits=True),
    Peer("langchain", "hybrid"),
    Peer("chromadb", "dense", waits=True),
    Peer("mem0", "dense", waits=True),
    Peer("tantivy", "keyword", waits=True),
    Peer("bm25s", "keyword", can_add=False),
    Peer("rank-bm25", "keyword", can_add=False),
)


@dataclass(frozen=True, slots=True)
class Often:
    """How often each thing is done: ``rounds`` of so many questions, adds and deletes, and so many fresh processes.

    What takes over ``slow_s`` is done once a round, and no more once a peer's rounds have taken ``budget_s``.
    """

    rounds: int = 5
    questions: int = 10
    adds: int = 10
    deletes: int = 3
    openings: int = 5
    opening_budget_s: float = 25.0
    slow_s: float = 0.5
    budget_s: float = 120.0
    settle_s: float = 1.0
    """A pause before the first round, in which ends what a side does in the background."""

    @property
    def all_questions(self) -> int:
        """How many are asked: one round's to warm up with, and other ones in every round."""
        return self.questions * (self.rounds + 1)
