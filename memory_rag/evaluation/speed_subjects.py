"""What is measured for speed, beside what, and how often."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from memory_rag.evaluation.speed_corpus import Vectors
from memory_rag.retrieval.ranking import Ranking
from memory_rag.turns import Conversation, Role, Turn

Tell = Callable[[str, int, int], None]
"""Called with (what is being done, how much of it is done, how much there is), between measurements."""


@dataclass(frozen=True, slots=True)
class Repetitions:
    """How often each thing is measured."""

    questions: int = 50
    rounds: int = 3
    processes: int = 10
    adds: int = 300
    adds_with_search: int = 40
    embedding_rounds: int = 4
    embedding_turns: int = 1024

    def scaled(self, share: float) -> Repetitions:
        """Return this share of all of them, each at least 1."""
        return Repetitions(**{name: max(1, round(n * share)) for name, n in asdict(self).items()})


class MeasuredIndexes(Protocol):
    """What is asked of a memory's indexes here."""

    def catch_up(self) -> None: ...
    def save(self) -> None: ...


class MeasuredMemory(Protocol):
    """What is asked of a memory here; :class:`memory_rag.Memory` has it."""

    @property
    def indexes(self) -> MeasuredIndexes: ...
    def __len__(self) -> int: ...
    def add(
        self, text: str, *, role: Role, speaker: str, conversation_id: str, session_id: str, said_at: datetime | None
    ) -> Turn: ...
    def add_many(self, items: Iterable[Turn | Conversation]) -> object: ...
    def embed(self, *, progress: Tell | None = None) -> int: ...
    def search(self, query: str, *, mode: str, floor: bool) -> Ranking: ...
    def context(self, user_message: str, *, conversation_id: str, retrieve: str) -> object: ...
    def close(self) -> None: ...


class MeasuredEmbedder(Protocol):
    """What is asked of the default embedder here."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def dim(self) -> int: ...
    def embed_queries(self, texts: Sequence[str]) -> Vectors: ...


class OpenMemory(Protocol):
    """Opens a memory in a folder, made if it isn't there, with an embedder."""

    def __call__(self, folder: Path, *, durability: str, embedder: Any) -> MeasuredMemory: ...


@dataclass(frozen=True, slots=True)
class Subjects:
    """What is measured, and beside what.

    ``rank_bm25`` takes the turns' tokens and returns what ranks them for a query's tokens; ``flat`` takes vectors and
    returns what finds the ``k`` nearest of a query's with ``threads`` (0: as many as it likes).
    """

    open_memory: OpenMemory
    rank_bm25: Callable[[Sequence[Sequence[str]]], Callable[[Sequence[str]], object]]
    flat: Callable[[Vectors], Callable[..., object]]
    embedder: MeasuredEmbedder
