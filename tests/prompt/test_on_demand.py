"""Compaction by a request of its own, and how the conversation goes on."""

from __future__ import annotations

from typing import Any

import pytest

from memory_rag.errors import ModelError, SettingsError
from memory_rag.prompt.capabilities import capabilities_of
from memory_rag.prompt.on_demand import betas_for, compact_request, compacted_input, compaction_block, going_on
from memory_rag.prompt.provider_requests import Wish

OPUS = capabilities_of("claude-opus-5-5")
GPT = capabilities_of("gpt-5.6")
CALL: dict[str, Any] = {"role": "assistant", "content": [{"type": "tool_use", "id": "A", "name": "read", "input": {}}]}
ANSWER: dict[str, Any] = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "A", "content": "x"}]}
USER: dict[str, Any] = {"role": "user", "content": "next"}
REQUEST: dict[str, Any] = {"model": "claude-opus-5-5", "system": "Be brief.", "messages": [USER, CALL, ANSWER]}
BLOCK = {"type": "compaction", "content": "They read x.", "signature": "c2ln"}


def test_anthropic_is_asked_with_the_conversations_own_request() -> None:
    part = compact_request(REQUEST, OPUS)

    assert part.parameters == {**REQUEST, "compaction": {"type": "summarize"}}
    assert (part.betas, part.ours, part.notes) == (("compact-2026-09-04",), Wish(), ())


def test_it_cannot_be_had_with_context_management() -> None:
    with pytest.raises(SettingsError, match="can't carry context_management as well"):
        compact_request({**REQUEST, "context_management": {"edits": []}}, OPUS)


def test_a_call_that_waits_for_its_answer_comes_first() -> None:
    with pytest.raises(SettingsError, match=r"the newest call of read \(A\) has no answer yet"):
        compact_request({**REQUEST, "messages": [USER, CALL]}, OPUS)


def test_openai_is_asked_with_its_own_fields() -> None:
    request = {"model": "gpt-5.6", "input": [USER], "instructions": "Be brief.", "tools": [], "stream": True}

    assert compact_request(request, GPT).parameters == {
        "model": "gpt-5.6",
        "input": [USER],
        "instructions": "Be brief.",
    }
    assert compact_request({"model": "gpt-5.6", "previous_response_id": "resp_1"}, GPT).parameters == {
        "model": "gpt-5.6",
        "previous_response_id": "resp_1",
    }


@pytest.mark.parametrize(
    "request_", [{"model": "gpt-5.6"}, {"input": []}, {"model": "m", "input": [], "previous_response_id": "r"}]
)
def test_openai_needs_a_model_and_one_conversation(request_: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="names a model and either input or previous_response_id"):
        compact_request(request_, GPT)


def test_a_model_that_cannot_says_that_the_summary_is_ours() -> None:
    part = compact_request(REQUEST, capabilities_of("claude-haiku-4-5"))

    assert (part.parameters, part.betas) == ({}, ())
    assert part.notes == (
        "claude-haiku-4-5 can't compact on demand, as far as its name tells: the summary is memory_rag's own",
    )


def test_the_block_leads_and_the_kept_messages_follow_verbatim() -> None:
    answer = {"content": [BLOCK], "stop_reason": "compaction"}
    block = compaction_block(answer)
    messages = [USER, CALL, ANSWER, USER]

    assert going_on(block, messages, kept_from=1) == [{"role": "assistant", "content": [BLOCK]}, CALL, ANSWER, USER]
    assert going_on(block, messages, kept_from=4) == [{"role": "assistant", "content": [BLOCK]}]


def test_what_is_kept_does_not_start_between_a_call_and_its_answer() -> None:
    with pytest.raises(SettingsError, match=r"can't start at 2: .*; they can start at 0, 1, 3, 4"):
        going_on(BLOCK, [USER, CALL, ANSWER, USER], kept_from=2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "got 0"),
        ([{"type": "text", "text": "no"}], "got 0"),
        ([{"type": "compaction", "content": None}], "an empty compaction block"),
    ],
)
def test_an_answer_without_a_summary_changes_nothing(content: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(ModelError, match=words) as raised:
        compaction_block({"content": content, "stop_reason": "end_turn"})

    assert "the conversation goes on as it was" in str(raised.value)


def test_openais_items_are_sent_as_they_came() -> None:
    output = [USER, {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}]

    assert compacted_input({"object": "response.compaction", "output": output}) == output
    with pytest.raises(ModelError, match="/responses/compact gave no compaction item"):
        compacted_input({"output": [USER]})


def test_a_request_names_the_beta_of_each_block_that_goes_back_in_it() -> None:
    at_threshold = {"type": "compaction", "content": "They read x.", "encrypted_content": "eA"}

    assert betas_for(going_on(BLOCK, [USER], kept_from=0)) == ("compact-2026-09-04",)
    assert betas_for([{"role": "assistant", "content": [at_threshold]}, USER]) == ("compact-2026-01-12",)
    assert betas_for([USER, CALL, ANSWER]) == ()
