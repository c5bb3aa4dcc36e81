"""An embedder that knows the texts it has seen: the same turns in many memories are embedded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from memory_rag.embedding.embedder import Embedder, Vectors
from memory_rag.turns import Span


class KnownTexts:
    """An embedder as any other, over one that is asked for each turn and each question only once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._turns: dict[str, Vectors] = {}
        self._queries: dict[str, Vectors] = {}

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dim(self) -> int:
        return self._embedder.dim

    @property
    def max_tokens(self) -> int:
        return self._embedder.max_tokens

    @property
    def reads_speaker(self) -> bool:
        return self._embedder.reads_speaker

    @property
    def query_shift(self) -> Vectors:
        return self._embedder.query_shift

    def passages(self, text: str) -> tuple[Span, ...]:
        return self._embedder.passages(text)

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
