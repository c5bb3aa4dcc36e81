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

    # It keeps no texts by itself, which a memory has to return: they lie beside it and are held with it.

    def load(self, turns: str, vectors: str, n: int) -> None:
        found = list(turns_of(turns, n))
        self.turns = [[turn["id"], turn["text"]] for turn in found]
        tokens = bm25s.tokenize([searchable(turn) for turn in found], stopwords="en", show_progress=False)
        self.index = bm25s.BM25()
        self.index.index(tokens, show_progress=False)
        self.index.save(str(self.folder))
        (self.folder / "turns.json").write_text(json.dumps(self.turns), encoding="utf-8")

    def open(self) -> None:
        self.index = bm25s.BM25.load(str(self.folder), mmap=True)
        self.turns = json.loads((self.folder / "turns.json").read_text(encoding="utf-8"))

    def search(self, text: str, vector: Any) -> list[str]:
        tokens = bm25s.tokenize([text], stopwords="en", show_progress=False)
        numbers, _scores = self.index.retrieve(tokens, k=K, show_progress=False)
        return [turn_id for turn_id, _text in (self.turns[number] for number in numbers[0].tolist())]

    def close(self) -> None:
        pass


serve(Peer)
