"""rank-bm25: every turn scored for every question, in memory; nothing is kept, so opening means building."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi
from serving import K, searchable, serve, turns_of


class Peer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, turns: str, vectors: str, n: int) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "source.json").write_text(json.dumps({"turns": turns, "n": n}), encoding="utf-8")
        self.open()

    def open(self) -> None:
        source = json.loads((self.folder / "source.json").read_text(encoding="utf-8"))
        self.turns, tokens = [], []
        for turn in turns_of(source["turns"], source["n"]):
            self.turns.append((turn["id"], turn["text"]))
            tokens.append(searchable(turn).lower().split())
        self.index = BM25Okapi(tokens)

    def search(self, text: str, vector: Any) -> list[str]:
        scores = self.index.get_scores(text.lower().split())
        best = np.argpartition(-scores, K)[:K] if len(scores) > K else np.arange(len(scores))
        return [self.turns[number][0] for number in best[np.argsort(-scores[best])].tolist()]

    def close(self) -> None:
        pass


serve(Peer)
