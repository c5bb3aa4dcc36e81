"""A question is embedded once, by whoever needs it first or foresees it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import EmbedderError
from memory_rag.retrieval.query_vectors import QueryVectors
from tests.end_to_end.hashed_words import HashedWords


class Counted(HashedWords):
    """An embedder that notes what it is asked, and waits to be let on."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.fails = False

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        assert self.goes_on.wait(30)
        if self.fails:
            raise EmbedderError("it can't be reached")
        return super().embed_queries(texts)


def test_a_question_is_embedded_once() -> None:
    vectors, embedder = QueryVectors(), Counted()

    first, second = vectors.of("bina", embedder), vectors.of("bina", embedder)

    assert np.array_equal(first, second)
    assert np.array_equal(first, HashedWords().embed_queries(["bina"])[0])
    assert embedder.asked == ["bina"]


def test_what_is_foreseen_is_embedded_meanwhile_and_waited_for() -> None:
    vectors, embedder = QueryVectors(), Counted()
    embedder.goes_on.clear()

    vectors.foresee("bina", embedder)
    vectors.foresee("bina", embedder)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(vectors.of, "bina", embedder)
        assert not waiting.done()
        embedder.goes_on.set()
        found = waiting.result(30)

    assert np.array_equal(found, HashedWords().embed_queries(["bina"])[0])
    assert embedder.asked == ["bina"]


@pytest.mark.parametrize("foreseen", [False, True])
def test_a_failure_is_told_and_not_kept(foreseen: bool) -> None:
    vectors, embedder = QueryVectors(), Counted()
    embedder.fails = True
    if foreseen:
        embedder.goes_on.clear()
        vectors.foresee("bina", embedder)
        threading.Timer(0.01, embedder.goes_on.set).start()

    with pytest.raises(EmbedderError, match="can't be reached"):
        vectors.of("bina", embedder)
    embedder.fails = False

    assert len(vectors.of("bina", embedder)) == embedder.dim


def test_only_the_last_questions_are_kept() -> None:
    vectors, embedder = QueryVectors(), Counted()

    for number in range(257):
        vectors.of(f"fråga {number}", embedder)
    vectors.of("fråga 1", embedder)
    vectors.of("fråga 0", embedder)

    assert len(embedder.asked) == 258
