"""A memory or a peer measured beside another: rounds of questions, adds and deletes, one and the other in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Final

import numpy as np

from memory_rag.evaluation.speed_peer import Answer, PeerProcess
from memory_rag.evaluation.speed_peers import US, Often, Peer
from memory_rag.evaluation.speed_shared import Question, agreement

_AGREEMENT_S: Final = 30.0
"""Questions are compared with exact search for so long, ten of them at least."""
_LEAST_COMPARED: Final = 10
_LEAST_WARMED: Final = 3
_Step = tuple[str, Mapping[str, Any]]
"""What is to be done, and with what."""


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
    """One of the two who are measured in turns: an open peer and the questions and turns that it gets.

    ``our_way`` is how we are asked: as the peer beside us can answer. Of what is in ``not_tried`` nothing is done.
    """

    def __init__(
        self,
        peer: Peer,
        process: PeerProcess,
        questions: Sequence[Question],
        new_turns: Iterator[tuple[Any, Any]],
        *,
        often: Often,
        our_way: str = "search",
        not_tried: Mapping[str, str] | None = None,
    ) -> None:
        self.peer = peer
        self.process = process
        self.questions = questions
        self.new_turns = new_turns
        self.often = often
        self.way = our_way if peer.name == US.name else "search"
        self.not_tried = not_tried or {}
        self.times: dict[str, Times] = {}
        self.found: dict[str, list[int]] = {}
        """How many hits each search of the rounds had, by its kind."""
        self.seen: list[bool] = []
        self.gone: list[bool] = []
        self.spent_s = 0.0
        self._added: list[tuple[Any, Any]] = []
        self._slow: set[str] = set()

    def ways(self) -> tuple[str, ...]:
        """Return the questions that it is asked; within a conversation, if that can be asked at all."""
        if not self.peer.can_add:
            return (self.way,)
        within = "keyword_filtered" if self.way == "keyword" else "filtered"
        return tuple(way for way in (self.way, within) if way not in self.not_tried)

    def can(self, act: str) -> bool:
        """Tell whether it is to do this at all."""
        return self.peer.can_add and act not in self.not_tried

    def warm_up(self) -> None:
        """Ask the first questions, which no round asks, so that what is made at the first is made.

        Only the first of them, where they are slow; the very first, which loads all, says nothing of that.
        """
        for number, question in enumerate(self.questions[: self.often.questions]):
            for way in self.ways():
                if number < _LEAST_WARMED or way not in self._slow:
                    self._note_pace(way, [self._ask(way, question)])

    def agreement(self) -> float:
        """Return the share of the exactly nearest turns that are found by vectors.

        Call before anything is added: what is exactly nearest is told by the turns of the file.
        """
        found: list[Sequence[str]] = []
        asked: list[Sequence[str]] = []
        began = time.perf_counter()
        for question in self.questions:
            if len(asked) >= _LEAST_COMPARED and time.perf_counter() - began > _AGREEMENT_S:
                break
            found.append(self._ask("nearest", question).found)
            asked.append(question.nearest)
        return agreement(found, asked)

    def ask(self, way: str, round_number: int) -> None:
        """Time a round of a kind of question; no question is asked in two rounds."""
        if self._is_over(way):
            return
        start = (round_number + 1) * self.often.questions
        n = 1 if way in self._slow else self.often.questions
        answers = self.process.ask_each([self._step(way, one) for one in self.questions[start : start + n]])
        self._took(way, answers)
        self.found.setdefault(way, []).extend(len(answer.found) for answer in answers)

    def add(self) -> None:
        """Time a round of adds."""
        if self._is_over("add") or not self.can("add"):
            return
        new = self._new_turns()
        self._took("add", self.process.ask_each([("add", {"turn": turn, "vector": vector}) for turn, vector in new]))

    def add_and_ask(self) -> None:
        """Time a turn that is added and searched for at once: who only notes a turn at first pays for it here."""
        if self._is_over("add_and_ask") or not self.can("add"):
            return
        new = self._new_turns()
        first = [("add", {"turn": turn, "vector": vector}) for turn, vector in new]
        answers = self._each_with_search(first, new)
        self.seen += [turn["id"] in answer.found for (turn, _), answer in zip(new, answers, strict=True)]
        self._took("add_and_ask", answers)

    def delete(self) -> None:
        """Time a round of deletes with the search that follows each, and see whether what was deleted is gone."""
        if self._is_over("delete") or not self.can("delete") or not self._added:
            return
        gone = self._added[: 1 if "delete" in self._slow else self.often.deletes]
        self._added.clear()
        answers = self._each_with_search([("delete", {"turn_id": turn["id"]}) for turn, _ in gone], gone)
        self.gone += [turn["id"] not in answer.found for (turn, _), answer in zip(gone, answers, strict=True)]
        self._took("delete", answers)

    def as_json(self) -> dict[str, Any]:
        """Return what was measured, by kind, and whether what was added was found and what was deleted was gone."""
        measured: dict[str, Any] = {way: took.as_json() for way, took in self.times.items()}
        for way, numbers in self.found.items():
            measured[way]["n_found"] = float(np.mean(numbers))
        return measured | {"seen": all(self.seen), "gone": all(self.gone)}

    def _new_turns(self) -> list[tuple[Any, Any]]:
        """Return the turns of a round of adds, noted as added."""
        new = list(islice(self.new_turns, 1 if self._slow & {"add", "add_and_ask"} else self.often.adds))
        self._added += new
        return new

    def _each_with_search(self, steps: Sequence[_Step], turns: Sequence[tuple[Any, Any]]) -> list[Answer]:
        """Have something done with each turn and search for it, and return both as one, with what was found."""
        searches: list[_Step] = [(self.way, {"text": turn["text"], "vector": vector}) for turn, vector in turns]
        answers = self.process.ask_each(list(chain.from_iterable(zip(steps, searches, strict=True))))
        return [both(first, second) for first, second in zip(answers[::2], answers[1::2], strict=True)]

    def _ask(self, way: str, question: Question) -> Answer:
        what, given = self._step(way, question)
        return self.process.ask(what, **given)

    def _step(self, way: str, question: Question) -> _Step:
        given: dict[str, Any] = {"text": question.text, "vector": question.vector}
        if way.endswith("filtered"):
            given["conversation"] = question.conversation
        return way, given

    def _took(self, way: str, answers: Sequence[Answer]) -> None:
        self.times.setdefault(way, Times()).took(answers)
        self.spent_s += sum(answer.s for answer in answers)
        self._note_pace(way, answers)

    def _note_pace(self, way: str, answers: Sequence[Answer]) -> None:
        if answers[-1].s > self.often.slow_s:
            self._slow.add(way)
        else:
            self._slow.discard(way)

    def _is_over(self, way: str) -> bool:
        """Tell whether what is slow has had its time; each thing is done once at least."""
        return way in self._slow and way in self.times and self.spent_s > self.often.budget_s


Act = Callable[[Side], None]
ACTS: Final[tuple[Act, ...]] = (Side.add, Side.add_and_ask, Side.delete)


def both(first: Answer, second: Answer) -> Answer:
    """Return two steps as one."""
    return Answer(second.found, first.s + second.s, first.cpu_s + second.cpu_s, second.process_cpu_s, second.peak_mib)


def in_turns(sides: Sequence[Side], *, acts: Sequence[Act] = ACTS) -> None:
    """Measure sides that are warm in rounds, each thing one after the other, who comes first changing every round.

    Nobody is asked, adds or deletes where one of them can't.
    """
    often = sides[0].often
    if not all(side.peer.can_add for side in sides):
        acts = ()
    n_ways = min(len(side.ways()) for side in sides)
    for number in range(often.rounds):
        order = sides if number % 2 == 0 else sides[::-1]
        for place in range(n_ways):
            for side in order:
                side.ask(side.ways()[place], number)
        for act in acts:
            for side in order:
                act(side)
