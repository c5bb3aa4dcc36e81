"""Tokens are counted of what somebody asks for, and once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memory_rag.evaluation.benchmark import Benchmark, Document, Dropped
from memory_rag.evaluation.token_counts import TokenCounts
from memory_rag.turns import Role, Turn


class Counting:
    """Counts words, ten thousand letters at a time, and remembers the texts."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> Iterator[int]:
        for start in range(0, len(text), 10_000):
            self.texts.append(text[start : start + 10_000])
            yield len(self.texts[-1].split())


@pytest.fixture
def benchmark() -> Benchmark:
    said = {"t0": "the ferry", "t1": "leaves at seven", "t2": "the ferry", "t3": "never asked for"}
    turns = [Turn(name, "c", "c/s", place, Role.USER, "Ada", text) for place, (name, text) in enumerate(said.items())]
    documents = (Document("s0", "c", tuple(turns[:2])), *(Document(turn.turn_id, "c", (turn,)) for turn in turns[2:]))
    return Benchmark("made", "turn", "5" * 64, documents, (), {}, Dropped())


def test_a_text_is_counted_when_it_is_asked_for_and_once(benchmark: Benchmark) -> None:
    count = Counting()
    tokens = TokenCounts(benchmark, count=count, enough=100)

    assert "t3" in tokens
    assert "t9" not in tokens
    assert (list(tokens), len(tokens)) == (["s0", "t2", "t3"], 3)
    assert count.texts == []
    assert (tokens["s0"], tokens["t2"], tokens["s0"]) == (5, 2, 5)
    assert count.texts == ["the ferry", "leaves at seven"]


def test_a_text_that_no_budget_holds_is_not_counted_to_its_end() -> None:
    turn = Turn("t0", "c", "c/s", 0, Role.USER, "Ada", "word " * 100_000)
    benchmark = Benchmark("made", "turn", "5" * 64, (Document("t0", "c", (turn,)),), (), {}, Dropped())
    first, whole = Counting(), Counting()

    assert TokenCounts(benchmark, count=first, enough=2_000)["t0"] == 4_000
    assert sum(map(len, first.texts)) == 20_000
    assert TokenCounts(benchmark, count=whole, enough=100_000)["t0"] == 100_000
    assert "".join(whole.texts) == turn.text


def test_a_document_that_is_not_there_has_no_tokens(benchmark: Benchmark) -> None:
    with pytest.raises(KeyError):
        TokenCounts(benchmark, count=Counting(), enough=100)["t9"]
