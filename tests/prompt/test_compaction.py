"""Fitting: clearing first, a summary only if the prompt is still too large, and no cut in a pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import SettingsError
from memory_rag.prompt.compaction import SUMMARY_HEADING, fit, with_summary
from memory_rag.prompt.editing import ClearThinking, ClearToolUses
from memory_rag.prompt.tokens import messages_tokens
from tests.prompt.conversations import SHAPES, STEPS, Step, answers_without_call
from tests.prompt.word_counter import Words

COUNT = Words()
LONG = " ".join(["word"] * 40)


class Summaries:
    """Stands for a summarizer: a short text, and what it was asked to summarise."""

    def __init__(self) -> None:
        self.asked: list[Sequence[Mapping[str, Any]]] = []

    def __call__(self, messages: Sequence[Mapping[str, Any]]) -> str:
        self.asked.append(messages)
        return "They talked [t1]."


def talk(n: int) -> list[dict[str, Any]]:
    """Return an instruction, and rounds of a question, a call, its answer of 40 words and the reply."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for number in range(n):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        messages += [
            {"role": "user", "content": "read"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": LONG},
            {"role": "assistant", "content": "done"},
        ]
    return messages


def ids(messages: list[Any]) -> list[str | None]:
    return [f"t{number}" for number in range(len(messages))]


def test_what_fits_is_left_alone() -> None:
    summaries = Summaries()
    fitted = fit(talk(2), n_tokens=10_000, turn_ids=ids(talk(2)), counter=COUNT, summarize=summaries)

    assert (fitted.messages, fitted.fits, summaries.asked) == (talk(2), True, [])


def test_clearing_comes_first_and_is_enough_where_it_is() -> None:
    messages, summaries = talk(4), Summaries()
    full = messages_tokens(messages, counter=COUNT)
    fitted = fit(
        messages, n_tokens=full - 48, turn_ids=ids(messages), counter=COUNT, summarize=summaries,
        tool_uses=ClearToolUses(keep=2),
    )  # fmt: skip

    assert (len(fitted.cleared), fitted.summarized, fitted.fits, summaries.asked) == (2, 0, True, [])
    assert fitted.tokens_after == fitted.tokens_cleared_to == full - 2 * (40 - 16)


def test_a_summary_takes_the_place_of_what_is_older_only_if_that_is_not_enough() -> None:
    messages, summaries = talk(6), Summaries()
    fitted = fit(
        messages, n_tokens=150, turn_ids=ids(messages), counter=COUNT, summarize=summaries, keep_recent=4,
        tool_uses=ClearToolUses(keep=1),
    )  # fmt: skip

    assert [message["content"] for message in fitted.messages] == [
        "Be brief.",
        f"{SUMMARY_HEADING}\nThey talked [t1].",
        "read",
        None,
        LONG,
        "done",
    ]
    assert fitted.summarized == len(messages) - 5
    assert list(summaries.asked[0]) == messages[1:21]
    assert fitted.fits
    assert fitted.tokens_after == messages_tokens(fitted.messages, counter=COUNT)


def test_what_does_not_fit_in_any_case_is_said() -> None:
    messages = talk(3)
    fitted = fit(messages, n_tokens=20, turn_ids=ids(messages), counter=COUNT, summarize=Summaries(), keep_recent=4)

    assert (fitted.fits, fitted.summarized) == (False, 8)


def test_when_all_is_recent_no_summary_is_made() -> None:
    messages, summaries = talk(1), Summaries()
    fitted = fit(messages, n_tokens=10, turn_ids=ids(messages), counter=COUNT, summarize=summaries)

    assert (fitted.messages, fitted.fits, summaries.asked) == (messages, False, [])


def test_parallel_answers_are_kept_with_their_calls_behind_the_summary() -> None:
    """Two answers in a row: a tail of at most four messages is the last two."""
    calls = [{"type": "tool_use", "id": key, "name": "read", "input": {}} for key in "AB"]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "plan"},
        {"role": "assistant", "content": calls},
        *({"role": "user", "content": [{"type": "tool_result", "tool_use_id": key, "content": LONG}]} for key in "AB"),
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "next"},
    ]
    fitted = fit(messages, n_tokens=60, turn_ids=ids(messages), counter=COUNT, summarize=Summaries(), keep_recent=4)

    assert fitted.messages == [
        {"role": "user", "content": f"{SUMMARY_HEADING}\nThey talked [t1]."},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "next"},
    ]


def test_thinking_is_cleared_before_tool_results() -> None:
    messages = talk(2)
    messages[1:1] = [
        {"role": "user", "content": "think"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": LONG, "signature": "s"}]},
        {"role": "user", "content": "again"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": LONG, "signature": "s"}]},
    ]
    full = messages_tokens(messages, counter=COUNT)
    fitted = fit(
        messages, n_tokens=full - 10, turn_ids=ids(messages), counter=COUNT, summarize=Summaries(),
        tool_uses=ClearToolUses(keep=0), thinking=ClearThinking(),
    )  # fmt: skip

    assert [cleared.kind for cleared in fitted.cleared] == ["thinking"]


def test_a_summary_stands_behind_the_instructions() -> None:
    assert with_summary(talk(1), "short", start=4) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": f"{SUMMARY_HEADING}\nshort"},
        {"role": "assistant", "content": "done"},
    ]


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ({"n_tokens": 0}, "n_tokens must be at least 1, a whole number; got 0"),
        ({"n_tokens": "300"}, "n_tokens must be at least 1, a whole number; got '300'"),
        ({"keep_recent": 0}, "keep_recent must be at least 1, a whole number; got 0"),
        ({"turn_ids": ["t1"]}, "there are 9 messages and 1 turn ids"),
    ],
)
def test_what_cannot_be_is_refused(wish: dict[str, Any], told: str) -> None:
    messages = talk(2)
    given: dict[str, Any] = {"n_tokens": 10_000, "turn_ids": ids(messages), **wish}
    with pytest.raises(SettingsError, match=told):
        fit(messages, counter=COUNT, summarize=Summaries(), **given)


@given(STEPS, st.sampled_from(sorted(SHAPES)), st.integers(1, 8), st.integers(1, 60))
def test_no_conversation_loses_half_of_a_pair(steps: list[Step], shape: str, keep_recent: int, n_tokens: int) -> None:
    messages = SHAPES[shape](steps)
    fitted = fit(
        messages, n_tokens=n_tokens, turn_ids=ids(messages), counter=COUNT, summarize=Summaries(),
        keep_recent=keep_recent, tool_uses=ClearToolUses(keep=1), thinking=ClearThinking(),
    )  # fmt: skip

    assert answers_without_call(fitted.messages) == []
    assert fitted.fits is (messages_tokens(fitted.messages, counter=COUNT) <= n_tokens)


@pytest.mark.parametrize("summary", ["", " \n", "They talked. " * 200])
def test_a_summary_that_says_nothing_or_is_longer_stands_for_nothing(summary: str) -> None:
    messages = talk(4)
    fitted = fit(
        messages, n_tokens=60, turn_ids=ids(messages), counter=COUNT, summarize=lambda _asked: summary, keep_recent=2
    )

    assert (fitted.messages, fitted.summarized, fitted.fits) == (messages, 0, False)
    assert fitted.tokens_after == fitted.tokens_before
