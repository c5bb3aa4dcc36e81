"""Stored turns become messages that every provider accepts: each call with its answers right behind it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.prompt.turn_messages import anthropic_messages, openai_messages, responses_items
from memory_rag.prompt.turn_parts import NO_RESULT
from memory_rag.turns import Block, Turn
from tests.prompt.conversations import REUSED, STEPS, Step, answers_without_call, calls_without_answer
from tests.prompt.made_turns import answer, call, numbered, turn, turns_of

SHAPES = ("openai_chat", "anthropic", "responses")


def parallel(shape: str) -> list[Turn]:
    """Return a plan, two calls at once, an answer and a failure, and the reply."""
    return numbered(
        [
            turn("plan"),
            turn("", role="assistant", blocks=[call("A", path="a", shape=shape), call("B", path="b", shape=shape)]),
            turn("words of a", role="tool", blocks=[answer("A", "words of a", shape=shape)], recalled=False),
            turn("no b", role="tool", blocks=[answer("B", "no b", shape=shape, failed=True)], recalled=False),
            turn("done", role="assistant"),
            turn("next"),
        ]
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_answers_to_parallel_calls_lie_in_one_message_of_anthropics(shape: str) -> None:
    told = anthropic_messages(parallel(shape))
    failed: dict[str, Any] = {"is_error": True} if shape == "anthropic" else {}

    assert told.messages == [
        {"role": "user", "content": [{"type": "text", "text": "plan"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "A", "name": "read", "input": {"path": "a"}},
                {"type": "tool_use", "id": "B", "name": "read", "input": {"path": "b"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "A", "content": "words of a"},
                {"type": "tool_result", "tool_use_id": "B", "content": "no b", **failed},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        {"role": "user", "content": [{"type": "text", "text": "next"}]},
    ]
    assert told.answer_turns == {"A": "t3", "B": "t4"}
    assert told.left_out == {}


@pytest.mark.parametrize("shape", SHAPES)
def test_in_openais_chat_each_answer_is_a_message(shape: str) -> None:
    told = openai_messages(parallel(shape))

    assert told.messages[1:4] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "A", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}},
                {"id": "B", "type": "function", "function": {"name": "read", "arguments": '{"path": "b"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "A", "content": "words of a"},
        {"role": "tool", "tool_call_id": "B", "content": "no b"},
    ]
    assert told.turn_ids == ("t1", "t2", "t3", "t4", "t5", "t6")


@pytest.mark.parametrize("shape", SHAPES)
def test_in_the_responses_api_calls_and_answers_are_items(shape: str) -> None:
    items = responses_items(parallel(shape)).messages

    assert items[1:5] == [
        {"type": "function_call", "call_id": "A", "name": "read", "arguments": '{"path": "a"}'},
        {"type": "function_call", "call_id": "B", "name": "read", "arguments": '{"path": "b"}'},
        {"type": "function_call_output", "call_id": "A", "output": "words of a"},
        {"type": "function_call_output", "call_id": "B", "output": "no b"},
    ]


def test_a_call_without_an_answer_gets_a_stand_in() -> None:
    told = openai_messages(numbered([turn("go"), turn("", role="assistant", blocks=[call("A")]), turn("well?")]))

    assert told.messages[2] == {"role": "tool", "tool_call_id": "A", "content": NO_RESULT}


def test_an_answer_said_later_moves_to_its_call() -> None:
    told = openai_messages(
        numbered(
            [
                turn("", role="assistant", blocks=[call("A")]),
                turn("hurry up"),
                turn("x", role="tool", blocks=[answer("A", "x")]),
            ]
        )
    )

    assert [message["role"] for message in told.messages] == ["assistant", "tool", "user"]
    assert told.turn_ids == ("t1", "t3", "t2")


def test_what_cannot_be_told_is_counted() -> None:
    told = openai_messages(
        numbered(
            [
                turn("x", role="tool", blocks=[answer("gone", "x")]),
                turn("be kind", role="system"),
                turn("a log line", role="tool"),
                turn("hello"),
            ]
        )
    )

    assert [message["content"] for message in told.messages] == ["hello"]
    assert told.left_out == {
        "answers whose call is not in the window": 1,
        "system messages of then": 1,
        "answers of no call": 1,
    }


def test_a_key_that_is_used_again_is_told_apart() -> None:
    one_round = [
        turn("", role="assistant", blocks=[call("call_0")]),
        turn("x", role="tool", blocks=[answer("call_0", "x")]),
    ]
    told = anthropic_messages(numbered([*one_round, *one_round]))
    keys = [block.get("id") or block.get("tool_use_id") for message in told.messages for block in message["content"]]

    assert keys == ["call_0", "call_0", "call_0_2", "call_0_2"]


def test_arguments_that_are_no_object_are_kept() -> None:
    broken = Block("tool_call", {"id": "A", "function": {"name": "run", "arguments": "ls -l {"}})
    told = anthropic_messages([turn("", role="assistant", blocks=[broken])])

    assert told.messages[0]["content"] == [
        {"type": "tool_use", "id": "A", "name": "run", "input": {"arguments": "ls -l {"}}
    ]


def test_what_a_turn_shared_is_told_by_its_caption() -> None:
    shown = turn("Look!", blocks=[Block("image", {}, "a loaf of bread")])

    assert openai_messages([shown]).messages == [{"role": "user", "content": "Look! [shared image: a loaf of bread]"}]


def test_an_image_without_a_word_is_told_and_what_has_nothing_to_tell_is_counted() -> None:
    image, thought = Block("image", {"url": "a.png"}), Block("thinking", {"thinking": "Hm."})
    turns = numbered([turn("", blocks=[image]), turn(" \n"), turn("", role="assistant", blocks=[thought])])

    for told in (openai_messages(turns), responses_items(turns)):
        assert [message["content"] for message in told.messages] == ["[shared image]"]
        assert told.left_out == {"turns without words": 2}
    assert anthropic_messages(turns).messages == [
        {"role": "user", "content": [{"type": "text", "text": "[shared image]"}]}
    ]


def test_lone_surrogates_reach_no_provider() -> None:
    assert openai_messages([turn("a \ud83d b \0")]).messages[0]["content"] == "a \ufffd b \ufffd"


def test_the_answer_in_a_users_turn_is_the_tools_not_the_users() -> None:
    told = openai_messages(
        numbered([turn("", role="assistant", blocks=[call("A")]), turn("x", blocks=[answer("A", "x")])])
    )

    assert [message["role"] for message in told.messages] == ["assistant", "tool"]


def test_what_a_provider_gave_goes_back_unchanged() -> None:
    content: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "tool_use", "id": "A", "name": "read", "input": {}},
    ]
    turns = numbered(
        [turn("go"), turn("", role="assistant", blocks=[call("A")]), turn("x", role="tool", blocks=[answer("A", "x")])]
    )
    told = anthropic_messages(turns, contents={"t2": content})

    assert told.messages[1] == {"role": "assistant", "content": content}
    assert told.messages[2]["content"] == [{"type": "tool_result", "tool_use_id": "A", "content": "x"}]


def test_the_answer_to_a_call_that_goes_back_unchanged_names_it_as_its_provider_did() -> None:
    """Some servers number their calls ``functions.read:0``."""
    key = "functions.read:0"
    item = {"type": "function_call", "call_id": key, "name": "read", "arguments": "{}"}
    turns = numbered(
        [turn("", role="assistant", blocks=[call(key)]), turn("x", role="tool", blocks=[answer(key, "x")])]
    )

    assert [one["call_id"] for one in responses_items(turns, contents={"t1": [item]}).messages] == [key, key]
    assert [one["call_id"] for one in responses_items(turns).messages] == ["functions_read_0"] * 2


@given(STEPS, st.sampled_from(SHAPES), REUSED, st.integers(0, 6))
def test_every_window_is_a_conversation_that_a_provider_accepts(
    steps: list[Step], shape: str, reused: bool, start: int
) -> None:
    """Wherever it starts, even in the midst of a pair."""
    turns = turns_of(steps, shape=shape, reused=reused)[start:]
    anthropic, chat, items = anthropic_messages(turns), openai_messages(turns), responses_items(turns)

    for told in (anthropic, chat, items):
        assert answers_without_call(told.messages) == []
        assert calls_without_answer(told.messages) == []
        assert len(told.turn_ids) == len(told.messages)
    roles = [message["role"] for message in anthropic.messages]
    assert all(one != other for one, other in pairwise(roles))
    assert "" not in [block.get("text") for message in anthropic.messages for block in message["content"]]
    for at, message in enumerate(anthropic.messages):
        called = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        answered = [b["tool_use_id"] for b in (anthropic.messages[at + 1 :] or [{"content": []}])[0]["content"]
                    if b["type"] == "tool_result"]  # fmt: skip
        assert not called or called == answered


@given(STEPS, st.sampled_from(SHAPES))
def test_no_word_is_lost_on_the_way(steps: list[Step], shape: str) -> None:
    turns = turns_of(steps, shape=shape)
    told = json.dumps(openai_messages(turns).messages)

    assert sum(told.count(f'"content": "{word}"') for word in ("ok", "error", "plan", "done", "next", "hurry")) == sum(
        one.text != "" for one in turns
    )


def test_the_name_of_a_tool_is_one_that_every_provider_takes() -> None:
    named = Block("tool_call", {"id": "A", "function": {"name": "web.run \ud800" + "x" * 99, "arguments": "{}"}})
    told = openai_messages([turn("", role="assistant", blocks=[named])])

    assert told.messages[0]["tool_calls"][0]["function"]["name"] == "web_run__" + "x" * 55


def test_half_a_character_in_the_arguments_reaches_no_request() -> None:
    escaped = Block("tool_call", {"id": "A", "function": {"name": "run", "arguments": '{"q": "a \\ud83d"}'}})
    told = anthropic_messages([turn("", role="assistant", blocks=[escaped])])

    assert told.messages[0]["content"][0]["input"] == {"q": "a \ufffd"}


def test_ids_are_as_short_as_every_provider_takes_and_stay_apart() -> None:
    """OpenAI's chat takes 40 characters; its own Responses API and other providers give longer ids."""
    keys = ["call_" + "x" * 80, "call_" + "x" * 79 + "y", "fc_" + "0" * 50]

    def said(key: str, text: str) -> Turn:
        return turn(text, role="tool", blocks=[answer(key, text)])

    calls = turn("", role="assistant", blocks=[call(key) for key in keys])
    again = [turn("", role="assistant", blocks=[call(keys[0])]), said(keys[0], "of 3")]
    turns = numbered([turn("go"), calls, *(said(key, f"of {at}") for at, key in enumerate(keys)), *again])
    for told in (openai_messages(turns), responses_items(turns)):
        ids = [one["id"] for message in told.messages for one in message.get("tool_calls", ())]
        ids += [item["call_id"] for item in told.messages if item.get("type") == "function_call"]
        assert (len(ids), len(set(ids)), max(map(len, ids))) == (4, 4, 40)
        assert answers_without_call(told.messages) == calls_without_answer(told.messages) == []
        texts = [one.get("output", one.get("content")) for one in told.messages]
        assert [text for text in texts if str(text).startswith("of ")] == ["of 0", "of 1", "of 2", "of 3"]


@pytest.mark.parametrize(
    "called", [{"name": "python", "arguments": "{}"}, {"recipient": "python"}], ids=["without ids", "ChatGPT's"]
)
def test_a_call_without_an_id_is_answered_by_the_name_of_its_tool(called: dict[str, Any]) -> None:
    turns: list[Turn] = []
    for at in (1, 3):
        turns.append(turn("", role="assistant", blocks=[Block("tool_call", called)]))
        turns.append(turn(f"out {at}", role="tool", blocks=[Block("tool_result", {"name": "python"})]))
    told = openai_messages(numbered(turns))

    assert [message["content"] for message in told.messages if message["role"] == "tool"] == ["out 1", "out 3"]
    assert {one["function"]["name"] for m in told.messages for one in m.get("tool_calls", ())} == {"python"}
    assert answers_without_call(told.messages) == calls_without_answer(told.messages) == []
    assert told.left_out == {}
