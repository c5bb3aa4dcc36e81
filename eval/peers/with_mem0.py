"""mem0 with ``infer=False`` (texts as they are, no model) on its FAISS store, written whole at every change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ.update({"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none", "MEM0_DIR": "/tmp/mem0-of-bench-speed"})

from mem0 import Memory
from serving import K, in_batches, serve, turns_of, vectors_of


class Given:
    """Embeds by what it was given last, in the place of a model."""

    vector: Any = None

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.vector.tolist()

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.vector.tolist() for _ in texts]


class Peer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.embedding = Given()
        self.added: dict[str, str] = {}

    def load(self, turns: str, vectors: str, n: int) -> None:
        self._open(vectors_of(vectors).shape[1])
        rows, start = vectors_of(vectors), 0
        for batch in in_batches(turns_of(turns, n), n):
            # Its own bulk way would embed one by one and write the file each time.
            self.memory.vector_store.insert(
                vectors=rows[start : start + len(batch)],
                payloads=[payload_of(turn) for turn in batch],
                ids=[turn["id"] for turn in batch],
            )
            start += len(batch)

    def open(self) -> None:
        self._open(384)

    def before(self, what: str, given: dict[str, Any]) -> None:
        self.embedding.vector = given.get("vector")

    def add(self, turn: dict[str, str], vector: Any) -> None:
        said = [{"role": "user", "content": turn["text"]}]
        added = self.memory.add(said, user_id=turn["conversation"], metadata={"turn": turn["id"]}, infer=False)
        self.added[turn["id"]] = added["results"][0]["id"]

    def search(self, text: str, vector: Any) -> list[str]:
        return self._found(text, None)

    nearest = search

    def filtered(self, text: str, vector: Any, conversation: str) -> list[str]:
        return self._found(text, conversation)

    def delete(self, turn_id: str) -> None:
        self.memory.delete(self.added.pop(turn_id))

    def close(self) -> None:
        pass

    def _found(self, text: str, conversation: str | None) -> list[str]:
        whose = {"everyone": "yes"} if conversation is None else {"user_id": conversation}
        if conversation is None:
            found = self.memory.vector_store.search(query=text, vectors=self.embedding.embed(text), top_k=K)
            return [hit.payload.get("turn", hit.id) for hit in found]
        rows = self.memory.search(text, filters=whose, top_k=K)["results"]
        return [(row.get("metadata") or {}).get("turn", row["id"]) for row in rows]

    def _open(self, dim: int) -> None:
        self.memory = Memory.from_config(
            {
                "vector_store": {
                    "provider": "faiss",
                    "config": {
                        "collection_name": "turns",
                        "path": str(self.folder / "faiss"),
                        "embedding_model_dims": dim,
                        "distance_strategy": "inner_product",
                    },
                },
                "history_db_path": str(self.folder / "history.db"),
            }
        )
        self.memory.embedding_model = self.embedding


def payload_of(turn: dict[str, str]) -> dict[str, str]:
    return {"data": turn["text"], "user_id": turn["conversation"], "turn": turn["id"], "role": "user"}


serve(Peer)
