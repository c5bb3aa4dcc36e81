"""An embedder that knows the texts it has seen: the same turns in many memories are embedded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from memory_rag.embedding.embedder import Embedder, Vectors
from memory_rag.trials.embedder_over import EmbedderOver


class KnownTexts(EmbedderOver):
    """An embedder as any other, over one that is asked for each turn and each question only once."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._turns: dict[str, Vectors] = {}
        self._queries: dict[str, Vectors] = {}

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        return self._known(texts, self._turns, embed=self._embedder.embed_turns)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._known(texts, self._queries, embed=self._embedder.embed_queries)

    def _known(
        self, texts: Sequence[str], known: dict[str, Vectors], *, embed: Callable[[Sequence[str]], Vectors]
    ) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, embed(new), strict=True))
        return np.stack([known[text] for text in texts]) if texts else np.zeros((0, self.dim), np.float32)
