"""Words of the caller's own instructions are found, and their tokens count, where this process knows them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import PromptError
from memory_rag.memory import Memory
from memory_rag.prompt.whereabouts import Where

SYSTEM = "You are a beekeeper's clerk. Never promise a delivery in winter."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "m", embedder="none", language="en") as opened:
        opened.add("Twelve jars, please.", conversation_id="shop")
        yield opened


def told(memory: Memory, words: str, **given: Any) -> list[tuple[Where, bool]]:
    return [(one.where, one.in_prompt) for one in memory.prompt.where(words, conversation_id="shop", **given).answers]


def test_words_of_the_last_system_prompt_are_in_it(memory: Memory) -> None:
    assert told(memory, "delivery in winter") == [(Where.NEVER, False)]

    memory.context("When will they come?", system=SYSTEM, conversation_id="shop")

    assert told(memory, "delivery in winter") == [(Where.FIXED, True)]
    assert memory.prompt.where("delivery in winter", conversation_id="other").answers[0].where is Where.NEVER


def test_instructions_that_are_given_take_the_place_of_the_last_ones(memory: Memory) -> None:
    memory.context("When will they come?", system=SYSTEM, conversation_id="shop")

    assert told(memory, "delivery in winter", system="") == [(Where.NEVER, False)]
    assert told(memory, "only in spring", system="We deliver only in spring.") == [(Where.FIXED, True)]


def test_the_prompt_that_is_looked_at_has_the_room_that_the_real_one_has(memory: Memory) -> None:
    memory.context("When?", system="word " * 500, conversation_id="shop", token_budget=2000)

    with pytest.raises(PromptError, match="system prompt"):
        memory.prompt.where("jars", conversation_id="shop", token_budget=300)


def test_instructions_are_kept_in_no_file(memory: Memory) -> None:
    memory.context("When will they come?", system=SYSTEM, conversation_id="shop")
    folder = memory.folder
    memory.close()

    assert [path for path in folder.rglob("*") if path.is_file() and b"delivery in winter" in path.read_bytes()] == []
