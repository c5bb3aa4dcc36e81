"""Who is slow is asked less; who only was slow to begin with isn't."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from memory_rag.evaluation.speed_peer import Answer, PeerProcess
from memory_rag.evaluation.speed_peer_side import Side
from memory_rag.evaluation.speed_peers import US, Often
from memory_rag.evaluation.speed_shared import Question

OFTEN = Often(rounds=3, questions=10, slow_s=0.5)


class Paced:
    """Answers in the times given, one question after the other, the last of them for ever."""

    def __init__(self, *seconds: float) -> None:
        self.seconds = list(seconds)
        self.asked: list[str] = []

    def ask(self, what: str, **given: Any) -> Answer:
        self.asked.append(given["text"])
        seconds = self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0]
        return Answer([], seconds, seconds, seconds, None)

    def ask_each(self, steps: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Answer]:
        return [self.ask(what, **given) for what, given in steps]


def side(process: Paced) -> Side:
    questions = [
        Question(text=f"question {n}", vector=[0.0, 1.0], conversation="c", nearest=[])
        for n in range(OFTEN.questions * (OFTEN.rounds + 1))
    ]
    return Side(
        US, cast("PeerProcess", process), questions, iter(()), often=OFTEN, not_tried={"filtered": "not looked at"}
    )


@pytest.mark.parametrize(
    ("seconds", "n_warmed", "n_timed"),
    [((2.0, 0.01), 10, 30), ((0.01,), 10, 30), ((2.0,), 3, 3), ((2.0, 2.0, 2.0, 2.0, 0.01), 3, 12)],
)
def test_each_round_asks_one_question_of_who_took_long_for_the_last(
    seconds: tuple[float, ...], n_warmed: int, n_timed: int
) -> None:
    process = Paced(*seconds)
    asked = side(process)

    asked.warm_up()
    warmed = len(process.asked)
    for number in range(OFTEN.rounds):
        asked.ask("search", number)

    assert warmed == n_warmed
    assert asked.times["search"].as_json()["n"] == n_timed
    assert len(set(process.asked)) == len(process.asked)
