"""The stored turns, as quotes look them up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.occurrences import certain_words
from memory_rag.retrieval.quotes import QuoteSource
from memory_rag.text.folding import fold
from memory_rag.turns import Role, Turn

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory.open(tmp_path / "memory", embedder="none", language="en,sv", clock=lambda: NOON)
    texts = [
        "YouTube is down",
        "youtube is down again",
        "We walked the dogs",
        "The Straße was long, it's true",
        "Vi gick ut med hundarna",
        "tool: walked",
        "4711-ZX costs 49 euro",
        "the price is 49 euro",
    ]
    memory.add_many(
        Turn(f"t{n}", "cd"[n % 2], "day", n, Role.USER, "ab"[n % 2], text, said_at=NOON, recalled=n != 5)
        for n, text in enumerate(texts)
    )
    yield memory
    memory.close()


def source(memory: Memory, within: Within | None = None) -> QuoteSource:
    return memory.indexes.quote_source(within)


def ids(turns: Iterable[Turn] | None) -> list[str] | None:
    return None if turns is None else [turn.turn_id for turn in turns]


def test_turns_that_hold_the_exact_code_points(memory: Memory) -> None:
    assert ids(source(memory).containing("is down")) == ["t0", "t1"]
    assert ids(source(memory).containing("Is down")) == []
    assert ids(source(memory, Within(conversation="d")).containing("is down")) == ["t1"]


def test_quotes_are_looked_up_in_what_is_left_out_of_search_too(memory: Memory) -> None:
    assert ids(source(memory).containing("walked")) == ["t2", "t5"]
    assert ids(source(memory, Within()).containing("walked")) == ["t2"]
    assert ids(source(memory).every()) == [f"t{n}" for n in range(8)]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["youtube"], ["t0", "t1"]),
        (["walked", "dogs"], ["t2"]),
        (["strasse"], ["t3"]),
        (["hundarna"], ["t4"]),
        (["euro"], ["t6", "t7"]),
        (["snow"], []),
        (["the"], None),
        (["vad"], None),
        (["49"], None),
        (["the", "euro"], ["t6", "t7"]),
        ([], None),
    ],
)
def test_words_narrow_the_turns_to_those_that_may_hold_them_all(
    memory: Memory, words: list[str], found: list[str] | None
) -> None:
    assert ids(source(memory).with_words(words)) == found


@given(
    st.lists(
        st.sampled_from(
            ["kayak", "YouTube", "it's", "the", "Straße", "mo\u0308tet", "x-ray", "49", "foo_bar", "日志", ","]
        )
    )
)
def test_no_turn_with_all_the_words_is_left_out(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    text = " ".join(words)
    with Memory.open(tmp_path_factory.mktemp("words") / "m", embedder="none", language="en,sv") as memory:
        memory.add(text, turn_id="t")
        certain = certain_words(fold(text).text.split(" "))

        found = ids(source(memory).with_words(certain))

    assert found in (None, ["t"])


def test_turns_that_are_most_like_a_text_come_best_first(memory: Memory) -> None:
    assert ids(source(memory).like("the dogs walked in the snow", k=1)) == ["t2"]
    assert ids(source(memory).like("price in euro", k=5)) == ["t7", "t6"]


def test_a_turn_is_looked_up_as_it_is_now(memory: Memory) -> None:
    quotes = source(memory)
    memory.correct("t2", text="We ran")
    memory.forget(["t3"])

    current = quotes.current("t2")

    assert current is not None
    assert current.text == "We ran"
    assert quotes.current("t3") is None
