"""LongMemEval: a history is a conversation, its sessions in order, and nothing tells where the answer is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]

QUESTION: dict[str, Any] = {
    "question_id": "q1",
    "question": "Var?",
    "answer": "I Visby",
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "later"],
    "haystack_session_ids": ["answer_1", "s2"],
    "haystack_sessions": [
        [
            {"role": "user", "content": "Jag bor i Visby.", "has_answer": True},
            {"role": "assistant", "content": "Fint."},
        ],
        [{"role": "user", "content": "Hej"}, {"role": "user", "content": ""}],
    ],
}


def test_a_history_is_a_conversation_with_its_sessions_and_times(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("longmemeval.json", [QUESTION, {"question_id": "q2"}]))
    assert [(turn.session_id, turn.source.native_id, turn.text) for turn in found.turns] == [
        ("longmemeval-q1/s0", "0:0", "Jag bor i Visby."),
        ("longmemeval-q1/s0", "0:1", "Fint."),
        ("longmemeval-q1/s1", "1:0", "Hej"),
    ]
    assert found.turns[0].said_at == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
    assert found.turns[2].said_at is None
    assert found.skipped == {"nothing said": 1, "not a question with its history": 1}
    assert found.noted == {"time not understood": 1}


def test_neither_question_nor_answer_is_a_turn_and_no_id_tells_where_it_is(made: Made, import_all: ImportAll) -> None:
    turns = import_all(made("longmemeval.json", [QUESTION])).turns
    assert "I Visby" not in [turn.text for turn in turns]
    assert not any("answer" in turn.session_id for turn in turns)


MESSAGES = st.builds(
    lambda role, text: {"role": role, "content": text}, st.sampled_from(["user", "assistant"]), st.text(min_size=1)
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sessions=st.lists(st.lists(MESSAGES, min_size=1, max_size=3), min_size=1, max_size=3))
def test_what_was_said_comes_back_code_point_by_code_point(
    made: Made, import_all: ImportAll, sessions: list[list[dict[str, str]]]
) -> None:
    found = import_all(made("l.json", [{"question_id": "q", "haystack_sessions": sessions}]))
    assert found.texts == [message["content"] for session in sessions for message in session]
