"""What a notebook shows of a prompt, of what a new session knows, and of where words went."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_rag import Memory
from tests.html.reading import shown_by


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory", embedder="none") as opened:
        opened.add("Let us say the price is 49 euro.", conversation_id="pricing")
        yield opened


def test_a_prompt_shows_its_tokens_its_turns_and_its_words(memory: Memory) -> None:
    context = memory.context("what did I actually say about the price?", system="You are of help.", token_budget=900)

    shown = shown_by(context)

    assert f"{context.account.total:,} of 900 tokens (estimated, erring high)" in shown.text
    assert "t1retrieved turnshit 1" in shown.text
    assert "You are of help." in shown.text
    assert "details" in shown.elements


def test_a_new_session_shows_what_it_knows(memory: Memory) -> None:
    nothing = shown_by(memory.prompt.brief(n_earlier=0)).text
    memory.prompt.pins.add("Answer in Swedish.")
    memory.prompt.decisions.add("One price.", because="Two confuse people.")
    memory.prompt.state.set("customer.name", "Ann")

    shown = shown_by(memory.prompt.brief()).text

    assert nothing == "A new session knows nothing yet."
    assert "Answer in Swedish." in shown
    assert "One price. (why: Two confuse people.)" in shown
    assert "Ann" in shown
    assert "not summarised yet" in shown


def test_where_words_are_is_shown_place_by_place(memory: Memory) -> None:
    found = shown_by(memory.prompt.where("49 euro", question="what did I say about the price?")).text
    never = shown_by(memory.prompt.where("a discount for students")).text

    assert found.startswith("Where is “49 euro”?")
    assert "t1" in found
    assert "never said" in never
