"""Requests say what the provider shall do, with the right betas; what a model can't do falls to us, and is said so."""

from __future__ import annotations

from typing import Any

import pytest

from memory_rag.errors import SettingsError
from memory_rag.prompt.capabilities import capabilities_of
from memory_rag.prompt.editing import ClearThinking, ClearToolUses, Trigger
from memory_rag.prompt.provider_requests import CompactAtThreshold, RequestPart, Wish, request_part

OPUS = capabilities_of("claude-opus-4-6")
GPT = capabilities_of("gpt-5.6")
ALL = Wish(tool_uses=ClearToolUses(), thinking=ClearThinking(), compaction=CompactAtThreshold())


def test_every_option_of_clearing_tool_uses_is_sent_in_the_providers_shape() -> None:
    options = ClearToolUses(
        trigger=Trigger("tool_uses", 12),
        keep=5,
        clear_at_least=4000,
        exclude_tools=("memory", "web_search"),
        clear_tool_inputs=("write",),
    )

    assert request_part(Wish(tool_uses=options), OPUS) == RequestPart(
        {
            "context_management": {
                "edits": [
                    {
                        "type": "clear_tool_uses_20250919",
                        "trigger": {"type": "tool_uses", "value": 12},
                        "keep": {"type": "tool_uses", "value": 5},
                        "clear_at_least": {"type": "input_tokens", "value": 4000},
                        "exclude_tools": ["memory", "web_search"],
                        "clear_tool_inputs": ["write"],
                    }
                ]
            }
        },
        ("context-management-2025-06-27",),
        Wish(),
    )


def test_all_edits_go_in_the_order_that_the_provider_wants_with_both_betas() -> None:
    part = request_part(ALL, OPUS)

    assert part.parameters["context_management"]["edits"] == [
        {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}},
        {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": 100_000},
            "keep": {"type": "tool_uses", "value": 3},
        },
        {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 150_000}},
    ]
    assert part.betas == ("context-management-2025-06-27", "compact-2026-01-12")
    assert (part.ours, part.notes) == (Wish(), ())


def test_all_thinking_may_be_kept() -> None:
    part = request_part(Wish(thinking=ClearThinking(keep="all")), OPUS)

    assert part.parameters["context_management"]["edits"] == [{"type": "clear_thinking_20251015", "keep": "all"}]


def test_compaction_takes_instructions_and_may_pause() -> None:
    compaction = CompactAtThreshold(threshold=50_000, instructions="Keep the decisions.", pause_after=True)
    part = request_part(Wish(compaction=compaction), OPUS)

    assert part.parameters["context_management"]["edits"] == [
        {
            "type": "compact_20260112",
            "trigger": {"type": "input_tokens", "value": 50_000},
            "pause_after_compaction": True,
            "instructions": "Keep the decisions.",
        }
    ]
    assert part.betas == ("compact-2026-01-12",)


def test_anthropic_compacts_from_fifty_thousand_tokens_on() -> None:
    with pytest.raises(SettingsError, match="from 50,000 input tokens on, got a threshold of 49,999"):
        request_part(Wish(compaction=CompactAtThreshold(threshold=49_999)), OPUS)


def test_a_model_that_cannot_compact_falls_back_to_our_summary_and_says_so() -> None:
    part = request_part(ALL, capabilities_of("claude-haiku-4-5"))

    assert [edit["type"] for edit in part.parameters["context_management"]["edits"]] == [
        "clear_thinking_20251015",
        "clear_tool_uses_20250919",
    ]
    assert part.betas == ("context-management-2025-06-27",)
    assert part.ours == Wish(compaction=CompactAtThreshold())
    assert part.notes == (
        "claude-haiku-4-5 can't do this by itself, as far as its name tells: the summary is memory_rag's own",
    )


def test_a_model_that_can_nothing_leaves_all_to_us() -> None:
    part = request_part(ALL, capabilities_of("llama3.1"))

    assert (part.parameters, part.betas, part.ours) == ({}, (), ALL)
    assert len(part.notes) == 3


def test_openai_compacts_and_leaves_clearing_to_us() -> None:
    part = request_part(ALL, GPT)

    assert part.parameters == {"context_management": [{"type": "compaction", "compact_threshold": 150_000}]}
    assert part.betas == ()
    assert part.ours == Wish(tool_uses=ClearToolUses(), thinking=ClearThinking())
    assert part.notes == (
        "gpt-5.6 can't do this by itself, as far as its name tells: old tool results are cleared here before the "
        "request is sent",
        "gpt-5.6 can't do this by itself, as far as its name tells: old thinking is cleared here before the request "
        "is sent",
    )


@pytest.mark.parametrize(
    ("options", "named"), [({"instructions": "Keep it."}, "instructions"), ({"pause_after": True}, "pause_after")]
)
def test_what_openai_does_not_take_is_refused(options: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingsError, match=f"OpenAI's compaction at a threshold takes no {named}"):
        request_part(Wish(compaction=CompactAtThreshold(**options)), GPT)


def test_nothing_wished_adds_nothing() -> None:
    assert request_part(Wish(), OPUS) == RequestPart({}, (), Wish())


@pytest.mark.parametrize(
    "options", [{"threshold": 0}, {"threshold": "150000"}, {"threshold": 1e5}, {"instructions": " "}]
)
def test_a_wish_that_cannot_be_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        CompactAtThreshold(**options)
