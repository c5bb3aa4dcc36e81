"""What a summary proposes for the task's state: with its turns, once, and gone with the words that it came from."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import PromptError, SettingsError
from memory_rag.memory import Memory
from memory_rag.prompt.events import EventKind
from memory_rag.prompt.prompt import Prompt
from memory_rag.prompt.state_proposals import StateProposals
from tests.either_engine import Place
from tests.model_server import ModelServer
from tests.model_server import model_server as serve
from tests.prompt.conftest import Clock

Open = Callable[..., Memory]
SAID = ("We decided to charge 49 euro.", "I have two children.", "Who bakes on Sundays?", "Call the mill tomorrow.")
STRUCTURED = {
    "topics": [],
    "user_facts": [{"text": "Ebba has two children", "turns": ["t2"]}],
    "decisions": [{"text": "49 euro are charged", "reason": "the mill is dear", "turns": ["t1"]}],
    "open_questions": [{"text": "Who bakes on Sundays", "turns": ["t3"]}],
    "todos": [{"text": "Call the mill", "turns": ["t4"]}],
    "points": [],
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


@pytest.fixture
def opened(place: Place, server: ModelServer) -> Iterator[Open]:
    memories: list[Memory] = []

    def open_memory(**settings: Any) -> Memory:
        given = {"embedder": "none", "language": "en", "summarizer": "openai:small", "summary_kept": 0.0, **settings}
        memories.append(place.open(keep_recent=0, clock=Clock(), **given))
        return memories[-1]

    yield open_memory
    for memory in memories:
        memory.close()


def summarised(memory: Memory, server: ModelServer, said: dict[str, Any] | None = None) -> None:
    for text in SAID:
        memory.add(text, speaker="Ebba")
    server.will_say(STRUCTURED if said is None else said)
    assert memory.summaries.summarise("main")


def test_facts_decisions_questions_and_to_dos_are_proposed_with_their_turns(opened: Open, server: ModelServer) -> None:
    memory = opened()
    summarised(memory, server)

    assert {(one.field, one.text, one.reason, one.turn_ids) for one in memory.prompt.proposals.open()} == {
        ("facts", "Ebba has two children", "", ("t2",)),
        ("decisions", "49 euro are charged", "the mill is dear", ("t1",)),
        ("open_questions", "Who bakes on Sundays", "", ("t3",)),
        ("todos", "Call the mill", "", ("t4",)),
    }
    assert memory.prompt.state.get() == {}


def test_one_that_is_taken_stands_in_the_state_and_in_the_prompt(opened: Open, server: ModelServer) -> None:
    memory = opened()
    summarised(memory, server)
    memory.prompt.state.set("goal", "open the bakery")
    [decision] = [one for one in memory.prompt.proposals.open() if one.field == "decisions"]

    state = memory.prompt.proposals.take(decision.proposal_id)

    entry = {"text": "49 euro are charged", "reason": "the mill is dear", "turns": ["t1"]}
    assert state == memory.prompt.state.get() == {"goal": "open the bakery", "decisions": [entry]}
    assert '"49 euro are charged"' in memory.context("thanks!").system
    assert decision not in memory.prompt.proposals.open()


@pytest.mark.parametrize("way", ["take", "dismiss"])
def test_one_that_is_settled_does_not_come_back(opened: Open, server: ModelServer, way: str) -> None:
    memory = opened()
    summarised(memory, server)
    [fact] = [one for one in memory.prompt.proposals.open() if one.field == "facts"]

    getattr(memory.prompt.proposals, way)(fact.proposal_id)
    memory.prompt.state.clear()
    memory.close()

    assert fact not in opened().prompt.proposals.open()
    assert len(opened().prompt.proposals.open()) == 3


def test_what_a_new_summary_says_otherwise_of_the_same_turns_is_not_proposed_again(
    opened: Open, server: ModelServer
) -> None:
    memory = opened(state_from_summary="auto")
    summarised(memory, server)
    server.will_say({**STRUCTURED, "user_facts": [{"text": "Ebba is a mother of two", "turns": ["t2"]}]})
    assert memory.summaries.summarise("main", focus="children")

    assert [one["text"] for one in memory.prompt.state.get()["facts"]] == ["Ebba has two children"]
    assert memory.prompt.proposals.open() == []


def test_with_auto_they_are_in_the_state_when_the_summary_is_made(opened: Open, server: ModelServer) -> None:
    memory = opened(state_from_summary="auto")
    summarised(memory, server)

    assert {field: entries[0]["turns"] for field, entries in memory.prompt.state.get().items()} == {
        "facts": ["t2"], "decisions": ["t1"], "open_questions": ["t3"], "todos": ["t4"],
    }  # fmt: skip
    assert memory.prompt.proposals.open() == []


def test_with_off_nothing_is_proposed(opened: Open, server: ModelServer) -> None:
    memory = opened(state_from_summary="off")
    summarised(memory, server)

    assert memory.prompt.proposals.open() == []
    assert memory.prompt.state.get() == {}


def test_what_no_longer_fits_in_the_state_stays_proposed_and_is_told(opened: Open, server: ModelServer) -> None:
    memory = opened(state_from_summary="auto")
    memory.prompt.state.set("notes", "x" * 3_950)
    summarised(memory, server)

    assert len(memory.prompt.proposals.open()) >= 2
    [warning] = memory.prompt.events.events(kind=EventKind.WARNING)
    assert warning.details["what"] == "the state took no more of a summary"
    assert "over its limit of 4,096" in warning.details["reason"]
    assert memory.summaries.stored("main") != []


def test_a_field_of_the_users_own_is_not_overwritten(opened: Open, server: ModelServer) -> None:
    memory = opened()
    memory.prompt.state.set("facts", {"mine": True})
    summarised(memory, server)
    [fact] = [one for one in memory.prompt.proposals.open() if one.field == "facts"]

    with pytest.raises(SettingsError, match=r"facts in the state is .*, no list; unset it first: facts"):
        memory.prompt.proposals.take(fact.proposal_id)
    assert memory.prompt.state.get() == {"facts": {"mine": True}}
    assert fact in memory.prompt.proposals.open()


def test_what_is_forgotten_leaves_the_state_and_is_proposed_no_more(opened: Open, server: ModelServer) -> None:
    memory = opened()
    summarised(memory, server)
    ids = {one.field: one.proposal_id for one in memory.prompt.proposals.open()}
    memory.prompt.proposals.take(ids["facts"])
    memory.prompt.proposals.take(ids["todos"])

    memory.forget(["t2", "t3"])

    assert memory.prompt.state.get() == {
        "facts": [],
        "todos": [{"text": "Call the mill", "turns": ["t4"]}],
    }
    assert {one.field for one in memory.prompt.proposals.open()} <= {"decisions"}


def test_one_that_is_not_open_is_told_with_those_that_are(opened: Open, server: ModelServer) -> None:
    memory = opened()
    with pytest.raises(SettingsError, match="no proposal 'x' is open in conversation 'main'; open: none"):
        memory.prompt.proposals.take("x")
    summarised(memory, server)
    with pytest.raises(SettingsError, match=r"open: [0-9a-f]{8}, "):
        memory.prompt.proposals.dismiss("x")


def test_an_extractive_summary_proposes_too(opened: Open) -> None:
    memory = opened(summarizer="extractive")
    for text in SAID:
        memory.add(text, speaker="Ebba")
    memory.summaries.summarise("main")

    assert ("decisions", "We decided to charge 49 euro.", ("t1",)) in {
        (one.field, one.text, one.turn_ids) for one in memory.prompt.proposals.open()
    }


def test_an_unknown_wish_is_told_with_those_that_there_are(opened: Open) -> None:
    with pytest.raises(SettingsError, match="state_from_summary is one of: off, propose, auto; got 'yes'"):
        opened(state_from_summary="yes")


def test_a_prompt_side_without_a_memory_has_none(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m", embedder="none") as memory:
        prompt = Prompt(memory.store, search=lambda _q, _w: memory.search(""), clock=Clock(), zone=memory.zone)
        with pytest.raises(PromptError, match="use memory"):
            prompt.proposals.open()


def test_another_thing_of_the_same_turn_stays_proposed(opened: Open, server: ModelServer) -> None:
    memory = opened()
    two = [{"text": "Ebba has two children", "turns": ["t2"]}, {"text": "Ebba lives in Visby", "turns": ["t2"]}]
    summarised(memory, server, {**STRUCTURED, "user_facts": two})
    facts = [one for one in memory.prompt.proposals.open() if one.field == "facts"]
    memory.prompt.proposals.take(facts[0].proposal_id)

    assert [one.text for one in memory.prompt.proposals.open() if one.field == "facts"] == ["Ebba lives in Visby"]


def test_what_two_processes_take_and_dismiss_at_once_is_taken_and_dismissed_once_for_all(
    opened: Open, server: ModelServer
) -> None:
    memory, other = opened(), opened()
    summarised(memory, server)
    fact, decision, question, todo = (one.proposal_id for one in memory.prompt.proposals.open())
    ready = threading.Barrier(2, timeout=30)

    def settle(proposals: StateProposals, *dismissed: str) -> None:
        ready.wait()
        for proposal_id in dismissed:
            proposals.dismiss(proposal_id)
        ready.wait()
        with suppress(SettingsError):
            proposals.take(todo)

    with ThreadPoolExecutor(2) as pool:
        both = [(memory, fact), (other, decision)]
        for done in [pool.submit(settle, one.prompt.proposals, dismissed) for one, dismissed in both]:
            done.result()

    assert [one.proposal_id for one in memory.prompt.proposals.open()] == [question]
    assert memory.prompt.state.get() == {"todos": [{"text": "Call the mill", "turns": ["t4"]}]}
