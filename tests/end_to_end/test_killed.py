"""A process that is killed loses no turn that it acknowledged, whatever it was doing."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pytest

from memory_rag.memory import Memory
from memory_rag.retrieval.agreement import disagreement
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.turns import Turn
from tests.end_to_end import adding_child
from tests.end_to_end.adding_child import mark_of, text_of
from tests.end_to_end.hashed_words import HashedWords

ROUNDS_IN_ONE_MEMORY = 10
LONGEST_LIFE_S = 0.25
"""Of its own processor time: on a busy machine a process lives longer, and does as much."""


@dataclass
class Acknowledged:
    """What a memory's processes said they had done: each turn's number, and what may have happened to it since."""

    number: dict[str, int] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    correcting: dict[str, int] = field(default_factory=dict)
    forgetting: set[str] = field(default_factory=set)
    pinned: set[int] = field(default_factory=set)
    state: int = 0
    setting: int = 0

    def hear(self, line: str) -> None:
        sign, turn_id, *rest = line.split()
        match sign:
            case "+" | "=":
                self.number[turn_id] = int(rest[0])
                self.correcting.clear()
            case "~":
                self.correcting[turn_id] = int(rest[0])
            case "p":
                self.pinned.add(int(rest[0]))
            case "S":
                self.setting = int(rest[0])
            case "s":
                self.state = int(rest[0])
            case "?":
                self.forgetting.add(turn_id)
            case "-":
                self.gone.add(turn_id)
                del self.number[turn_id]
                self.forgetting.clear()

    def settle(self, stored: dict[str, Turn]) -> None:
        """Take what is stored for what was said, once it was found to hold."""
        self.number = {name: number_of(turn.text) for name, turn in stored.items()}
        self.gone |= self.forgetting - stored.keys()
        self.correcting.clear()
        self.forgetting.clear()


@contextmanager
def nursery() -> Iterator[subprocess.Popen[str]]:
    """A process that bears processes to be killed."""
    command = [sys.executable, "-m", adding_child.__name__]
    root = Path(adding_child.__file__).parents[2]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(output: IO[str] | None) -> Iterator[str]:
    assert output is not None
    while line := output.readline():
        yield line.rstrip("\n")


def live_and_die(process: subprocess.Popen[str], folder: Path, seed: int, heard: Acknowledged) -> None:
    """Let one process work on a memory for a random time, kill it, and hear what it said before."""
    assert process.stdin is not None
    process.stdin.write(f"{folder} {seed}\n")
    process.stdin.flush()
    output = lines(process.stdout)
    child = int(next(output).removeprefix("child "))
    wait_until_it_has_worked(child, random.Random(seed).uniform(0.0, LONGEST_LIFE_S))
    os.kill(child, signal.SIGKILL)
    for line in output:
        if line == "dead":
            return
        heard.hear(line)
    pytest.fail("the process that bears processes is gone")


def wait_until_it_has_worked(child: int, seconds: float) -> None:
    at_work = Path(f"/proc/{child}/schedstat")
    if not at_work.exists():
        time.sleep(seconds)
        return
    begun = worked_ns(at_work)
    while worked_ns(at_work) - begun < seconds * 1e9:
        time.sleep(0.002)


def worked_ns(at_work: Path) -> int:
    return int(at_work.read_text().split()[0])


def check(folder: Path, heard: Acknowledged) -> None:
    """Open what a killed process left, and compare it with what it said."""
    embedder = HashedWords()
    with Memory.open(folder, embedder=embedder, language="en") as memory:
        assert memory.store.check() == []
        stored = {turn.turn_id: turn for turn in memory.turns()}
        assert heard.number.keys() - stored.keys() <= heard.forgetting
        assert stored.keys() & heard.gone == set()
        for name in heard.number.keys() & stored.keys():
            # What was begun and not acknowledged is done or not done, never half.
            may_be = {text_of(heard.number[name]), text_of(heard.correcting.get(name, heard.number[name]))}
            assert stored[name].text in may_be
        assert all(turn.text == text_of(number_of(turn.text)) for turn in stored.values())
        heard.settle(stored)
        check_what_goes_along(memory, heard)
        for name, n_turns in Counter(turn.conversation_id for turn in stored.values()).items():
            assert not name.startswith("import-") or n_turns == int(name.split("-")[2])

        built = KeywordIndex(memory.indexes.keyword.analyzer)
        built.catch_up(memory.store)
        memory.indexes.catch_up()
        assert disagreement(memory.indexes.keyword, built) == ""
        memory.embed()
        dense = memory.indexes.dense()
        assert dense is not None
        assert dense.covered[memory.indexes.keyword.table.living()].all()
        for name in random.Random(len(stored)).sample(sorted(stored), min(len(stored), 3)):
            text = stored[name].text
            for mode in ("keyword", "hybrid"):
                found = memory.search(mark_of(number_of(text)), k=5, mode=mode, floor=False)
                assert name in found.turn_ids
            (passage, *_) = embedder.passages(text)
            found = memory.search(passage.of(text), k=20, mode="dense")
            assert name in [hit.turn.turn_id for hit in found if hit.score > 1 - 1e-6]
        memory.indexes.save()
    assert sorted(path.name for path in (folder / "derived").iterdir()) == ["keyword.npz", "manifest.json"]


def check_what_goes_along(memory: Memory, heard: Acknowledged) -> None:
    """Check pins and the state, and that no turn stands in two summaries and no summary for a turn that is gone."""
    assert {number_of(pin.text) for pin in memory.prompt.pins.all()} >= heard.pinned
    state = memory.prompt.state.get()
    if state or heard.state:
        assert state == {"number": state["number"], "text": text_of(state["number"])}
        assert state["number"] in (heard.state, heard.setting)
        heard.state = state["number"]
    with memory.store.connections.reading() as connection:
        covered = [row for (row,) in connection.execute("SELECT row FROM summary_turns JOIN summaries USING (summary)")]
        gone = connection.execute("SELECT count(*) FROM summary_citations WHERE row NOT IN (SELECT row FROM turns)")
        assert len(covered) == len(set(covered))
        assert gone.fetchone()[0] == 0
    memory.summaries.summarise("c", keep_recent=0)
    assert all(line.turn_ids for summary in memory.summaries.stored("c") for line in summary.lines)


def number_of(text: str) -> int:
    (word,) = {word for word in text.split(" ") if word.startswith("mark")}
    return int(word.removeprefix("mark").removesuffix("x"))


def kill_and_check(*, n_rounds: int, seed: int) -> int:
    """Kill so many processes, and return how many turns they had acknowledged."""
    n_heard = 0
    with nursery() as process, tempfile.TemporaryDirectory() as place:
        for first in range(0, n_rounds, ROUNDS_IN_ONE_MEMORY):
            folder = Path(place) / f"memory{first}"
            heard = Acknowledged()
            for number in range(first, min(first + ROUNDS_IN_ONE_MEMORY, n_rounds)):
                live_and_die(process, folder, seed + number, heard)
                n_heard += len(heard.number)
                check(folder, heard)
    return n_heard


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_fifty_killed_processes_lose_no_acknowledged_turn() -> None:
    assert kill_and_check(n_rounds=50, seed=1) > 500


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
@pytest.mark.parametrize("part", range(5))
def test_a_thousand_killed_processes_lose_no_acknowledged_turn(part: int) -> None:
    assert kill_and_check(n_rounds=200, seed=1000 * (part + 1)) > 2000
