"""An embedder for tests whose vectors are written down beside the texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memory_rag.embedding.embedder import Vectors, checked_vectors
from memory_rag.turns import Span


class GivenVectors:
    """Texts have the vectors given; any other text has ``elsewhere``, by default the last axis.

    With ``raw`` turns' vectors come out as they are given, of any length; ``passage`` cuts texts into so many code
    points.
    """

    max_tokens = 1000
    reads_speaker = False

    def __init__(
        self,
        vectors: Mapping[str, Sequence[float]],
        *,
        dim: int = 2,
        elsewhere: Sequence[float] | None = None,
        shift: Sequence[float] | None = None,
        passage: int | None = None,
        raw: bool = False,
        name: str = "given",
    ) -> None:
        self.vectors = {text: np.array(vector, np.float32) for text, vector in vectors.items()}
        self.dim = dim
        self.elsewhere = np.array([0.0] * (dim - 1) + [1.0] if elsewhere is None else elsewhere, np.float32)
        self.query_shift: Vectors = np.zeros(dim, np.float32) if shift is None else np.array(shift, np.float32)
        self.passage = passage
        self.raw = raw
        self.fingerprint = f"{name}-{dim}"
        self.embedded: list[str] = []

    def passages(self, text: str) -> tuple[Span, ...]:
        size = self.passage or max(1, len(text))
        return tuple(Span(start, min(len(text), start + size)) for start in range(0, max(1, len(text)), size))

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        self.embedded.extend(texts)
        rows = self._rows(texts)
        return rows if self.raw else checked_vectors(rows, n=len(texts), dim=self.dim)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return checked_vectors(self._rows(texts), n=len(texts), dim=self.dim)

    def _rows(self, texts: Sequence[str]) -> Vectors:
        rows = [self.vectors.get(text, self.elsewhere) for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), self.dim)
