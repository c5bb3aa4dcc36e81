"""Owners with invented turns, and the places where their memories are kept and searched, for measuring a server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from memory_rag.errors import MemoryRagError
from memory_rag.evaluation.speed_corpus import CONVERSATION_TURNS, Corpus, Vectors
from memory_rag.evaluation.speed_vectors import KnownVectors, MadeVectors
from memory_rag.memory import Memory
from memory_rag.turns import Turn

FINGERPRINT: Final = "made-vectors"
MOST_ADDED: Final = 100
"""Turns that are added to an owner at most, over all runs that their vectors are known in."""
APART: Final = 50 * CONVERSATION_TURNS
"""From the first turn of one owner to that of the next."""


@dataclass(frozen=True)
class Owner:
    """An owner's invented turns, which are those of the corpus from a number on, and questions about them."""

    name: str
    corpus: Corpus
    made: MadeVectors
    first: int
    n_turns: int

    def turns(self, start: int, stop: int) -> list[Turn]:
        """Return the owner's turns from one of its own numbers to another; it has more of them than are stored."""
        return list(self.corpus.turns(self.first + start, self.first + stop))

    def vectors(self, start: int, stop: int) -> Vectors:
        return self.made.turns(self.first + start, self.first + stop)

    def questions(self, n: int) -> list[tuple[str, Vectors]]:
        """Return questions about what is stored, with their vectors."""
        rows = self.vectors(0, self.n_turns)
        asked = enumerate(self.corpus.asked(n, among=self.n_turns, first=self.first))
        return [(text, self.made.question(number, rows=rows, about=about)) for number, (about, text) in asked]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of one owner."""

    owner: str
    text: str
    vector: Vectors


class Place:
    """Where the owners' memories lie, by one way of keeping and searching them."""

    def __init__(self, open_memory: Callable[[str, KnownVectors], Memory]) -> None:
        self._open = open_memory
        self.embedder = KnownVectors(fingerprint=FINGERPRINT)
        self.memories: dict[str, Memory] = {}

    def opened(self, owner: str) -> Memory:
        return self._open(owner, self.embedder)

    def know(self, owner: Owner) -> None:
        """Know the vectors of what an earlier run added, which is embedded when it is met."""
        stop = owner.n_turns + MOST_ADDED
        for turn, vector in zip(owner.turns(owner.n_turns, stop), owner.vectors(owner.n_turns, stop), strict=True):
            self.embedder.give(turn.searchable, vector)

    def memory(self, owner: str) -> Memory:
        if owner not in self.memories:
            self.memories[owner] = self.opened(owner)
        return self.memories[owner]

    def ask(self, asked: Asked) -> None:
        self.embedder.asked = asked.vector
        if not self.memory(asked.owner).search(asked.text, floor=False).hits:
            raise MemoryRagError(f"nothing is found for {asked.text!r} of {asked.owner}, which isn't right")

    def open_and_ask(self, asked: Asked) -> None:
        self.embedder.asked = asked.vector
        with self.opened(asked.owner) as memory:
            memory.search(asked.text, floor=False)

    def close(self) -> None:
        for memory in self.memories.values():
            memory.close()
