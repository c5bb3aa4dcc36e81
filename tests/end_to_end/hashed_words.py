"""A small embedder for tests: words hashed into a few dozen numbers, no model, the same everywhere."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import EmbedderError
from memory_rag.turns import Span, printable

WORDS_IN_PASSAGE = 12
OVERLAP = 4


class HashedWords:
    """Texts that share words have near vectors; a longer text is cut into passages of twelve words."""

    def __init__(self, *, dim: int = 64, name: str = "hashed-words", reads_speaker: bool = False) -> None:
        self.dim = dim
        self.name = name
        self.reads_speaker = reads_speaker
        self.n_embedded = 0

    @property
    def fingerprint(self) -> str:
        return f"{self.name}-{self.dim}"

    @property
    def max_tokens(self) -> int:
        return WORDS_IN_PASSAGE + 64

    @property
    def query_shift(self) -> Vectors:
        return np.zeros(self.dim, np.float32)

    def passages(self, text: str) -> tuple[Span, ...]:
        words = [match.span() for match in re.finditer(r"\S+", text)]
        if len(words) <= WORDS_IN_PASSAGE:
            return (Span(0, len(text)),)
        firsts = range(0, len(words) - OVERLAP, WORDS_IN_PASSAGE - OVERLAP)
        return tuple(Span(words[i][0], words[i : i + WORDS_IN_PASSAGE][-1][1]) for i in firsts)

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        self.n_embedded += len(texts)
        rows = np.zeros((len(texts), self.dim), np.float64)
        for row, text in zip(rows, texts, strict=True):
            # A text without a word has a direction too.
            row[0] = 0.5
            for word in re.findall(r"\w+", printable(text).casefold()):
                hashed = zlib.crc32(word.encode())
                row[1 + hashed % (self.dim - 1)] += 1.0 if hashed & 0x10000 else -1.0
        unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_turns(texts)


class NoAnswer(HashedWords):
    """An embedder whose model can't be reached."""

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderError("the model doesn't answer; try again later")
