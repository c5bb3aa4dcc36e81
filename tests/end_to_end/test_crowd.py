"""Eight writers and four readers, forked workers, models that take their time: nobody waits or loses a word."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memory_rag.embedding.embedder import Vectors
from memory_rag.memory import Memory
from memory_rag.summaries.running import RunningSummaries
from memory_rag.summaries.summary import Kind, Line
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Turn
from tests.end_to_end.crowd import opened, text_of
from tests.end_to_end.hashed_words import HashedWords

ROOT = Path(__file__).parents[2]


def crowd(folder: Path, *, n_writers: int, n_readers: int, n_turns: int) -> list[str]:
    """Let so many processes use a memory at once, and return what they say."""
    numbers = map(str, (n_writers, n_readers, n_turns))
    command = [sys.executable, "-m", "tests.end_to_end.crowd", str(folder), *numbers]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def assert_all_there(folder: Path, *, n_writers: int, n_turns: int) -> None:
    with opened(folder) as memory:
        turns = list(memory.turns())
        assert len(turns) == n_writers * n_turns
        for writer in range(n_writers):
            own = [turn.text for turn in turns if turn.speaker == f"w{writer}"]
            assert own == [text_of(writer, number) for number in range(n_turns)]
        assert [turn.ordinal for turn in memory.turns(conversation_id="main")] == list(range(len(turns)))
        assert [change.seq for change in memory.store.changes_since(0)] == list(range(1, len(turns) + 1))
        assert memory.store.check() == []


@pytest.mark.parametrize(
    "n_turns", [pytest.param(150, id="1,200 turns"), pytest.param(1250, id="10,000 turns", marks=pytest.mark.slow)]
)
def test_eight_writers_and_four_readers_lose_nothing_and_keep_each_writers_order(tmp_path: Path, n_turns: int) -> None:
    assert crowd(tmp_path / "memory", n_writers=8, n_readers=4, n_turns=n_turns) == ["done"]

    assert_all_there(tmp_path / "memory", n_writers=8, n_turns=n_turns)


# -- a server that forks its workers


SERVER = """
    import os, sys, time
    from pathlib import Path
    from memory_rag.memory import Memory
    from tests.end_to_end.hashed_words import HashedWords

    folder = Path(sys.argv[1])
    asked = "kayak and paddling on the lake"

    def opened():
        return Memory.open(folder, embedder=HashedWords(), language="en")

    memory = opened()
    for number in range(300):
        memory.add(f"We went paddling in kayak {number} on the lake")
    memory.embed()
    memory.indexes.save()
    first = memory.search(asked, mode="dense").turn_ids
    if sys.argv[2] == "closed":
        memory.close()
    workers = []
    for number in range(8):
        worker = os.fork()
        if worker == 0:
            with opened() as own:
                for round in range(5):
                    assert own.search(asked, mode="dense").turn_ids == first
                    assert own.search(f"kayak {number}", mode="hybrid", k=1)[0].turn.text.startswith("We went")
                own.add(f"worker{number}x was here")
            os._exit(0)
        workers.append(worker)
    deadline = time.monotonic() + 60
    left = set(workers)
    while left and time.monotonic() < deadline:
        for worker in list(left):
            pid, status = os.waitpid(worker, os.WNOHANG)
            if pid:
                left.remove(worker)
                assert status == 0, status
        time.sleep(0.01)
    for worker in left:
        os.kill(worker, 9)
    with opened() as again:
        here = [again.search(f"worker{number}x", mode="keyword").turn_ids for number in range(8)]
    print(len(left), sum(map(len, here)), flush=True)
    os._exit(0)
"""


@pytest.mark.parametrize("parent", ["open", "closed"])
def test_eight_forked_workers_search_without_hanging(tmp_path: Path, parent: str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SERVER), str(tmp_path / "memory"), parent]

    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)

    assert (ended.stdout, ended.returncode) == ("0 8\n", 0), ended.stderr


# -- models that take their time


class Gate:
    """Where a model stands still until it may go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def pass_through(self) -> None:
        self.reached.set()
        assert self.open.wait(60)


class SlowEmbedder(HashedWords):
    def __init__(self, gate: Gate) -> None:
        super().__init__()
        self._gate = gate

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        self._gate.pass_through()
        return super().embed_turns(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return HashedWords().embed_queries(texts)


class SlowSummarizer:
    fingerprint = "slow"

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def extend(
        self, earlier: Sequence[Line], turns: Sequence[Turn], *, focus: str = "", word_limit: int = 200
    ) -> tuple[Line, ...]:
        self._gate.pass_through()
        return (*earlier, *(Line(Kind.POINT, "They talked.", (turn.turn_id,)) for turn in turns[:1]))


def assert_others_go_on(folder: Path, memory: Memory) -> None:
    """Use a memory from this thread, and through files of its own as another process would."""
    with Memory.open(folder, embedder="none", language="en") as other:
        for number, one in enumerate((memory, other)):
            added = one.add(f"said meanwhile{number}x")
            assert one.search(f"meanwhile{number}x", mode="keyword").turn_ids == (added.turn_id,)
            assert one.quote(f"said meanwhile{number}x")[0].turn_id == added.turn_id
            one.correct(added.turn_id, text=f"corrected meanwhile{number}x")
            one.prompt.pins.add(f"pin {number}")
            assert one.search("kayak", mode="keyword").hits
        other.forget([added.turn_id])


def waiting(work: Callable[[], object], gate: Gate, meanwhile: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert gate.reached.wait(30)
        meanwhile()
    finally:
        gate.open.set()
        thread.join(60)


@pytest.mark.parametrize("use", ["embed", "reindex"])
def test_no_lock_is_held_while_turns_are_embedded(tmp_path: Path, use: str) -> None:
    gate = Gate()
    with Memory.open(tmp_path / "m", embedder=SlowEmbedder(gate), language="en", busy_timeout_s=2) as memory:
        memory.add("the kayak is red")
        waiting(getattr(memory, use), gate, lambda: assert_others_go_on(tmp_path / "m", memory))

        assert memory.search("the kayak is red", mode="dense", k=1).turn_ids == ("t1",)


def test_no_lock_is_held_while_a_summary_is_written(tmp_path: Path) -> None:
    gate = Gate()
    with Memory.open(tmp_path / "m", embedder="none", language="en", busy_timeout_s=2) as memory:
        for number in range(12):
            memory.add(f"the kayak is red, said {number} times")
        summaries = RunningSummaries(
            memory.store, analyzer=lambda: Analyzer(("en",)), summarizer=lambda: SlowSummarizer(gate)
        )

        def meanwhile() -> None:
            assert_others_go_on(tmp_path / "m", memory)

        waiting(lambda: summaries.summarise("main", keep_recent=2), gate, meanwhile)
        # What changed meanwhile may have made it void; nobody is in the way of the next.
        summaries.summarise("main", keep_recent=2)
        assert summaries.stored("main")
        summaries.close()
