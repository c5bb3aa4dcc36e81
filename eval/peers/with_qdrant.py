"""qdrant-client without a server: every vector compared, words as sparse vectors, rank fusion, SQLite underneath."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient, models
from serving import K, in_batches, searchable, serve, turns_of, vectors_of

WORD = re.compile(r"\w+")
DEPTH = 50


class Peer:
    def __init__(self, folder: Path) -> None:
        self.client = QdrantClient(path=str(folder))

    def load(self, turns: str, vectors: str, n: int) -> None:
        rows, start = vectors_of(vectors), 0
        self.client.create_collection(
            "turns",
            vectors_config={"dense": models.VectorParams(size=rows.shape[1], distance=models.Distance.DOT)},
            sparse_vectors_config={"words": models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
        for batch in in_batches(turns_of(turns, n), 1000):
            self._put(batch, rows[start : start + len(batch)])
            start += len(batch)

    def open(self) -> None:
        pass

    def add(self, turn: dict[str, str], vector: Any) -> None:
        self._put([turn], [vector])

    def search(self, text: str, vector: Any, within: Any = None) -> list[str]:
        sides = [
            models.Prefetch(query=vector, using="dense", limit=DEPTH, filter=within),
            models.Prefetch(query=words_of(text), using="words", limit=DEPTH, filter=within),
        ]
        fused = models.FusionQuery(fusion=models.Fusion.RRF)
        found = self.client.query_points("turns", prefetch=sides, query=fused, limit=K)
        return [point.payload["id"] for point in found.points]

    def nearest(self, text: str, vector: Any) -> list[str]:
        found = self.client.query_points("turns", query=vector, using="dense", limit=K)
        return [point.payload["id"] for point in found.points]

    def filtered(self, text: str, vector: Any, conversation: str) -> list[str]:
        asked = models.FieldCondition(key="conversation", match=models.MatchValue(value=conversation))
        return self.search(text, vector, within=models.Filter(must=[asked]))

    def delete(self, turn_id: str) -> None:
        self.client.delete("turns", points_selector=models.PointIdsList(points=[number_of(turn_id)]))

    def close(self) -> None:
        self.client.close()

    def _put(self, turns: list[dict[str, str]], vectors: Any) -> None:
        points = [
            models.PointStruct(
                id=number_of(turn["id"]),
                vector={"dense": vector.tolist(), "words": words_of(searchable(turn))},
                payload=turn,
            )
            for turn, vector in zip(turns, vectors, strict=True)
        ]
        self.client.upsert("turns", points)


def number_of(turn_id: str) -> int:
    return int(turn_id.removeprefix("turn-"))


def words_of(text: str) -> Any:
    counts = Counter(zlib.crc32(word.encode()) for word in WORD.findall(text.lower()))
    return models.SparseVector(indices=list(counts), values=[2.2 * n / (n + 1.2) for n in counts.values()])


serve(Peer)
