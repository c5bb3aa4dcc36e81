"""A text that was embedded once is not embedded again, and gets the same vector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.trials.known_texts import KnownTexts
from memory_rag.turns import Span


class Counting:
    """Notes what it was asked to embed; a vector is the text's length and its side."""

    fingerprint, dim, max_tokens, reads_speaker = "counting:2", 2, 8, False
    query_shift = np.zeros(2, np.float32)

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def passages(self, text: str) -> tuple[Span, ...]:
        return (Span(0, len(text)),)

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(tuple(texts))
        return np.array([[len(text), 0] for text in texts], np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(tuple(texts))
        return np.array([[len(text), 1] for text in texts], np.float32)


def test_each_turn_and_each_question_is_embedded_once() -> None:
    under = Counting()
    known = KnownTexts(under)

    assert known.embed_turns(["a", "bb", "a"]).tolist() == [[1, 0], [2, 0], [1, 0]]
    assert known.embed_turns(["bb", "ccc"]).tolist() == [[2, 0], [3, 0]]
    assert known.embed_queries(["bb"]).tolist() == [[2, 1]]
    assert known.embed_queries([]).shape == (0, 2)
    assert under.asked == [("a", "bb"), ("ccc",), ("bb",)]
    assert (known.fingerprint, known.passages("ab")) == ("counting:2", (Span(0, 2),))
