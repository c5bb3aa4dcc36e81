"""A clock that jumps, and a process that may open no more files: an error that says so at most, and no word lost."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.summaries.claims import LEASE_S, Claims
from tests.end_to_end.hashed_words import HashedWords

ROOT = Path(__file__).parents[2]

# -- time


def test_a_clock_that_jumps_changes_neither_the_order_nor_what_is_found(tmp_path: Path) -> None:
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    hours = [noon, noon + timedelta(days=18_000), noon - timedelta(days=9_000), noon, noon - timedelta(seconds=1)]
    times = iter(hours * 3)
    last = [noon]

    def clock() -> datetime:
        last[0] = next(times, last[0])
        return last[0]

    with Memory.open(tmp_path / "m", embedder=HashedWords(), language="en", clock=clock) as memory:
        turns = [memory.add(f"the kayak is red, said {number} times") for number in range(5)]
        assert [turn.said_at for turn in turns] == hours
        assert [turn.ordinal for turn in turns] == list(range(5))
        memory.prompt.pins.add("be short")
        memory.embed()
        for number, turn in enumerate(turns):
            assert memory.search(f"said {number} times", k=1, mode="keyword").turn_ids == (turn.turn_id,)
        assert memory.neighbours(turns[2].turn_id)[0] == turns[0]
        memory.summaries.summarise("main", keep_recent=0)
        assert memory.summaries.stored("main")
        assert [turn.text for turn in memory.turns(conversation_id="main")] == [turn.text for turn in turns]
        assert memory.doctor().is_well


@pytest.mark.parametrize("jump", [timedelta(days=4000), -timedelta(days=4000)])
def test_a_claim_from_before_the_clock_jumped_ends(tmp_path: Path, jump: timedelta) -> None:
    now = [datetime(2026, 5, 1, 12, tzinfo=UTC)]
    with Memory.open(tmp_path / "m", embedder="none") as memory:
        of_a_dead_machine = Claims(memory.store.connections, clock=lambda: now[0])
        of_a_dead_machine._name = "elsewhere.example:1:gone"
        assert of_a_dead_machine.take("c")
        ours = Claims(memory.store.connections, clock=lambda: now[0])
        now[0] += timedelta(seconds=LEASE_S / 2)
        assert not ours.take("c")

        now[0] += jump
        assert ours.take("c")


# -- open files


STARVED = """
    import os, resource, sys
    from pathlib import Path
    from memory_rag.errors import MemoryRagError
    from memory_rag.memory import Memory
    from tests.end_to_end.hashed_words import HashedWords

    folder = Path(sys.argv[1])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    def opened(name="m"):
        return Memory.open(folder / name, embedder=HashedWords(), language="en")

    def used(memory):
        memory.search("kayak"); memory.quote("kayak is red"); memory.embed(); memory.indexes.save()
        "".join(memory.export()); memory.doctor(); memory.stats(); memory.context("which kayak is red?")
        memory.forget([memory.add("to be forgotten").turn_id])
        memory.summaries.summarise("main", keep_recent=0)

    with opened() as memory:
        stored = [memory.add("the kayak is red").text]
        used(memory)
        told = set()
        for spare in range(14):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + spare, hard))
            other = None
            for use in (
                lambda: stored.append(memory.add(f"kayak {spare} with few files").text),
                lambda: memory.search("kayak red", floor=False),
                lambda: memory.quote("kayak is red"),
                lambda: memory.embed(),
                lambda: memory.indexes.save(),
                lambda: "".join(memory.export()),
                lambda: memory.forget([memory.add(f"gone{spare}x").turn_id]),
                lambda: memory.doctor(),
                lambda: memory.stats(),
                lambda: opened(f"new{spare}").close(),
                lambda: opened().close(),
            ):
                try:
                    use()
                except MemoryRagError as error:
                    told.add(type(error).__name__)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        kept = [turn.text for turn in memory.turns() if "gone" not in turn.text]
        assert kept == stored, (kept, stored)
        used(memory)
    with opened() as memory:
        assert [turn.text for turn in memory.turns() if "gone" not in turn.text] == stored
        memory.indexes.catch_up()
        assert memory.doctor().is_well
    for path in folder.glob("new*"):
        opened(path.name).close()
    print("kept", len(stored) > 10, bool(told))
"""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system doesn't tell which files are open")
def test_a_process_that_may_open_no_more_files_says_so_and_loses_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(STARVED), str(tmp_path)]

    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)

    assert (ended.stdout, ended.returncode) == ("kept True True\n", 0), ended.stderr
