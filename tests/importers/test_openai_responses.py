"""OpenAI's Responses API: items alone, in a response, or in lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.turns import Block, Role

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]


def message(role: str, text: str, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}], **more}


def test_items_are_turns_and_calls_answers_and_reasoning_are_out_of_recall(made: Made, import_all: ImportAll) -> None:
    items = [
        message("user", "Vädret?"),
        {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "abc"},
        {"type": "function_call", "id": "f", "call_id": "c", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "sol"},
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "sol"}},
        message("assistant", "Sol.", id="m"),
    ]
    found = import_all(made("items.json", items))
    assert [(turn.role, turn.speaker, turn.text, turn.recalled) for turn in found.turns] == [
        (Role.USER, "user", "Vädret?", True),
        (Role.ASSISTANT, "assistant", "", False),
        (Role.ASSISTANT, "assistant", "", False),
        (Role.TOOL, "weather", "sol", False),
        (Role.ASSISTANT, "assistant", "", False),
        (Role.ASSISTANT, "assistant", "Sol.", True),
    ]
    assert found.turns[2].blocks == (Block("tool_call", items[2]),)
    assert found.turns[-1].source.native_id == "m"


def test_a_response_holds_its_question_and_its_answer(made: Made, import_all: ImportAll) -> None:
    response = {"object": "response", "id": "resp_1", "created_at": 1764460800, "instructions": "Kort"}
    path = made("r.json", {**response, "input": "Hej", "output": [message("assistant", "Hej!")]})
    found = import_all(path)
    assert [(turn.conversation_id, turn.role.value, turn.text) for turn in found.turns] == [
        ("resp_1", "user", "Hej"),
        ("resp_1", "assistant", "Hej!"),
    ]
    assert found.turns[0].said_at_text == "1764460800"


def test_an_image_keeps_its_type_and_length_and_not_its_bytes(made: Made, import_all: ImportAll) -> None:
    said = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_image", "image_url": "data:image/png;base64,QUJD"}],
    }
    (turn,) = import_all(
        made(
            "items.json",
            [
                said,
            ],
        )
    ).turns
    assert (turn.blocks[0].kind, turn.blocks[0].data["mime_type"]) == ("image", "image/png")
    assert "QUJD" not in turn.source.raw


def test_a_broken_line_costs_only_itself(made: Made, import_all: ImportAll) -> None:
    good = json.dumps({"id": "a", "items": [message("user", "Hej")]})
    found = import_all(made("r.jsonl", f"{good}\n{{oj}}\n{good}\n"))
    assert (found.texts, found.skipped) == (["Hej", "Hej"], {"a line of broken JSON": 1})
    assert [turn.conversation_id for turn in found.turns] == ["a", "a#2"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(min_size=1)), min_size=1, max_size=6))
def test_what_was_said_comes_back_code_point_by_code_point(
    made: Made, import_all: ImportAll, said: list[tuple[str, str]]
) -> None:
    found = import_all(made("items.json", [message(role, text) for role, text in said]))
    assert [(turn.role.value, turn.text) for turn in found.turns] == said
