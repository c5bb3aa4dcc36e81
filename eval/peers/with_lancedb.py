"""lancedb: a table of columns with a vector index, a word index and reciprocal rank fusion of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
from lancedb.rerankers import RRFReranker
from serving import K, in_batches, serve, turns_of, vectors_of

WANTED = ["id", "text"]
"""Without it, it would return every hit's vector, too."""
INDEXED_FROM = 100_000
"""Rows from which on its documentation asks for a vector index."""
REFINED, REFINED_OF_MANY = 20, 50
"""Times as many are compared exactly as are wanted; of 10 it finds fewer than nine in ten of the nearest of 100,000."""
MANY = 500_000
"""Rows from which on more are compared: of a million, 20 times as many find .88 of the ten nearest, 50 times .94."""
PROBES = 40
"""Partitions looked through, twice its own number."""
PARTITIONS = 256
"""Fewer than it would make of a million rows (1,000), whose training takes many minutes on two cores."""


class Peer:
    def __init__(self, folder: Path) -> None:
        self.database = lancedb.connect(str(folder))
        self.fusion = RRFReranker()

    def load(self, turns: str, vectors: str, n: int) -> None:
        rows = vectors_of(vectors)
        dim = rows.shape[1]
        kinds = pa.schema(
            [
                ("id", pa.string()),
                ("conversation", pa.string()),
                ("text", pa.string()),
                ("vector", pa.list_(pa.float32(), dim)),
            ]
        )

        def batches() -> Any:
            start = 0
            for batch in in_batches(turns_of(turns, n), 10_000):
                flat = pa.array(rows[start : start + len(batch)].reshape(-1), pa.float32())
                start += len(batch)
                columns = [pa.array([turn[name] for turn in batch]) for name in ("id", "conversation", "text")]
                yield pa.record_batch([*columns, pa.FixedSizeListArray.from_arrays(flat, dim)], schema=kinds)

        self.table = self.database.create_table("turns", batches(), schema=kinds)
        self.table.create_fts_index("text")
        self.table.create_scalar_index("conversation", index_type="BITMAP")
        self.table.create_scalar_index("id", index_type="BTREE")
        if n >= INDEXED_FROM:
            self.table.create_index(metric="dot", index_type="IVF_PQ", num_partitions=PARTITIONS)

    def open(self) -> None:
        self.table = self.database.open_table("turns")
        n = self.table.count_rows()
        self.is_indexed = n >= INDEXED_FROM
        self.refined = REFINED_OF_MANY if n >= MANY else REFINED

    def add(self, turn: dict[str, str], vector: Any) -> None:
        row = {name: turn[name] for name in ("id", "conversation", "text")}
        self.table.add([row | {"vector": vector}])

    def search(self, text: str, vector: Any) -> list[str]:
        return [row["id"] for row in self._hybrid(text, vector).to_list()]

    def filtered(self, text: str, vector: Any, conversation: str) -> list[str]:
        within = self._hybrid(text, vector).where(f"conversation = '{conversation}'", prefilter=True)
        return [row["id"] for row in within.to_list()]

    def nearest(self, text: str, vector: Any) -> list[str]:
        asked = self.table.search(vector, vector_column_name="vector").distance_type("dot").limit(K).select(WANTED)
        return [row["id"] for row in self._by_index(asked).to_list()]

    def delete(self, turn_id: str) -> None:
        self.table.delete(f"id = '{turn_id}'")

    def close(self) -> None:
        pass

    def _hybrid(self, text: str, vector: Any) -> Any:
        asked = self.table.search(query_type="hybrid", vector_column_name="vector", fts_columns="text")
        asked = asked.vector(vector).text(text).distance_type("dot").rerank(self.fusion).limit(K).select(WANTED)
        return self._by_index(asked)

    def _by_index(self, asked: Any) -> Any:
        return asked.refine_factor(self.refined).nprobes(PROBES) if self.is_indexed else asked


serve(Peer)
