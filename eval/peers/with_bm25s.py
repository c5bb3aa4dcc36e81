"""bm25s: BM25 scores counted in advance, by words alone. A turn can't be added: the index is made anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bm25s
from serving import K, searchable, serve, turns_of


class Peer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, turns: str, vectors: str, n: int) -> None:
        found = list(turns_of(turns, n))
        self.ids = [turn["id"] for turn in found]
        tokens = bm25s.tokenize([searchable(turn) for turn in found], stopwords="en", show_progress=False)
        self.index = bm25s.BM25()
        self.index.index(tokens, show_progress=False)
        self.index.save(str(self.folder))
        (self.folder / "ids.json").write_text(json.dumps(self.ids), encoding="utf-8")

    def open(self) -> None:
        self.index = bm25s.BM25.load(str(self.folder), mmap=True)
        self.ids = json.loads((self.folder / "ids.json").read_text(encoding="utf-8"))

    def search(self, text: str, vector: Any) -> list[str]:
        tokens = bm25s.tokenize([text], stopwords="en", show_progress=False)
        numbers, _scores = self.index.retrieve(tokens, k=K, show_progress=False)
        return [self.ids[number] for number in numbers[0].tolist()]

    def close(self) -> None:
        pass


serve(Peer)
