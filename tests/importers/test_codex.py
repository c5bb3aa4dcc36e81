"""Codex CLI's sessions: the items are the talk, the rest is counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.importers import detect
from memory_rag.turns import Conversation, Role

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]

META = {
    "timestamp": "2026-04-01T09:00:00.000Z",
    "type": "session_meta",
    "payload": {"id": "s-1", "timestamp": "2026-04-01T09:00:00Z", "cwd": "/home/bo/bok", "cli_version": "0.65.0"},
}


def line(payload: Any, kind: str = "response_item", *, second: int = 1) -> dict[str, Any]:
    return {"timestamp": f"2026-04-01T09:00:{second:02}.250Z", "type": kind, "payload": payload}


def message(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def lines(*records: Any) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def test_the_items_are_the_talk_and_the_events_that_say_it_again_are_counted(made: Made, import_all: ImportAll) -> None:
    path = made(
        "rollout-2026-04-01T09-00-00-s-1.jsonl",
        lines(
            META,
            line(message("user", "Vad är 2+2?")),
            line({"type": "user_message", "message": "Vad är 2+2?"}, "event_msg"),
            line({"cwd": "/home/bo/bok", "model": "m"}, "turn_context"),
            line(message("assistant", "Fyra."), second=2),
            line({"type": "agent_message", "message": "Fyra."}, "event_msg", second=2),
            line({"message": "Kort", "replacement_history": [message("user", "Vad?")]}, "compacted", second=3),
        ),
    )
    assert detect(path)[0].importer == "codex"
    found = import_all(path)
    assert found.conversations == [Conversation("s-1")]
    assert [(turn.role, turn.text, turn.recalled) for turn in found.turns] == [
        (Role.USER, "Vad är 2+2?", True),
        (Role.ASSISTANT, "Fyra.", True),
    ]
    assert found.turns[0].said_at == datetime(2026, 4, 1, 9, 0, 1, 250_000, tzinfo=UTC)
    assert found.skipped == {
        "no message but 'session_meta'": 1,
        "no message but 'event_msg'": 2,
        "no message but 'turn_context'": 1,
        "no message but 'compacted'": 1,
    }


def test_tools_reasoning_and_what_the_program_adds_are_kept_out_of_recall(made: Made, import_all: ImportAll) -> None:
    found = import_all(
        made(
            "rollout.jsonl",
            lines(
                META,
                line(message("developer", "<permissions instructions>Var snäll")),
                line(message("user", "<environment_context><cwd>/home/bo</cwd></environment_context>")),
                line(message("user", "# AGENTS.md instructions for /home/bo\n\nSkriv kort.")),
                line(message("user", "Lista filerna")),
                line(
                    {
                        "type": "reasoning",
                        "summary": [{"type": "summary_text", "text": "Tänker"}],
                        "encrypted_content": "x",
                    }
                ),
                line({"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"}),
                line({"type": "function_call_output", "call_id": "c1", "output": "a.txt\n"}),
                line({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "c2"}),
                line({"type": "custom_tool_call_output", "call_id": "c2", "output": '{"output":"ok"}'}),
                line({"type": "function_call_output", "call_id": "c9", "output": {"content": "nej", "success": False}}),
                line({"type": "ghost_snapshot", "ghost_commit": {"id": "1"}}),
            ),
        )
    )
    assert [(turn.role.value, turn.speaker, turn.text) for turn in found.turns if not turn.recalled] == [
        ("system", "system", "<permissions instructions>Var snäll"),
        ("user", "user", "<environment_context><cwd>/home/bo</cwd></environment_context>"),
        ("user", "user", "# AGENTS.md instructions for /home/bo\n\nSkriv kort."),
        ("assistant", "assistant", "Tänker"),
        ("assistant", "assistant", ""),
        ("tool", "shell", "a.txt\n"),
        ("assistant", "assistant", ""),
        ("tool", "apply_patch", '{"output":"ok"}'),
        ("tool", "tool", "nej"),
        ("assistant", "assistant", ""),
    ]
    assert [turn.text for turn in found.turns if turn.recalled] == ["Lista filerna"]


def test_an_early_session_has_its_items_without_a_wrapper(made: Made, import_all: ImportAll) -> None:
    first: dict[str, Any] = {"id": "s-0", "timestamp": "2025-06-01T09:00:00Z", "instructions": None, "git": {}}
    state = {"record_type": "state"}
    path = made("rollout.jsonl", lines(first, message("user", "Hej"), state, message("assistant", "Hej!")))
    found = import_all(path)
    assert [(turn.conversation_id, turn.text, turn.said_at) for turn in found.turns] == [
        ("s-0", "Hej", None),
        ("s-0", "Hej!", None),
    ]
    assert found.skipped == {"no message but 'session_meta'": 1, "no message but 'state'": 1}


def test_a_session_that_goes_on_from_another_keeps_its_own_id(made: Made, import_all: ImportAll) -> None:
    other = {**META, "payload": {"id": "s-0"}}
    found = import_all(made("rollout.jsonl", lines(META, other, line(message("user", "Hej")))))
    assert {turn.conversation_id for turn in found.turns} == {"s-1"}


def test_the_same_words_twice_are_two_turns_and_stay_so_when_the_file_grows(made: Made, import_all: ImportAll) -> None:
    said = [META, line(message("user", "ja")), line(message("user", "ja"))]
    before = import_all(made("rollout.jsonl", lines(*said))).keys
    after = import_all(made("rollout.jsonl", lines(*said, line(message("user", "ja"), second=5)))).keys
    assert len(set(before)) == 2
    assert after[:2] == before


SAID = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(min_size=1)), min_size=1, max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=SAID)
def test_what_was_said_comes_back_code_point_by_code_point(
    made: Made, import_all: ImportAll, said: list[tuple[str, str]]
) -> None:
    found = import_all(made("r.jsonl", lines(META, *(line(message(role, text)) for role, text in said))))
    assert [(turn.role.value, turn.text) for turn in found.turns] == said
