"""A long talk with a model: what stays, what is summarised, what comes back word for word when it is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_rag.memory import Memory
from memory_rag.prompt.events import EventKind
from memory_rag.turns import Block

SYSTEM = "You help Ebba with her bakery."
PRICE = "The rye is 35 euro for the first season, jar included, and not a cent less."
CHAT = (
    "The oven is warm and the flour came on time, so we can go on with the shelves and the sign for the door today. "
    "Nothing of this has to be remembered, it is only said while the dough rests and the coffee is being made."
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The memory after the talk: forty-odd turns of small talk around a few that matter."""
    home = tmp_path_factory.mktemp("talk")
    (home / "PROJECT.md").write_text("The sign is green.\n", encoding="utf-8")
    with Memory.open(home / "memory", embedder="none", language="en", summaries="auto") as memory:
        memory.prompt.pins.add("Answer in short sentences.")
        memory.prompt.state.set("step", "prices")
        memory.prompt.files.pin(home / "PROJECT.md")
        memory.add("What shall the rye cost?", speaker="Ebba")
        price = memory.add(PRICE, role="assistant")
        memory.prompt.decisions.add("35 euro for the rye", because="the mill is dear", turn_id=price.turn_id)
        memory.add("We decided to open on the first of May. I prefer trains to planes.", speaker="Ebba")
        for number in range(24):
            memory.add(f"{number}. {CHAT}", speaker="Ebba")
            memory.add(f"Fine, number {number}. {CHAT}", role="assistant")
            # As between the turns of a talk, where a person reads and writes.
            assert memory.summaries.wait(timeout_s=60)
        call = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"path": "log"}'}}
        memory.add("", role="assistant", blocks=[Block("tool_call", call)], recalled=False)
        memory.add(
            "\n".join(f"oven at {degrees} degrees" for degrees in range(900)),
            role="tool",
            blocks=[Block("tool_result", {"tool_call_id": "call_1"})],
            recalled=False,
        )
        memory.add("The oven is fine.", role="assistant")
        assert memory.summaries.wait(timeout_s=60)
    return home / "memory"


@pytest.fixture
def memory(folder: Path) -> Iterator[Memory]:
    """A new process's look at it, which has heard nothing yet."""
    with Memory.open(folder, embedder="none") as opened:
        yield opened


def shown(context: Any) -> str:
    return json.dumps(context.messages, ensure_ascii=False)


def test_it_fits_in_six_thousand_tokens_however_long_it_was(memory: Memory) -> None:
    context = memory.context("And now?", system=SYSTEM)

    assert context.account.budget == 6000
    assert context.account.over_by == 0
    assert sum(memory.prompt.counter.count(turn.text) for turn in memory.turns()) > 6000


def test_the_newest_turns_are_there_word_for_word_and_the_older_ones_as_a_summary(memory: Memory) -> None:
    context = memory.context("thanks!", system=SYSTEM)

    newest = [turn.text for turn in memory.turns()][-4:]
    assert newest[0] in shown(context)
    assert "The oven is fine." in shown(context)
    assert context.messages[0]["role"] == "system"
    assert context.messages[0]["content"].startswith(SYSTEM)
    assert "We decided to open on the first of May." in context.system
    assert "[t3]" in context.system
    assert PRICE not in [message.get("content") for message in context.messages]


def test_nothing_lies_between_the_summary_and_the_window(memory: Memory) -> None:
    context = memory.context("thanks!", system=SYSTEM)

    first = min(turn.ordinal for turn in context.window.turns)
    covered = memory.summaries.shelf.covered_up_to("main")
    assert covered is not None
    assert first <= covered[0] + 1
    assert not any("neither in the window nor in a summary" in note for note in context.notes)


def test_a_detail_comes_back_word_for_word_when_it_is_asked_for_and_not_before(memory: Memory) -> None:
    asked = memory.context("What did you say about the price of the rye?", system=SYSTEM)

    assert f"> {PRICE}" in asked.quoted
    assert "> What shall the rye cost?" in asked.quoted
    assert "What shall the rye cost?" not in memory.context("thanks, that is all!", system=SYSTEM).quoted


def test_what_must_hold_is_in_every_prompt_of_every_provider(memory: Memory, folder: Path) -> None:
    context = memory.context("thanks!", system=SYSTEM, token_budget=3000)

    for held in (
        SYSTEM,
        "Answer in short sentences.",
        '"step": "prices"',
        "35 euro for the rye, because the mill is dear (t2)",
        "The sign is green.",
    ):
        assert held in context.messages[0]["content"]
        assert held in context.for_anthropic()["system"]
        assert held in context.for_responses()["instructions"]
    (folder.parent / "PROJECT.md").write_text("The sign is red.\n", encoding="utf-8")
    assert "The sign is red." in memory.context("thanks!").system
    (folder.parent / "PROJECT.md").write_text("The sign is green.\n", encoding="utf-8")


def test_an_old_result_gives_way_to_a_line_by_which_a_model_gets_it_back(memory: Memory) -> None:
    context = memory.context("And the oven?", system=SYSTEM, token_budget=5000, retrieve="tool")
    messages = context.messages
    [result] = [message for message in messages if message["role"] == "tool"]

    calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert calls == [result["tool_call_id"]] == ["call_1"]
    turn_id = result["content"].rpartition("get_turn ")[2].rstrip("]")
    assert "> oven at 0 degrees" in memory.prompt.tools.call("get_turn", {"turn_id": turn_id}).text
    [cleared, *_] = memory.prompt.events.events(kind=EventKind.CLEARED_TOOL_USES)
    assert cleared.tokens_before is not None
    assert cleared.tokens_after is not None
    assert cleared.tokens_before > cleared.tokens_after


def test_no_summary_was_made_of_what_was_summarised_before(memory: Memory) -> None:
    made = memory.prompt.events.events(kind=EventKind.SUMMARY)
    covered = [
        turn.turn_id for one in memory.summaries.stored("main") for turn in memory.summaries.shelf.turns_of(one.number)
    ]

    assert len(made) >= 2
    assert sum(event.details["n_turns"] for event in made) == len(covered) == len(set(covered))
    assert all(one.n_words <= 200 for one in memory.summaries.stored("main"))
