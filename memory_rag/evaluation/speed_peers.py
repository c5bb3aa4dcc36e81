"""Whom a memory is compared with, what each of them does, and one of them measured beside us, in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from memory_rag.evaluation.speed_peer import Answer, PeerProcess
from memory_rag.evaluation.speed_shared import Question, agreement

SLOW_S: Final = 0.5
"""What takes longer is done once a round."""
VERY_SLOW_S: Final = 5.0
"""What takes longer is done once in all."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer: its script's name, and by what it ranks: ``hybrid``, ``dense`` or ``keyword``."""

    name: str
    ranks_by: str
    can_add: bool = True
    words: tuple[str, ...] = ()

    @property
    def script(self) -> str:
        return f"with_{self.name.replace('-', '_')}.py"


US: Final = Peer("memory_rag", "hybrid")
US_FULL: Final = Peer("memory_rag", "hybrid", words=("full",))
PEERS: Final = (
    Peer("lancedb", "hybrid"),
    Peer("txtai", "hybrid"),
    Peer("qdrant", "hybrid"),
    Peer("langchain", "hybrid"),
    Peer("chromadb", "dense"),
    Peer("mem0", "dense"),
    Peer("tantivy", "keyword"),
    Peer("bm25s", "keyword", can_add=False),
    Peer("rank-bm25", "keyword", can_add=False),
)


@dataclass(frozen=True, slots=True)
class Often:
    """How often each thing is done: ``rounds`` of so many questions, adds and deletes, and so many fresh processes."""

    rounds: int = 5
    questions: int = 10
    adds: int = 3
    deletes: int = 3
    openings: int = 5
    opening_budget_s: float = 25.0


@dataclass(slots=True)
class Times:
    """Milliseconds of one thing: a list a round, by wall and by processor."""

    wall_ms: list[list[float]] = field(default_factory=list)
    cpu_ms: list[list[float]] = field(default_factory=list)

    def took(self, answers: Sequence[Answer]) -> None:
        """Note a round; what needs two steps is their sum (see :func:`both`)."""
        self.wall_ms.append([answer.s * 1000 for answer in answers])
        self.cpu_ms.append([answer.cpu_s * 1000 for answer in answers])

    def as_json(self) -> dict[str, Any]:
        """Return the median of all, the medians of the rounds, and the median of processor time."""
        rounds = [float(np.median(one)) for one in self.wall_ms]
        return {
            "median_ms": float(np.median(np.concatenate(self.wall_ms))),
            "least_ms": float(min(map(min, self.wall_ms))),
            "cpu_ms": float(np.median(np.concatenate(self.cpu_ms))),
            "rounds_ms": rounds,
            "n": sum(map(len, self.wall_ms)),
        }


class Side:
    """One of the two who are measured in turns: an open peer and the questions and turns that it gets."""

    def __init__(
        self, peer: Peer, process: PeerProcess, questions: Sequence[Question], new_turns: Iterator[tuple[Any, Any]]
    ) -> None:
        self.peer = peer
        self.process = process
        self.questions = questions
        self.new_turns = new_turns
        self.times: dict[str, Times] = {}
        self.seen: list[bool] = []
        self.gone: list[bool] = []
        self._added: list[tuple[Any, Any]] = []
        self._slow: set[str] = set()
        self._done: set[str] = set()

    def warm_up(self, ways: Sequence[str]) -> None:
        """Ask every question once, so that what is made at the first is made."""
        for question in self.questions:
            for way in ways:
                if way not in self._slow:
                    self._note_pace(way, [self._ask(way, question)])

    def agreement(self) -> float | None:
        """Return the share of the exactly nearest turns that are found by vectors; None if it has none."""
        if self.peer.ranks_by == "keyword":
            return None
        asked = self.questions if "search" not in self._slow else self.questions[:3]
        found = [self._ask("nearest", question).found for question in asked]
        return agreement(found, [question.nearest for question in asked])

    def ask(self, way: str, often: Often, round_number: int) -> None:
        """Time a round of a kind of question."""
        if way in self._done:
            return
        n = 1 if way in self._slow else often.questions
        start = round_number * n
        asked = [self.questions[(start + step) % len(self.questions)] for step in range(n)]
        self._took(way, [self._ask(way, question) for question in asked])

    def add(self, often: Often) -> None:
        """Time a round of adds, and see whether what was added is found at once."""
        if "add" in self._done:
            return
        answers = []
        for _ in range(1 if "add" in self._slow else often.adds):
            turn, vector = next(self.new_turns)
            answers.append(self.process.ask("add", turn=turn, vector=vector))
            self._note_pace("add", answers[-1:])
            self._added.append((turn, vector))
        self._took("add", answers)
        turn, vector = self._added[-1]
        found = self.process.ask("search", text=turn["text"], vector=vector).found
        self.seen.append(turn["id"] in found)

    def delete(self, often: Often) -> None:
        """Time a round of deletes with the search that follows each, and see whether what was deleted is gone."""
        answers: list[Answer] = []
        for turn, vector in self._added[: often.deletes]:
            if "delete" in self._done or ("delete" in self._slow and answers):
                break
            deleted = self.process.ask("delete", turn_id=turn["id"])
            searched = self.process.ask("search", text=turn["text"], vector=vector)
            answers.append(both(deleted, searched))
            self._note_pace("delete", answers[-1:])
            self.gone.append(turn["id"] not in searched.found)
        self._added.clear()
        if answers:
            self._took("delete", answers)

    def _ask(self, way: str, question: Question) -> Answer:
        given: dict[str, Any] = {"text": question.text, "vector": question.vector}
        if way.endswith("filtered"):
            given["conversation"] = question.conversation
        return self.process.ask(way, **given)

    def _took(self, way: str, answers: Sequence[Answer]) -> None:
        self.times.setdefault(way, Times()).took(answers)
        self._note_pace(way, answers)
        if answers[-1].s > VERY_SLOW_S:
            self._done.add(way)

    def _note_pace(self, way: str, answers: Sequence[Answer]) -> None:
        if answers[-1].s > SLOW_S:
            self._slow.add(way)


Act = Callable[[Side, Often], None]


def both(first: Answer, second: Answer) -> Answer:
    """Return two steps as one."""
    return Answer(second.found, first.s + second.s, first.cpu_s + second.cpu_s, second.process_cpu_s, second.peak_mib)


def in_turns(
    sides: Sequence[Side], often: Often, *, our_way: str, acts: Sequence[Act] = (Side.add, Side.delete)
) -> None:
    """Measure sides in rounds, each thing one after the other, who comes first changing with every round.

    Nobody adds or deletes where one of them can't.
    """
    for side in sides:
        side.warm_up(ways_of(side.peer, our_way))
    for number in range(often.rounds):
        order = sides if number % 2 == 0 else sides[::-1]
        for place in range(2):
            for side in order:
                ways = ways_of(side.peer, our_way)
                if place < len(ways):
                    side.ask(ways[place], often, number)
        for act in acts if all(side.peer.can_add for side in sides) else ():
            for side in order:
                act(side, often)


def ways_of(peer: Peer, our_way: str) -> tuple[str, ...]:
    """Return the questions that a side is asked; we are asked as the peer can answer."""
    if peer.name == US.name:
        return (our_way, "keyword_filtered" if our_way == "keyword" else "filtered")
    return ("search", "filtered") if peer.can_add else ("search",)


def opened_cold(
    openings: Mapping[str, Callable[[], PeerProcess]], question: Question, often: Often, *, our_way: str = "search"
) -> dict[str, dict[str, Any]]:
    """Start each in a fresh process, in turns, and time its way from its start to its first answer.

    The most memory that it held until then stands beside; the first of each kind fills the caches and doesn't count.
    """
    seconds: dict[str, list[float]] = {name: [] for name in openings}
    cpu: dict[str, list[float]] = {name: [] for name in openings}
    opening: dict[str, list[float]] = {name: [] for name in openings}
    peak: dict[str, list[float]] = {name: [] for name in openings}
    spent: dict[str, float] = dict.fromkeys(openings, 0.0)
    for _ in range(often.openings + 1):
        for name, start in openings.items():
            if spent[name] > often.opening_budget_s:
                continue
            with start() as process:
                opened = process.ask("open")
                way = our_way if name == "us" else "search"
                answered = process.ask(way, text=question.text, vector=question.vector)
                seconds[name].append(time.perf_counter() - process.began)
                spent[name] += seconds[name][-1]
                cpu[name].append(answered.process_cpu_s)
                opening[name].append(opened.s + answered.s)
                peak[name].append(answered.peak_mib or 0.0)
    return {
        name: {
            "s": float(np.median(counted(seconds[name]))),
            "rounds_s": counted(seconds[name]),
            "cpu_s": float(np.median(counted(cpu[name]))),
            "of_it_opening_s": float(np.median(counted(opening[name]))),
            "peak_mib": max(peak[name]),
        }
        for name in openings
    }


def counted(values: Sequence[float]) -> list[float]:
    """Return the values without the first, or all where there is but one."""
    return list(values[1:] or values)


def waits_for_disk(
    start: Callable[[tuple[str, ...]], PeerProcess],
    side_turns: Iterator[tuple[Any, Any]],
    trace: Path,
    *,
    strace: str,
    n: int = 3,
) -> float:
    """Return how often an add waits for the disk: fsync, fdatasync or msync a turn, as strace counts them."""
    command = (strace, "-f", "-qq", "-e", "trace=fsync,fdatasync,msync,sync_file_range", "-o", str(trace))
    with start(command) as process:
        process.ask("open")
        turns = [next(side_turns) for _ in range(n + 1)]
        # The first one may make what the next ones find made.
        process.ask("add", turn=turns[0][0], vector=turns[0][1])
        before = _calls(trace)
        for turn, vector in turns[1:]:
            process.ask("add", turn=turn, vector=vector)
        after = _calls(trace)
        for turn, _vector in turns:
            process.ask("delete", turn_id=turn["id"])
    return (after - before) / n


def _calls(trace: Path) -> int:
    return sum("sync(" in line for line in trace.read_text(encoding="utf-8", errors="replace").splitlines())
