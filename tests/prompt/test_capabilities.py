"""What a model's provider can do is told by its API, else by the model's name."""

from __future__ import annotations

import pytest

from memory_rag.prompt.capabilities import Capabilities, capabilities_of, capabilities_told


@pytest.mark.parametrize(
    ("model", "clears", "compacts"),
    [
        ("claude-opus-4-6", True, True),
        ("claude-sonnet-4-6", True, True),
        ("claude-opus-5-5", True, True),
        ("claude-sonnet-5", True, True),
        ("anthropic.claude-opus-4-6-v1:0", True, True),
        ("claude-haiku-4-5", True, False),
        ("claude-sonnet-4-5-20250929", True, False),
        ("claude-opus-4-20250514", True, False),
        ("claude-3-5-sonnet-20241022", False, False),
    ],
)
def test_a_claude_is_known_by_its_version(model: str, clears: bool, compacts: bool) -> None:
    can = capabilities_of(model)

    assert can.provider == "anthropic"
    assert (can.clear_tool_uses, can.clear_thinking) == (clears, clears)
    assert (can.compact_at_threshold, can.compact_on_demand) == (compacts, compacts)


@pytest.mark.parametrize(
    ("model", "compacts"),
    [("gpt-5.6-mini", True), ("gpt-5", True), ("openai/gpt-6-astra", True), ("GPT-5-prod", True), ("gpt-10", True)],
)
def test_openais_newer_models_compact_and_clear_nothing(model: str, compacts: bool) -> None:
    assert capabilities_of(model) == Capabilities(
        provider="openai", model=model, compact_at_threshold=compacts, compact_on_demand=compacts
    )


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-35-turbo", "gpt-41-mini", "gpt-oss-120b", "llama3.1", "qwen3:8b", ""])
def test_a_name_that_says_nothing_gives_nothing(model: str) -> None:
    assert capabilities_of(model) == Capabilities(provider="other", model=model)


def test_a_provider_that_is_named_counts_over_the_name() -> None:
    assert capabilities_of("gpt-4o", provider="openai").provider == "openai"
    assert not capabilities_of("gpt-4o", provider="openai").compact_at_threshold
    assert capabilities_of("my-deployment", provider="anthropic").provider == "anthropic"
    assert not capabilities_of("my-deployment", provider="anthropic").clear_tool_uses
    assert capabilities_of("claude-opus-5", provider="other") == Capabilities(provider="other", model="claude-opus-5")


def test_the_models_api_counts_over_the_name() -> None:
    told = capabilities_told(
        "claude-next",
        {
            "context_management": {
                "supported": True,
                "clear_tool_uses_20250919": {"supported": True},
                "compact_20260112": {"supported": False},
            },
            "compaction": {"supported": True},
        },
    )

    assert told == Capabilities(
        provider="anthropic",
        model="claude-next",
        clear_tool_uses=True,
        compact_on_demand=True,
        known_from="models api",
    )
    assert capabilities_told("claude-next", {}) == Capabilities(
        provider="anthropic", model="claude-next", known_from="models api"
    )
