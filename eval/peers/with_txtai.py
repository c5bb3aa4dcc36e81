"""txtai: FAISS, a BM25 of its own and texts in SQLite, in memory until they are saved, whole, to a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from serving import K, in_batches, serve, turns_of, vectors_of
from txtai import Embeddings


class Peer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.given: dict[str, Any] = {}

        def vectors(texts: Any) -> Any:
            return np.array([self.given[text] for text in texts], np.float32)

        self.vectors = vectors
        # A method would be called without texts: what isn't a plain function is taken for a class.
        self.turns: Any = Embeddings(method="external", transform=vectors, content=True, hybrid=True, backend="faiss")

    def load(self, turns: str, vectors: str, n: int) -> None:
        rows = vectors_of(vectors)
        self.given = {turn["text"]: rows[place] for place, turn in enumerate(turns_of(turns, n))}
        self.turns.index(
            (turn["id"], {"text": turn["text"], "conversation": turn["conversation"]}, None)
            for batch in in_batches(turns_of(turns, n), 1000)
            for turn in batch
        )
        self.turns.save(str(self.folder))
        self.given = {}

    def open(self) -> None:
        self.turns.load(str(self.folder), config={"transform": self.vectors})

    def before(self, what: str, given: dict[str, Any]) -> None:
        if "vector" in given:
            text = given["turn"]["text"] if "turn" in given else given["text"]
            self.given = {text: given["vector"]}

    def add(self, turn: dict[str, str], vector: Any) -> None:
        self.turns.upsert([(turn["id"], {"text": turn["text"], "conversation": turn["conversation"]}, None)])
        self.turns.save(str(self.folder))

    def search(self, text: str, vector: Any) -> list[str]:
        return [row["id"] for row in self.turns.search(text, K)]

    def nearest(self, text: str, vector: Any) -> list[str]:
        return [row["id"] for row in self.turns.search(text, K, weights=1.0)]

    def filtered(self, text: str, vector: Any, conversation: str) -> list[str]:
        asked = "select id from txtai where similar(:text) and conversation = :conversation"
        within = {"text": text, "conversation": conversation}
        return [row["id"] for row in self.turns.search(asked, K, parameters=within)]

    def delete(self, turn_id: str) -> None:
        self.turns.delete([turn_id])
        self.turns.save(str(self.folder))

    def close(self) -> None:
        self.turns.close()


serve(Peer)
