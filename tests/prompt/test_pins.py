"""Pinned preferences stay until they are taken off."""

from __future__ import annotations

from typing import Any

import pytest

from memory_rag.errors import SettingsError, UnknownTurnError
from memory_rag.memory import Memory


def test_preferences_are_pinned_in_order_and_taken_off(memory: Memory) -> None:
    turn_id = memory.add("Please answer in short sentences.").turn_id
    memory.prompt.pins.add("  Short sentences. ", turn_id=turn_id)
    memory.prompt.pins.add("Euro, never kronor.")

    assert [(p.pin_id, p.text, p.turn_id) for p in memory.prompt.pins.all()] == [
        ("p1", "Short sentences.", "t1"),
        ("p2", "Euro, never kronor.", None),
    ]
    assert memory.prompt.pins.remove("p1").text == "Short sentences."
    assert [pin.pin_id for pin in memory.prompt.pins.all()] == ["p2"]


def test_the_same_words_are_pinned_once(memory: Memory) -> None:
    assert memory.prompt.pins.add("Short.") == memory.prompt.pins.add("Short.")
    assert len(memory.prompt.pins.all()) == 1


def test_a_number_is_never_given_twice(memory: Memory) -> None:
    memory.prompt.pins.add("Short.")
    memory.prompt.pins.remove("p1")

    assert memory.prompt.pins.add("Long.").pin_id == "p2"


def test_what_cannot_be_pinned_is_refused(memory: Memory) -> None:
    with pytest.raises(SettingsError, match="a preference is a text with words in it, got ' '"):
        memory.prompt.pins.add(" ")
    with pytest.raises(UnknownTurnError, match="no turn has the id 't9'"):
        memory.prompt.pins.add("Short.", turn_id="t9")
    assert memory.prompt.pins.all() == []


@pytest.mark.parametrize("name", ["p2", "1", "p", "d1", "p-1", "p²"])
def test_a_pin_that_is_none_names_those_that_are(memory: Memory, name: str) -> None:
    memory.prompt.pins.add("Short.")
    with pytest.raises(SettingsError, match=f"no pin '{name}'; pins are: p1"):
        memory.prompt.pins.remove(name)


@pytest.mark.parametrize("nothing", [None, 5, "\u200b", "\u2060\ufeff", "\u00ad \u200e"])
def test_what_has_no_words_is_no_preference(memory: Memory, nothing: Any) -> None:
    with pytest.raises(SettingsError, match="a preference is a text with words in it"):
        memory.prompt.pins.add(nothing)
    with pytest.raises(SettingsError, match="the reason of a decision is a text with words in it"):
        memory.prompt.decisions.add("One price.", because=nothing)
    assert (memory.prompt.pins.all(), memory.prompt.decisions.all()) == ([], [])
