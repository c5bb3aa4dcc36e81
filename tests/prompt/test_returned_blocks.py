"""Blocks that a provider wants back are kept to the byte and replayed unchanged, from the newest compaction on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.errors import TurnError, UnknownTurnError
from memory_rag.memory import Memory
from memory_rag.prompt.returned_blocks import ReturnedBlocks

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
COMPACTION: dict[str, Any] = {
    "type": "compaction",
    "content": "They spoke of bread.",
    "encrypted_content": "gAA\u00e5=",
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=4))
def test_any_content_comes_back_equal_and_in_order(memory: Memory, content: list[dict[str, Any]]) -> None:
    turn_id = memory.add("words", role="assistant").turn_id
    blocks = ReturnedBlocks(memory.store.connections)
    blocks.keep(turn_id, content, provider="anthropic")
    back = blocks.of([turn_id])[turn_id].content

    assert back == content
    assert json.dumps(back) == json.dumps(content)


def test_a_text_is_kept_to_the_byte(memory: Memory) -> None:
    turn_id = memory.add("words", role="assistant").turn_id
    raw = '[ {"type":"thinking", "signature":"\\u00e5/=", "n":1.00} ]'
    memory.prompt.blocks.keep(turn_id, raw, provider="anthropic")

    assert memory.prompt.blocks.of([turn_id])[turn_id].raw == raw


def test_they_go_with_their_turn_when_it_is_forgotten(memory: Memory) -> None:
    turn_id = memory.add("words", role="assistant").turn_id
    memory.prompt.blocks.keep(turn_id, [COMPACTION], provider="anthropic")
    memory.forget([turn_id])

    with memory.store.connections.reading() as connection:
        assert connection.execute("SELECT count(*) FROM returned_blocks").fetchone() == (0,)


@pytest.mark.parametrize("content", ["[", '{"a": 1}', "[1]"])
def test_what_is_no_list_of_objects_is_refused(memory: Memory, content: str) -> None:
    turn_id = memory.add("words", role="assistant").turn_id
    with pytest.raises(TurnError, match="the content of an answer is"):
        memory.prompt.blocks.keep(turn_id, content, provider="anthropic")


def test_the_turn_must_be_stored_first(memory: Memory) -> None:
    with pytest.raises(UnknownTurnError, match="store the answer first"):
        memory.prompt.blocks.keep("t9", [COMPACTION], provider="anthropic")


def test_a_conversation_is_replayed_from_its_newest_compaction(memory: Memory) -> None:
    memory.add("first")
    old = memory.add("answer one", role="assistant").turn_id
    memory.add("second")
    new = memory.add("answer two", role="assistant").turn_id
    memory.add("third")
    spoken = {"type": "text", "text": "answer two"}
    memory.prompt.blocks.keep(old, [{**COMPACTION, "content": "old"}], provider="anthropic")
    memory.prompt.blocks.keep(new, [{"type": "text", "text": "before"}, COMPACTION, spoken], provider="anthropic")

    assert memory.prompt.replay("main", provider="anthropic").messages == [
        {"role": "assistant", "content": [COMPACTION, spoken]},
        {"role": "user", "content": [{"type": "text", "text": "third"}]},
    ]


def test_a_compaction_that_failed_drops_nothing(memory: Memory) -> None:
    memory.add("first")
    failed = memory.add("answer", role="assistant").turn_id
    memory.prompt.blocks.keep(
        failed, [{"type": "compaction", "content": None}, {"type": "text", "text": "answer"}], provider="anthropic"
    )
    messages = memory.prompt.replay("main", provider="anthropic").messages

    assert messages[0] == {"role": "user", "content": [{"type": "text", "text": "first"}]}


def test_openais_items_are_replayed_for_openai_only(memory: Memory) -> None:
    memory.add("first")
    turn_id = memory.add("answer", role="assistant").turn_id
    output: list[dict[str, Any]] = [
        {"type": "reasoning", "id": "rs_1", "encrypted_content": "x", "summary": []},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "answer"}]},
    ]
    memory.prompt.blocks.keep(turn_id, output, provider="openai")

    assert memory.prompt.replay("main", provider="openai").messages == output[1:]
    assert memory.prompt.replay("main", provider="anthropic").messages == [
        {"role": "user", "content": [{"type": "text", "text": "first"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "answer"}]},
    ]
