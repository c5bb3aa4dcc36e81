"""Cutting: a tail never starts between a call and its answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import QueryError
from memory_rag.prompt.tool_pairs import Pair, cut_points, pairs, tail_start
from tests.prompt.conversations import REUSED, SHAPES, STEPS, Step, answers_without_call, calls_without_answer

ONE_MESSAGE_EACH: list[dict[str, Any]] = [
    {"role": "user", "content": "plan"},
    {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": "A", "name": "read", "input": {"path": "a"}},
            {"type": "tool_use", "id": "B", "name": "read", "input": {"path": "b"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "A", "content": "a"}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "B", "content": "b", "is_error": True}]},
    {"role": "assistant", "content": "done"},
    {"role": "user", "content": "next"},
]


def test_a_tail_never_starts_between_the_answers_of_parallel_calls() -> None:
    assert cut_points(ONE_MESSAGE_EACH) == [0, 1, 4, 5]


@pytest.mark.parametrize(("at_most", "start"), [(1, 5), (2, 4), (3, 4), (4, 4), (5, 1), (6, 0), (99, 0)])
def test_at_most_so_many_messages_are_kept(at_most: int, start: int) -> None:
    assert tail_start(ONE_MESSAGE_EACH, at_most=at_most) == start


def test_a_group_longer_than_the_tail_stays_whole() -> None:
    assert tail_start(ONE_MESSAGE_EACH[:4], at_most=2) == 1


def test_no_messages_have_no_cut() -> None:
    assert (cut_points([]), tail_start([], at_most=3), pairs([])) == ([], 0, [])


def test_a_tail_of_no_messages_is_refused() -> None:
    with pytest.raises(QueryError, match="a tail has at least 1 message, got at_most=0"):
        tail_start(ONE_MESSAGE_EACH, at_most=0)


def test_an_answer_belongs_to_the_newest_call_of_its_name() -> None:
    call = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}}
    answer = {"role": "function", "name": "look", "content": "ok"}

    assert pairs([call, answer, call, answer]) == [
        Pair("function look", "look", 0, 1),
        Pair("function look", "look", 2, 3),
    ]
    assert cut_points([call, answer, call, answer]) == [0, 2]


def test_reasoning_stays_with_what_was_reasoned_out() -> None:
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": "plan"},
        {"type": "reasoning", "id": "rs_1", "encrypted_content": "x"},
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
        {"type": "message", "role": "assistant", "content": "done"},
    ]

    assert cut_points(items) == [0, 1, 4]


def test_a_tool_of_the_providers_own_may_answer_in_the_same_message() -> None:
    search = {
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
            {"type": "text", "text": "found"},
        ],
    }

    assert cut_points([{"role": "user", "content": "find"}, search, {"role": "user", "content": "thanks"}]) == [0, 1, 2]


def test_a_tool_of_the_providers_own_that_answers_in_the_next_message_is_not_parted() -> None:
    called = {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s", "name": "web_search"}]}
    found = {"role": "assistant", "content": [{"type": "web_search_tool_result", "tool_use_id": "s", "content": []}]}

    assert cut_points([{"role": "user", "content": "find"}, called, found, {"role": "user", "content": "?"}]) == [
        0,
        1,
        3,
    ]


def test_an_answer_far_from_its_call_holds_all_between_together() -> None:
    """As code does that calls tools itself: its own answer comes after those of the tools."""
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": [{"type": "server_tool_use", "id": "code", "name": "code_execution"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "inner", "name": "read", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "inner", "content": "x"}]},
        {"role": "assistant", "content": [{"type": "code_execution_tool_result", "tool_use_id": "code"}]},
        {"role": "user", "content": "thanks"},
    ]

    assert cut_points(messages) == [0, 4]


@given(STEPS, st.sampled_from(sorted(SHAPES)), REUSED)
def test_every_tail_and_every_head_is_whole(steps: list[Step], shape: str, reused: bool) -> None:
    messages = SHAPES[shape](steps, reused=reused)
    silent = set(calls_without_answer(messages))

    for start in cut_points(messages):
        assert answers_without_call(messages[start:]) == []
        if not reused:
            assert set(calls_without_answer(messages[:start])) <= silent


@given(STEPS, st.sampled_from(sorted(SHAPES)))
def test_every_place_that_divides_nothing_may_be_cut(steps: list[Step], shape: str) -> None:
    messages = SHAPES[shape](steps)
    silent = set(calls_without_answer(messages))

    def divides(place: int) -> bool:
        behind_reasoning = place > 0 and messages[place - 1].get("type") == "reasoning"
        newly_silent = set(calls_without_answer(messages[:place])) - silent
        return bool(answers_without_call(messages[place:])) or bool(newly_silent) or behind_reasoning

    expected = [place for place in range(len(messages)) if not divides(place)]
    assert cut_points(messages) == expected


@given(STEPS, st.sampled_from(sorted(SHAPES)), st.integers(1, 20))
def test_a_tail_is_the_longest_that_is_allowed(steps: list[Step], shape: str, at_most: int) -> None:
    messages: list[Any] = SHAPES[shape](steps)
    start = tail_start(messages, at_most=at_most)
    points = cut_points(messages)

    if len(messages) - start > at_most:
        assert start == points[-1]
    else:
        assert not any(len(messages) - at_most <= point < start for point in points)
