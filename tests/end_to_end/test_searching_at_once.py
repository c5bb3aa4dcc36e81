"""Who searches waits for nobody's embedding but that of the own question."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import EmbedderError
from memory_rag.memory import Memory
from tests.end_to_end.hashed_words import HashedWords

WAIT_S = 30


class Held(HashedWords):
    """An embedder that is stopped at a text until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.stops_at = ""
        self.is_there, self.goes_on = threading.Event(), threading.Event()
        self.fails = False
        self.n_asked = 0

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self._met(texts)
        return super().embed_queries(texts)

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        self._met(texts)
        return super().embed_turns(texts)

    def _met(self, texts: Sequence[str]) -> None:
        self.n_asked += 1
        if self.fails:
            raise EmbedderError("it can't be reached")
        if self.stops_at and any(self.stops_at in text for text in texts):
            self.is_there.set()
            assert self.goes_on.wait(WAIT_S)


@contextmanager
def memory_of(folder: Path, embedder: Held) -> Iterator[Memory]:
    with Memory.open(folder, embedder=embedder, language="en") as memory:
        for text in ("The kayak is green.", "The canoe leaks.", "Taxes are due in May."):
            memory.add(text)
        memory.embed()
        # Known from here on.
        memory.search("kayak")
        yield memory


def test_others_search_while_a_question_is_embedded(tmp_path: Path) -> None:
    embedder = Held()
    with memory_of(tmp_path / "m", embedder) as memory, ThreadPoolExecutor(1) as pool:
        embedder.stops_at = "leaking"
        waiting = pool.submit(memory.search, "a leaking canoe")
        assert embedder.is_there.wait(WAIT_S)

        by_keyword = memory.search("taxes", mode="keyword")
        by_both = memory.search("kayak")

        assert not waiting.done()
        embedder.goes_on.set()
        assert waiting.result(WAIT_S).turn_ids[0] == "t2"
        assert (by_keyword.turn_ids, by_both.turn_ids[0]) == (("t3",), "t1")


def test_others_search_while_turns_are_embedded_on_the_way(tmp_path: Path) -> None:
    embedder = Held()
    with memory_of(tmp_path / "m", embedder) as memory, ThreadPoolExecutor(1) as pool:
        memory.add("The sledge is in the barn.")
        embedder.stops_at = "sledge"
        waiting = pool.submit(memory.search, "kayak")
        assert embedder.is_there.wait(WAIT_S)

        meanwhile = memory.search("kayak", floor=False)

        assert not waiting.done()
        embedder.goes_on.set()
        assert waiting.result(WAIT_S).pending == 0
        assert (meanwhile.turn_ids[0], meanwhile.pending) == ("t1", 1)


@pytest.mark.parametrize("n_pending", [0, 1])
def test_an_embedder_that_fails_is_waited_for_once(tmp_path: Path, n_pending: int) -> None:
    embedder = Held()
    with memory_of(tmp_path / "m", embedder) as memory:
        for _ in range(n_pending):
            memory.add("The sledge is in the barn.")
        embedder.fails, embedder.n_asked = True, 0

        ranking = memory.search("canoe")

        assert (ranking.turn_ids[0], embedder.n_asked) == ("t2", 1)
        assert ranking.notes == ("found by keyword only: it can't be reached",)
        embedder.fails = False
        assert memory.search("canoe").notes == ()
