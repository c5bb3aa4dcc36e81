"""The task's state is set, unset and patched, is never over its size, and survives a restart."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import SettingsError
from memory_rag.memory import Memory
from memory_rag.prompt.state import TaskState
from tests.either_engine import Place


def test_fields_are_set_and_taken_away(memory: Memory) -> None:
    state = memory.prompt.state

    assert state.get() == {}
    state.set("goal", "höstmenyn")
    state.set("customer.name", "Åsa")
    assert state.set("customer.seats", 12) == {"goal": "höstmenyn", "customer": {"name": "Åsa", "seats": 12}}
    assert state.unset("customer.name") == {"goal": "höstmenyn", "customer": {"seats": 12}}
    state.clear()
    assert state.get() == {}


def test_a_merge_patch_sets_and_takes_away_at_once(memory: Memory) -> None:
    memory.prompt.state.merge({"goal": "menu", "step": 1})

    assert memory.prompt.state.merge({"step": None, "open": ["price"]}) == {"goal": "menu", "open": ["price"]}


def test_it_survives_a_restart(memory: Memory, place: Place) -> None:
    memory.prompt.state.set("goal", "menu")
    memory.close()

    with place.open(embedder="none") as again:
        assert again.prompt.state.get() == {"goal": "menu"}


def test_it_goes_into_a_backup(tmp_path: Path) -> None:
    from memory_rag.store.backup import backup

    with Memory.open(tmp_path / "work", embedder="none") as memory:
        memory.prompt.state.set("goal", "menu")
        memory.prompt.pins.add("Short answers.")
    backup(tmp_path / "work", tmp_path / "copy")
    with Memory.open(tmp_path / "copy", embedder="none") as copy:
        assert copy.prompt.state.get() == {"goal": "menu"}
        assert [pin.text for pin in copy.prompt.pins.all()] == ["Short answers."]


def test_a_state_over_its_size_is_refused_and_stays_as_it_was(memory: Memory) -> None:
    state = TaskState(memory.store.connections, clock=lambda: datetime(2026, 4, 10, tzinfo=UTC), largest_bytes=20)
    state.set("a", "ö")
    with pytest.raises(SettingsError, match=r"would have 29 bytes, 9 over its limit of 20; it goes along in every"):
        state.set("b", "123456789")

    assert state.get() == {"a": "ö"}


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("", 1, "'' names no field of the state"),
        ("a..b", 1, "'a..b' names no field"),
        ("goal.step", 1, "goal in the state is 'menu', no object; unset it first: goal"),
        ("x", float("nan"), "the state holds what JSON can write"),
        ("x", object(), "the state holds what JSON can write"),
    ],
)
def test_what_cannot_be_set_is_refused(memory: Memory, path: str, value: Any, words: str) -> None:
    memory.prompt.state.set("goal", "menu")
    with pytest.raises(SettingsError, match=words):
        memory.prompt.state.set(path, value)

    assert memory.prompt.state.get() == {"goal": "menu"}


@pytest.mark.parametrize("path", ["step", "goal.step", "customer.name"])
def test_a_field_that_is_not_there_cannot_be_taken_away(memory: Memory, path: str) -> None:
    memory.prompt.state.set("goal", "menu")
    with pytest.raises(SettingsError, match=f"the state has no '{path}'; it has: goal"):
        memory.prompt.state.unset(path)


def test_a_patch_that_is_no_object_is_refused(memory: Memory) -> None:
    with pytest.raises(SettingsError, match="a merge patch of the state is a JSON object, got 'menu'"):
        memory.prompt.state.merge("menu")  # type: ignore[arg-type]


def test_a_state_that_is_nested_too_deep_is_refused(memory: Memory) -> None:
    deep: Any = []
    for _ in range(1_900):
        deep = [deep]

    with pytest.raises(SettingsError, match="nested hundreds deep; flatten it"):
        memory.prompt.state.set("deep", deep)
    assert memory.prompt.state.get() == {}


@pytest.mark.parametrize("value", [{1: "a"}, {"a": [{None: 1}]}, {1: "a", "1": "b"}, {("a",): 1}])
def test_a_name_that_is_no_text_is_refused(memory: Memory, value: Any) -> None:
    with pytest.raises(SettingsError, match="the name of a field is a text, got"):
        memory.prompt.state.set("goal", value)
    assert memory.prompt.state.get() == {}


def test_what_is_returned_is_what_is_kept(memory: Memory) -> None:
    assert memory.prompt.state.set("sizes", (1, 2.0, (3,))) == {"sizes": [1, 2.0, [3]]} == memory.prompt.state.get()


def test_true_is_another_entry_than_one(memory: Memory) -> None:
    for entry in (1, True, 1, {"a": 1}, {"a": True}):
        state = memory.prompt.state.append("seen", entry)

    assert [str(one) for one in state["seen"]] == ["1", "True", "{'a': 1}", "{'a': True}"]
