"""A question is embedded once, by whoever needs it first, and with those that are asked meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
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
        self.runs: list[list[str]] = []
        self.refused = ""
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.fails = False

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        self.runs.append(list(texts))
        assert self.goes_on.wait(30)
        if self.fails or (self.refused and self.refused in texts):
            raise EmbedderError("it can't be reached")
        return super().embed_queries(texts)


def test_a_question_is_embedded_once() -> None:
    vectors, embedder = QueryVectors(), Counted()

    first, second = vectors.of("bina", embedder), vectors.of("bina", embedder)

    assert np.array_equal(first, second)
    assert np.array_equal(first, HashedWords().embed_queries(["bina"])[0])
    assert embedder.asked == ["bina"]


def test_what_is_prepared_is_embedded_meanwhile_and_waited_for() -> None:
    vectors, embedder = QueryVectors(), Counted()
    embedder.goes_on.clear()
    with ThreadPoolExecutor(2) as pool:
        preparing = pool.submit(vectors.prepare, ["bina", "kupan", "bina"], embedder)
        wait_until(lambda: bool(embedder.asked))
        waiting = pool.submit(vectors.of, "bina", embedder)
        assert not waiting.done()
        embedder.goes_on.set()
        found = waiting.result(30)

        assert preparing.result(30)
    assert np.array_equal(found, HashedWords().embed_queries(["bina"])[0])
    assert embedder.runs == [["bina", "kupan"]]


def test_a_failure_is_told_and_not_kept() -> None:
    vectors, embedder = QueryVectors(), Counted()
    embedder.fails = True

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


def test_questions_that_are_asked_at_once_are_embedded_together() -> None:
    vectors, embedder = QueryVectors(), Counted()
    embedder.goes_on.clear()
    with ThreadPoolExecutor(20) as pool:
        first = pool.submit(vectors.of, "först", embedder)
        wait_until(lambda: embedder.asked == ["först"])
        others = [pool.submit(vectors.of, f"fråga {number}", embedder) for number in range(18)]
        wait_until(lambda: len(vectors._waiting) == 18)
        embedder.goes_on.set()
        found = [one.result(30) for one in (first, *others)]

    texts = ["först", *(f"fråga {number}" for number in range(18))]
    assert np.array_equal(found, HashedWords().embed_queries(texts))
    assert [len(run) for run in embedder.runs] == [1, 16, 2]


def test_a_question_that_fails_takes_no_other_with_it() -> None:
    vectors, embedder = QueryVectors(), Counted()
    embedder.goes_on.clear()
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(vectors.of, "först", embedder)
        wait_until(lambda: embedder.asked == ["först"])
        bad = pool.submit(vectors.of, "trasig", embedder)
        good = pool.submit(vectors.of, "hel", embedder)
        wait_until(lambda: len(vectors._waiting) == 2)
        embedder.refused = "trasig"
        embedder.goes_on.set()

        assert len(first.result(30)) == len(good.result(30)) == embedder.dim
        with pytest.raises(EmbedderError, match="can't be reached"):
            bad.result(30)


def test_what_could_not_be_prepared_is_told_once_without_being_tried_again() -> None:
    vectors, embedder = QueryVectors(), Counted()
    embedder.fails = True

    assert not vectors.prepare(["bina"], embedder)
    with pytest.raises(EmbedderError, match="can't be reached"):
        vectors.of("bina", embedder)
    assert embedder.asked == ["bina"]
    embedder.fails = False

    assert vectors.prepare(["bina"], embedder)
    assert len(vectors.of("bina", embedder)) == embedder.dim
    assert embedder.asked == ["bina", "bina"]


def wait_until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.001)
