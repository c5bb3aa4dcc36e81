"""Anthropic messages: a system prompt, blocks, and tools' answers in a person's message."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.importers import detect
from memory_rag.turns import Role

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]

ANSWER = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "sol"}], "is_error": False}
TALK: dict[str, Any] = {
    "system": "Svara kort.",
    "messages": [
        {"role": "user", "content": "Vädret?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm", "signature": "s"},
                {"type": "redacted_thinking", "data": "xyz"},
                {"type": "text", "text": "Jag ser efter."},
                {"type": "tool_use", "id": "t", "name": "weather", "input": {"place": "Vadstena"}},
            ],
        },
        {"role": "user", "content": [ANSWER, {"type": "text", "text": "Skynda"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Sol."}]},
    ],
}


def test_every_part_has_its_place(made: Made, import_all: ImportAll) -> None:
    path = made("talk.json", TALK)
    assert detect(path)[0].importer == "anthropic"
    found = import_all(path)
    assert [(turn.role, turn.speaker, turn.text, turn.recalled) for turn in found.turns] == [
        (Role.SYSTEM, "system", "Svara kort.", False),
        (Role.USER, "user", "Vädret?", True),
        (Role.ASSISTANT, "assistant", "Jag ser efter.", True),
        (Role.TOOL, "weather", "sol", False),
        (Role.USER, "user", "Skynda", True),
        (Role.ASSISTANT, "assistant", "Sol.", True),
    ]
    assert [block.kind for block in found.turns[2].blocks] == ["thinking", "thinking", "tool_call"]
    assert [turn.said_at for turn in found.turns] == [None] * 6
    assert "sol" not in json.loads(found.turns[4].source.raw)["content"][0]


@pytest.mark.parametrize("content", ["sol", [{"type": "text", "text": "sol"}], ["sol"]])
def test_a_tools_answer_is_a_text_or_a_list(made: Made, import_all: ImportAll, content: Any) -> None:
    said = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": content}]}
    (turn,) = import_all(made("talk.json", [said])).turns
    assert (turn.role, turn.text) == (Role.TOOL, "sol")


def test_a_document_is_found_by_its_title_and_its_bytes_are_not_stored(made: Made, import_all: ImportAll) -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "QUJD"}
    said = {
        "role": "user",
        "content": [{"type": "document", "title": "Avtal", "source": source}, {"type": "new_kind", "x": 1}],
    }
    (turn,) = import_all(made("talk.json", {"messages": [said]})).turns
    assert [(block.kind, block.caption) for block in turn.blocks] == [("attachment", "Avtal"), ("new_kind", "")]
    assert (turn.recalled, "QUJD" in turn.source.raw) == (True, False)


def test_the_same_conversation_again_has_the_same_ids_and_more_turns_when_it_grew(
    made: Made, import_all: ImportAll
) -> None:
    before = import_all(made("a.json", TALK)).keys
    longer = {**TALK, "messages": [*TALK["messages"], {"role": "user", "content": "Tack"}]}
    assert import_all(made("b.json", longer)).keys[:-1] == before


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(min_size=1)), min_size=1, max_size=6))
def test_what_was_said_comes_back_code_point_by_code_point(
    made: Made, import_all: ImportAll, said: list[tuple[str, str]]
) -> None:
    messages = [{"role": role, "content": [{"type": "text", "text": text}]} for role, text in said]
    found = import_all(made("talk.json", {"system": "", "messages": messages}))
    assert [(turn.role.value, turn.text) for turn in found.turns] == said
