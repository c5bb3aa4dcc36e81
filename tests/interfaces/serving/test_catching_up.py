"""What was imported while a server runs is embedded beside the searches, not instead of them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from memory_rag.embedding.embedder import Vectors
from memory_rag.interfaces.mcp.reading import ReadingTools
from memory_rag.interfaces.serving.catching_up import CatchingUp
from memory_rag.interfaces.serving.live_memory import LiveMemory
from memory_rag.memory import Memory
from tests.end_to_end.hashed_words import HashedWords


class Slow(HashedWords):
    """An embedder that waits to be let on before it embeds a turn; questions it embeds at once."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = threading.Event()

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        assert self.goes_on.wait(30)
        return super().embed_turns(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return super().embed_turns(texts)


def memory_with(folder: Path, embedder: Slow, *, n_turns: int) -> LiveMemory:
    with Memory.open(folder, embedder="none") as memory:
        for number in range(n_turns):
            memory.add(f"Punkt {number} om bina.", conversation_id="bees")
    return LiveMemory(folder, lambda create: Memory.open(folder, embedder=embedder, create=create, pending_limit=0))


def test_after_a_search_the_turns_that_waited_are_embedded(tmp_path: Path) -> None:
    embedder = Slow()
    live = memory_with(tmp_path / "m", embedder, n_turns=40)
    tools = ReadingTools(live)

    assert tools.search_memory("bina", k=1).result.pending == 40
    assert tools.search_memory("bina", k=1).result.pending == 40
    embedder.goes_on.set()
    live.catching_up.wait(timeout_s=30)

    assert tools.search_memory("bina", k=1).result.pending == 0
    live.close()


def test_closing_does_not_wait_for_all_of_it(tmp_path: Path) -> None:
    embedder = Slow()
    live = memory_with(tmp_path / "m", embedder, n_turns=400)
    ReadingTools(live).search_memory("bina", k=1)
    closing = threading.Thread(target=live.close)

    closing.start()
    embedder.goes_on.set()
    closing.join(30)

    assert not closing.is_alive()
    with Memory.open(tmp_path / "m", embedder="none", create=False) as memory:
        assert len(memory) == 400


def test_what_is_said_while_it_works_is_caught_up_with_too(tmp_path: Path) -> None:
    embedder = Slow()
    live = memory_with(tmp_path / "m", embedder, n_turns=1)
    memory = live.get()

    live.catching_up.begin(memory)
    embedder.goes_on.set()
    memory.add("Ännu en punkt om bina.", conversation_id="bees")
    live.catching_up.begin(memory)
    live.catching_up.wait(timeout_s=30)

    assert memory.search("bina", k=1).pending == 0
    live.close()


def test_an_embedder_that_is_paid_for_is_not_run_unasked(tmp_path: Path) -> None:
    # Nothing listens there: were it asked, the search's note would say so of the turn, which stays without a vector.
    with Memory.open(tmp_path / "m", embedder="openai:some-model", pending_limit=0) as memory:
        memory.add("Ett ord.")
        work = CatchingUp()

        work.begin(memory)
        work.wait(timeout_s=30)

        assert not (tmp_path / "m" / "vectors").exists()
        work.close()


def test_after_it_is_closed_nothing_begins(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m", embedder="none") as memory:
        work = CatchingUp()
        work.close()
        work.begin(memory)

        assert "catching up" not in {thread.name for thread in threading.enumerate()}
