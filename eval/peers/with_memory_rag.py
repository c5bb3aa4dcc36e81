"""memory_rag itself, behind the same pipe as its peers, with every signal of its ranking."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from serving import K, serve, turns_of, vectors_of

from memory_rag import Memory, Role, Turn
from memory_rag.evaluation.speed_vectors import KnownVectors
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.selected import Selected


class Peer:
    def __init__(self, folder: Path, durability: str = "normal") -> None:
        self.folder = folder
        self.durability = durability
        self.embedder = KnownVectors(fingerprint="given")

    def load(self, turns: str, vectors: str, n: int) -> None:
        """Load the first n turns, or those of them that aren't there yet."""
        self.open()
        self.memory.add_many(turn_of(turn) for turn in islice(turns_of(turns, n), len(self.memory), None))
        self.memory.embed()
        self.memory.indexes.save()

    def open(self) -> None:
        self.memory = Memory.open(self.folder, embedder=self.embedder, durability=self.durability)

    def before(self, what: str, given: dict[str, Any]) -> None:
        if "turns" in given:
            # What looks vectors up takes the place of a model: that it can is no part of the import.
            texts = (turn["text"] for turn in turns_of(given["turns"], given["n"]))
            self.embedder.know(texts, vectors_of(given["vectors"])[: given["n"]])
        elif "turn" in given:
            self.embedder.give(given["turn"]["text"], given["vector"])
        elif "vector" in given:
            self.embedder.asked = given["vector"]

    def add(self, turn: dict[str, str], vector: Any) -> None:
        self.memory.add(
            turn["text"],
            turn_id=turn["id"],
            speaker=turn["speaker"],
            conversation_id=turn["conversation"],
            session_id=turn["session"],
            said_at=datetime.fromisoformat(turn["said_at"]),
        )

    def search(self, text: str, vector: Any) -> list[str]:
        return self._found(text, "hybrid")

    def keyword(self, text: str, vector: Any) -> list[str]:
        return self._found(text, "keyword")

    def nearest(self, text: str, vector: Any) -> list[str]:
        """Answer as its dense side does, before signals are added."""
        dense, table = self.memory.indexes.dense(), self.memory.indexes.keyword.table
        assert dense is not None
        entries = dense.nearest(vector, n=K, searched=Selected.of_mask(table.alive))
        rows = self.memory.store.turns_at([int(table.row[entry]) for entry in entries])
        return [rows[int(table.row[entry])].turn_id for entry in entries]

    def filtered(self, text: str, vector: Any, conversation: str) -> list[str]:
        return self._found(text, "hybrid", Within(conversation=conversation))

    def keyword_filtered(self, text: str, vector: Any, conversation: str) -> list[str]:
        return self._found(text, "keyword", Within(conversation=conversation))

    def delete(self, turn_id: str) -> None:
        self.memory.forget([turn_id])

    def close(self) -> None:
        # What was added to be found by words: the next process has no vectors of it to give.
        self.memory.embed()
        self.memory.close()

    def _found(self, text: str, mode: str, within: Within | None = None) -> list[str]:
        found = self.memory.search(text, k=K, mode=mode, floor=False, within=within)
        return [hit.turn.turn_id for hit in found.hits]


class Durable(Peer):
    """The same with ``durability="full"``: every add waits for the disk."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "full")


def turn_of(turn: dict[str, str]) -> Turn:
    return Turn(
        turn["id"],
        turn["conversation"],
        turn["session"],
        int(turn["ordinal"]),
        Role.USER,
        turn["speaker"],
        turn["text"],
        datetime.fromisoformat(turn["said_at"]),
    )


if __name__ == "__main__":
    import sys

    serve(Durable if "full" in sys.argv[2:] else Peer)
