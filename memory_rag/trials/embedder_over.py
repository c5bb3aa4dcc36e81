"""An embedder over another one, which it is in all that it doesn't do otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from memory_rag.embedding.embedder import Embedder, Vectors
from memory_rag.turns import Span


class EmbedderOver:
    """Passes everything on to the embedder that it is over."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

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
        return self._embedder.embed_turns(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed_queries(texts)
