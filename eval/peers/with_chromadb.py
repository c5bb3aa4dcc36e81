"""chromadb: vectors in HNSW and texts in SQLite. It ranks by vectors alone; words can only be demanded, not ranked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings
from serving import K, in_batches, serve, turns_of, vectors_of


class Peer:
    def __init__(self, folder: Path) -> None:
        self.client: Any = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))

    def load(self, turns: str, vectors: str, n: int) -> None:
        self.turns = self.client.create_collection("turns", configuration={"hnsw": {"space": "ip"}})
        rows, start = vectors_of(vectors), 0
        for batch in in_batches(turns_of(turns, n), 5000):
            self.turns.add(
                ids=[turn["id"] for turn in batch],
                embeddings=rows[start : start + len(batch)],
                documents=[turn["text"] for turn in batch],
                metadatas=[{"conversation": turn["conversation"]} for turn in batch],
            )
            start += len(batch)

    def open(self) -> None:
        self.turns = self.client.get_collection("turns")

    def add(self, turn: dict[str, str], vector: Any) -> None:
        self.turns.add(
            ids=[turn["id"]],
            embeddings=vector[None],
            documents=[turn["text"]],
            metadatas=[{"conversation": turn["conversation"]}],
        )

    def search(self, text: str, vector: Any) -> list[str]:
        return self.turns.query(query_embeddings=vector[None], n_results=K)["ids"][0]

    nearest = search

    def filtered(self, text: str, vector: Any, conversation: str) -> list[str]:
        found = self.turns.query(query_embeddings=vector[None], n_results=K, where={"conversation": conversation})
        return found["ids"][0]

    def delete(self, turn_id: str) -> None:
        self.turns.delete(ids=[turn_id])

    def close(self) -> None:
        pass


serve(Peer)
