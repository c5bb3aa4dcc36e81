"""Usage and applied edits are read from the answers of all three APIs."""

from __future__ import annotations

from typing import Any

import pytest

from memory_rag.prompt.usage import AppliedEdit, Usage, applied_edits, usage_of


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}, Usage(120, None, 120, 30)),
        (
            {"input_tokens": 500, "input_tokens_details": {"cached_tokens": 400}, "output_tokens": 20},
            Usage(500, None, 500, 20),
        ),
        (
            {
                "input_tokens": 10,
                "cache_read_input_tokens": 400,
                "cache_creation_input_tokens": 90,
                "output_tokens": 20,
            },
            Usage(500, None, 500, 20),
        ),
        (
            {
                "input_tokens": 20_000,
                "output_tokens": 300,
                "iterations": [
                    {
                        "type": "compaction",
                        "input_tokens": 170_000,
                        "cache_read_input_tokens": 5_000,
                        "output_tokens": 900,
                    },
                    {"type": "message", "input_tokens": 20_000, "output_tokens": 300},
                ],
            },
            Usage(175_000, 20_000, 195_000, 1_200),
        ),
        (
            {"iterations": [{"type": "compaction", "input_tokens": 60_000, "output_tokens": 900}]},
            Usage(60_000, None, 60_000, 900),
        ),
    ],
)
def test_what_was_sent_read_and_written_is_told(usage: dict[str, Any], expected: Usage) -> None:
    assert usage_of({"usage": usage}) == expected


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"usage": None},
        {"usage": {}},
        {"usage": {"input_tokens": None, "output_tokens": 5}},
        {"usage": {"prompt_tokens": None}},
        {"usage": {"input_tokens": "many"}},
        {"usage": {"input_tokens": float("nan")}},
        {"usage": {"iterations": [{"type": "compaction"}, None], "output_tokens": 5}},
    ],
)
def test_an_answer_without_usage_tells_none(answer: dict[str, Any]) -> None:
    assert usage_of(answer) is None


def test_applied_edits_are_told_with_their_tokens() -> None:
    answer = {
        "context_management": {
            "applied_edits": [
                {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 8, "cleared_input_tokens": 50_000},
                {"type": "clear_thinking_20251015", "cleared_thinking_turns": 3, "cleared_input_tokens": 15_000},
            ]
        }
    }

    assert applied_edits(answer) == (
        AppliedEdit("clear_tool_uses_20250919", 8, 50_000),
        AppliedEdit("clear_thinking_20251015", 3, 15_000),
    )
    assert applied_edits({}) == applied_edits({"context_management": None}) == ()
