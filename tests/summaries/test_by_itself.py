"""A memory that summarises by itself: between turns, after an add, and never in anybody's way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memory_rag.errors import SettingsError
from memory_rag.memory import Memory
from memory_rag.prompt.events import EventKind
from memory_rag.summaries.triggers import estimated_tokens
from memory_rag.turns import Role, Turn
from tests.either_engine import Place
from tests.model_server import ModelServer

Open = Callable[..., Memory]
WAIT_S = 30


@pytest.fixture
def opened(place: Place) -> Iterator[Open]:
    memories: list[Memory] = []

    def open_memory(**settings: Any) -> Memory:
        given: dict[str, Any] = {
            "embedder": "none",
            "language": "en",
            "keep_recent": 2,
            "summary_turns": 4,
            "summaries": "auto",
        }
        memories.append(place.open(**{**given, **settings}))
        return memories[-1]

    yield open_memory
    for memory in memories:
        memory.close()


def say(memory: Memory, n: int, *, conversation_id: str = "garden") -> None:
    for number in range(n):
        memory.add(f"We decided on {number} apple trees by the wall.", speaker="Ebba", conversation_id=conversation_id)


def test_a_summary_is_made_after_the_turn_that_makes_it_due(opened: Open) -> None:
    memory = opened()
    say(memory, 4)
    assert memory.summaries.wait(timeout_s=WAIT_S)
    assert memory.summaries.stored("garden") == []

    say(memory, 1)
    assert memory.summaries.wait(timeout_s=WAIT_S)

    [made] = memory.summaries.stored("garden")
    assert (made.n_turns, made.first_turn_id, made.last_turn_id) == (3, "t1", "t3")
    [event] = memory.prompt.events.events(kind=EventKind.SUMMARY)
    assert event.tokens_before == sum(estimated_tokens(memory.get(f"t{n}").text) for n in (1, 2, 3))
    assert event.tokens_after == estimated_tokens(made.text)


def test_turns_that_come_together_are_summarised_conversation_by_conversation(opened: Open) -> None:
    memory = opened()
    turns = [Turn("", f"talk {n % 2}", "s", n // 2, Role.USER, "Ebba", f"We decided on {n} trees.") for n in range(12)]

    memory.add_many(iter(turns))
    assert memory.summaries.wait(timeout_s=WAIT_S)

    assert [len(memory.summaries.stored(name)) for name in ("talk 0", "talk 1")] == [1, 1]


def test_what_was_refused_sets_nothing_going(opened: Open) -> None:
    memory = opened()
    with pytest.raises(Exception, match="a"):
        memory.add_many([Turn("a", "talk", "s", n, Role.USER, "Ebba", "same id") for n in range(9)])

    assert memory.summaries.wait(timeout_s=WAIT_S)
    assert memory.summaries.stored("talk") == []


def test_a_memory_that_is_not_asked_to_makes_none_and_loads_nothing_for_it(opened: Open) -> None:
    memory = opened(summaries="off")
    threads = set(threading.enumerate())
    say(memory, 30)
    memory.add_many([Turn("", "talk", "s", n, Role.USER, "Ebba", f"tree {n}") for n in range(30)])

    assert set(threading.enumerate()) == threads
    assert not {"summaries", "talks", "prompt"} & set(vars(memory))
    assert memory.summaries.stored("garden") == []


def test_while_a_model_writes_a_summary_turns_are_added_and_prompts_made(
    opened: Open, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told by the order of events, not by a clock: the model is still writing when all of this is done."""
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)
    order: list[str] = []
    asked, may_answer = threading.Semaphore(0), threading.Event()

    def says(request: object) -> str:
        asked.release()
        assert may_answer.wait(WAIT_S)
        order.append("model answers")
        return '{"decisions": [{"text": "0 apple trees by the wall", "reason": "", "turns": ["t1"]}]}'

    model_server.says = says
    memory = opened(summarizer="openai:small", summary_kept=0.0)
    say(memory, 5)
    # For the running summary, and for that of the session.
    assert asked.acquire(timeout=WAIT_S)
    assert asked.acquire(timeout=WAIT_S)

    added = memory.add("And a pear.", speaker="Ebba", conversation_id="garden")
    order.append("added")
    context = memory.context("How many trees did we decide on?", conversation_id="garden")
    order.append("prompt made")
    memory.add("For another talk.", conversation_id="other")
    found = memory.search("pear")
    order.append("searched")
    may_answer.set()
    assert memory.summaries.wait(timeout_s=WAIT_S)

    assert order[:4] == ["added", "prompt made", "searched", "model answers"]
    assert found.turn_ids[0] == added.turn_id
    assert context.account.of("summary") == 0
    # What is neither summarised nor said to be left out would be forgotten.
    told = {one.turn_id for one in context.included}
    assert {"t5", "t6"} <= told
    [made, *_] = memory.summaries.stored("garden")
    assert made.made_by == "openai:small:1"
    assert memory.context("How many?", conversation_id="garden").account.of("summary") > 0


def test_a_memory_is_closed_while_a_model_writes(
    opened: Open, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)
    asked, may_answer = threading.Event(), threading.Event()

    def says(request: object) -> str:
        asked.set()
        may_answer.wait(WAIT_S)
        return '{"points": []}'

    model_server.says = says
    memory = opened(summarizer="openai:small")
    say(memory, 5)
    assert asked.wait(WAIT_S)
    memory.close()
    assert not may_answer.is_set()
    may_answer.set()

    again = opened(summarizer="extractive")
    assert len(again) == 5
    say(again, 1)
    assert again.summaries.wait(timeout_s=WAIT_S)
    assert sum(one.n_turns for one in again.summaries.stored("garden")) == 4


def test_a_model_that_fails_costs_no_turn_and_is_told(
    opened: Open, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)
    for _ in range(20):
        model_server.will_fail(401)
    memory = opened(summarizer="openai:small")
    say(memory, 6)
    assert memory.summaries.wait(timeout_s=WAIT_S)

    assert memory.summaries.stored("garden") == []
    assert memory.talks.wait(timeout_s=WAIT_S)
    warned = [one.details["what"] for one in memory.prompt.events.events(kind=EventKind.WARNING)]
    assert "summary failed" in warned
    assert [turn.turn_id for turn in memory.context("And?", conversation_id="garden", keep_recent=9).window.turns] == [
        f"t{n}" for n in range(1, 7)
    ]


def test_an_unknown_wish_is_told_with_those_that_there_are(opened: Open) -> None:
    with pytest.raises(SettingsError, match="summaries is one of: off, chats, auto; got 'always'"):
        opened(summaries="always")


def test_two_memories_of_one_place_summarise_no_turn_twice(opened: Open) -> None:
    first, second = opened(), opened()
    for number in range(8):
        (first, second)[number % 2].add(f"We decided on {number} trees.", conversation_id="garden")
    for memory in (first, second):
        assert memory.summaries.wait(timeout_s=WAIT_S)

    covered = [
        turn.turn_id for one in first.summaries.stored("garden") for turn in first.summaries.shelf.turns_of(one.number)
    ]
    assert sorted(covered) == sorted(set(covered))
    assert len(covered) >= 3


def test_one_that_is_closed_in_the_middle_leaves_no_claim(opened: Open) -> None:
    for _ in range(8):
        memory = opened()
        say(memory, 6)
        memory.close()

        again = opened(summaries="off")
        with again.store.connections.reading() as connection:
            assert connection.execute("SELECT count(*) FROM summary_claims").fetchone() == (0,)
        again.close()
