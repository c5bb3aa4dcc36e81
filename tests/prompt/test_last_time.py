"""A question for the last sitting as such is answered by its turns; one for something in it is searched for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.prompt.last_time import MOST_TURNS, asks_of_last_time
from memory_rag.prompt.prompt_context import PromptContext
from memory_rag.retrieval.filters import Within
from tests.either_engine import Place

MONDAY = datetime(2026, 3, 2, 18, 0, tzinfo=UTC)
ASKED = "What did we talk about last time?"


@pytest.mark.parametrize(
    "question",
    [
        ASKED, "so where were we last time we spoke?", "Where did we leave off?", "remind me where we stopped",
        "What did we decide last time", "Vad pratade vi om förra gången?", "Var var vi någonstans sist?",
        "Hej, vad bestämde vi sist?", "Var slutade vi?", "Hva snakket vi om forrige gang?", "hvor var vi sist?",
        "Hvor slapp vi?", "Hva ble vi enige om sist?",
    ],
)  # fmt: skip
def test_the_last_sitting_as_such_is_asked_for(question: str) -> None:
    assert asks_of_last_time(question)


@pytest.mark.parametrize(
    "question",
    [
        "What did I say about pricing last time?", "When was the last time I saw Ebba?", "The last loaf was burnt.",
        "What did you just say?", "what did you say before?", "last", "stop", "Vad sa jag om skatten sist?",
        "Det var sista gången.", "Sist jag var i Oslo regnade det.", "Hva sa du om prisen forrige gang?", "",
        "När sågs vi sist?", "At last!", "?!",
    ],
)  # fmt: skip
def test_what_was_said_in_it_is_something_else(question: str) -> None:
    assert not asks_of_last_time(question)


@pytest.fixture
def memory(place: Place) -> Iterator[Memory]:
    """Two evenings, roses and then a mortgage, and a question on the third."""
    now = [MONDAY]
    with place.open(embedder="none", language="en", clock=lambda: now[0]) as opened:
        for day, (name, word) in enumerate((("first", "roses"), ("second", "mortgage"))):
            for at in range(20):
                said_at = MONDAY + timedelta(days=day, minutes=at)
                role = "assistant" if at % 2 else "user"
                opened.add(f"{word} {at}", role=role, conversation_id=name, said_at=said_at, turn_id=f"{word}{at}")
        now[0] = MONDAY + timedelta(days=2)
        yield opened


def quoted(context: PromptContext) -> list[str]:
    return [one.turn_id for one in context.included if one.part == "retrieved turns"]


def test_its_newest_turns_are_quoted_in_a_new_conversation(memory: Memory) -> None:
    context = memory.context(ASKED, conversation_id="third")

    assert quoted(context)[-MOST_TURNS:] == [f"mortgage{at}" for at in range(20 - MOST_TURNS, 20)]
    assert not any(turn_id.startswith("roses") for turn_id in quoted(context))


def test_a_sitting_of_today_is_not_the_last_one(memory: Memory) -> None:
    memory.add("good evening", conversation_id="third", said_at=MONDAY + timedelta(days=2))
    memory.add(ASKED, conversation_id="third", said_at=MONDAY + timedelta(days=2))

    assert set(quoted(memory.context(ASKED, conversation_id="third"))) >= {f"mortgage{at}" for at in range(8, 20)}


def test_what_the_window_holds_is_not_told_twice(memory: Memory) -> None:
    context = memory.context(ASKED, conversation_id="second", keep_recent=4)

    assert set(context.window.turn_ids) == {f"mortgage{at}" for at in range(16, 20)}
    assert {f"mortgage{at}" for at in range(8, 16)} <= set(quoted(context)) <= {f"mortgage{at}" for at in range(16)}


def test_where_all_is_of_today_it_is_the_sitting_that_is_not_in_the_prompt(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "day", embedder="none", language="en", clock=lambda: MONDAY) as memory:
        for name in ("morning", "noon"):
            memory.add(f"{name} tea", conversation_id=name, turn_id=name)

        assert quoted(memory.context(ASKED, conversation_id="noon")) == ["morning"]
        assert quoted(memory.context(ASKED, conversation_id="evening")) == ["noon"]


def test_with_little_room_what_the_user_said_comes_first(memory: Memory) -> None:
    empty = memory.context(ASKED, conversation_id="third", retrieve="never").account.total
    context = memory.context(ASKED, conversation_id="third", token_budget=empty + 400)

    assert 0 < len(quoted(context)) < MOST_TURNS
    assert any("don't fit in the budget" in note for note in context.notes)
    assert "mortgage8" in quoted(context)
    assert "mortgage19" not in quoted(context)


def test_where_no_hit_fits_its_neighbours_are_not_quoted_without_it(memory: Memory) -> None:
    empty = memory.context(ASKED, conversation_id="third", retrieve="never").account.total

    assert quoted(memory.context(ASKED, conversation_id="third", token_budget=empty + 190)) == []


def test_an_empty_memory_and_a_narrowed_search_are_searched_as_ever(memory: Memory, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "new", embedder="none") as empty:
        assert quoted(empty.context(ASKED)) == []
    narrowed = memory.context(ASKED, conversation_id="third", within=Within(conversation="first"))

    assert not any(turn_id.startswith("mortgage") for turn_id in quoted(narrowed))


def test_what_was_forgotten_is_not_told(memory: Memory) -> None:
    memory.forget([f"mortgage{at}" for at in range(20)])

    assert all(turn_id.startswith("roses") for turn_id in quoted(memory.context(ASKED, conversation_id="third")))
