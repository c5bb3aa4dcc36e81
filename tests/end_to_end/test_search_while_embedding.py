"""Keyword search goes on while turns are embedded."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from memory_rag import Memory
from memory_rag.embedding.embedder import Vectors
from tests.end_to_end.hashed_words import HashedWords


class Waiting(HashedWords):
    """An embedder that takes its time: it goes on when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.at_work = threading.Event()
        self.may_go_on = threading.Event()

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        self.at_work.set()
        assert self.may_go_on.wait(30)
        return super().embed_turns(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return HashedWords.embed_turns(self, texts)


def test_another_thread_searches_adds_and_quotes_meanwhile(tmp_path: Path) -> None:
    embedder = Waiting()
    with Memory.open(tmp_path / "work", embedder=embedder) as memory:
        first = memory.add("the kayak is in the shed")
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
