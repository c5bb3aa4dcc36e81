"""Keyword search goes on while turns are embedded."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from memory_rag import Memory
from memory_rag.embedding.embedder import Vectors
from memory_rag.turns import Span
from tests.end_to_end.hashed_words import HashedWords


class Waiting(HashedWords):
    """An embedder that takes its time with texts, or to cut a long one: it goes on when it is told to."""

    def __init__(self, *, to_cut: bool) -> None:
        super().__init__()
        self._to_cut = to_cut
        self.at_work = threading.Event()
        self.may_go_on = threading.Event()

    def passages(self, text: str) -> tuple[Span, ...]:
        if self._to_cut and len(text) > 10_000:
            self._take_time()
        return super().passages(text)

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        if not self._to_cut:
            self._take_time()
        return super().embed_turns(texts)

    def _take_time(self) -> None:
        self.at_work.set()
        assert self.may_go_on.wait(30)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return HashedWords.embed_turns(self, texts)


@pytest.mark.parametrize("to_cut", [False, True], ids=["embedding", "cutting"])
def test_another_thread_searches_adds_and_quotes_meanwhile(tmp_path: Path, to_cut: bool) -> None:
    embedder = Waiting(to_cut=to_cut)
    with Memory.open(tmp_path / "work", embedder=embedder) as memory:
        first = memory.add("the kayak is in the shed " * (500 if to_cut else 1))
        embedding = threading.Thread(target=memory.embed)
        embedding.start()
        try:
            assert embedder.at_work.wait(30)
            second = memory.add("the paddle hangs above the kayak")
            assert set(memory.search("kayak", mode="keyword").turn_ids) == {first.turn_id, second.turn_id}
            hybrid = memory.search("kayak", floor=False)
            assert set(hybrid.turn_ids) == {first.turn_id, second.turn_id}
            assert hybrid.pending == 2
            assert [quote.turn_id for quote in memory.quote("hangs above the kayak")] == [second.turn_id]
        finally:
            embedder.may_go_on.set()
            embedding.join(30)
        assert memory.search("kayak", floor=False).pending == 0
