"""The newest turns: pairs whole, tool results cleared before turns go, and no gap behind the summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.memory import Memory
from memory_rag.prompt.tokens import messages_tokens
from memory_rag.prompt.window import Window, newest_turns
from memory_rag.turns import Turn
from tests.prompt.conversations import STEPS, Step, answers_without_call, calls_without_answer
from tests.prompt.made_turns import answer, call, turn, turns_of
from tests.prompt.word_counter import Words

COUNT = Words()
LONG = " ".join(["word"] * 40)


def stored(memory: Memory, turns: Sequence[Turn]) -> None:
    memory.add_many([Turn("", "talk", "day", at, one.role, one.speaker, one.text, said_at=one.said_at,
                          blocks=one.blocks, recalled=one.recalled) for at, one in enumerate(turns)])  # fmt: skip


def window(memory: Memory, *, keep: int = 8, n_tokens: int = 10_000, covered: int | None = None, **more: Any) -> Window:
    return newest_turns(
        memory.store, "talk", keep_recent=keep, n_tokens=n_tokens, covered_to=covered, counter=COUNT, **more
    )


def reads(n: int) -> list[Turn]:
    """Return n rounds of a question, a call, its answer of 40 words, and the reply."""
    turns = []
    for at in range(n):
        turns += [
            turn("read"),
            turn("", role="assistant", blocks=[call(f"c{at}")], recalled=False),
            turn(LONG, role="tool", blocks=[answer(f"c{at}", LONG)], recalled=False),
            turn("done", role="assistant"),
        ]
    return turns


@pytest.fixture
def ten(memory: Memory) -> Memory:
    """Ten turns of one word, with ordinals 0 to 9; each costs 5 tokens."""
    stored(memory, [turn(f"w{at}", role="assistant" if at % 2 else "user") for at in range(1, 11)])
    return memory


def test_the_newest_turns_are_kept(ten: Memory) -> None:
    assert window(ten, keep=3).turn_ids == ("t8", "t9", "t10")
    assert window(ten, keep=0).turn_ids == ()
    assert window(ten, keep=99).turn_ids == tuple(f"t{n}" for n in range(1, 11))


def test_without_a_summary_what_does_not_fit_is_left_out_and_said(ten: Memory) -> None:
    kept = window(ten, keep=8, n_tokens=15)

    assert (kept.turn_ids, kept.n_tokens) == (("t8", "t9", "t10"), 15)
    assert kept.notes == ("5 of the newest turns don't fit in the budget and are left out",)


def test_no_turn_is_lost_between_the_summary_and_the_window(ten: Memory) -> None:
    """The summary has reached turn 4 of 10 and the budget has room for three: turns 5 to 10 stay nevertheless."""
    kept = window(ten, keep=8, n_tokens=15, covered=3)

    assert kept.turn_ids == ("t5", "t6", "t7", "t8", "t9", "t10")
    assert kept.notes == (
        "2 of the newest turns don't fit in the budget and are left out",
        "6 turns are in no summary yet and stay verbatim, 15 tokens over the budget",
    )


@pytest.mark.parametrize("covered", range(-1, 10))
@pytest.mark.parametrize("n_tokens", [0, 5, 15, 30, 50])
def test_every_turn_is_covered_or_raw_whatever_the_budget(ten: Memory, covered: int, n_tokens: int) -> None:
    kept = window(ten, keep=4, n_tokens=n_tokens, covered=covered)
    raw = {one.ordinal for one in kept.turns}

    assert raw | set(range(covered + 1)) == set(range(10))


def test_however_many_turns_no_summary_stands_for_all_of_them_stay(memory: Memory) -> None:
    stored(memory, [turn(f"w{at}", role="assistant" if at % 2 else "user") for at in range(2700)])

    kept = window(memory, keep=3, n_tokens=500, covered=99)

    assert [one.ordinal for one in kept.turns] == list(range(100, 2700))
    assert any("2,600 turns are in no summary yet and stay verbatim" in note for note in kept.notes)


def test_a_summary_that_has_caught_up_lets_turns_go(ten: Memory) -> None:
    assert window(ten, keep=8, n_tokens=15, covered=6).turn_ids == ("t8", "t9", "t10")
    assert window(ten, keep=8, n_tokens=50, covered=6).turn_ids == tuple(f"t{n}" for n in range(3, 11))


def test_old_tool_results_give_way_before_whole_turns_do(memory: Memory) -> None:
    stored(memory, reads(5))
    full = window(memory, keep=20)
    kept = window(memory, keep=20, n_tokens=full.n_tokens - 40)

    assert kept.turn_ids == full.turn_ids
    assert kept.notes == ("old tool results among the newest turns are cleared; get_turn gives them back",)
    assert [one["content"] for one in kept.openai() if one["role"] == "tool"] == [
        "[tool result of read cleared to save space: 40 tokens; the whole of it: get_turn t3]",
        "[tool result of read cleared to save space: 40 tokens; the whole of it: get_turn t7]",
        LONG,
        LONG,
        LONG,
    ]
    assert memory.get("t3").text == LONG
    assert kept.n_tokens == messages_tokens(kept.openai(), counter=COUNT) == full.n_tokens - 2 * (40 - 16)


def test_the_only_tool_result_gives_way_too_where_it_alone_is_too_large(memory: Memory) -> None:
    stored(memory, reads(1))
    full = window(memory, keep=20)
    kept = window(memory, keep=20, n_tokens=full.n_tokens - 1)

    assert kept.turn_ids == full.turn_ids
    [result] = [one["content"] for one in kept.openai() if one["role"] == "tool"]
    assert result == "[tool result of read cleared to save space: 40 tokens; the whole of it: get_turn t3]"


def test_what_is_cleared_is_the_same_in_every_shape(memory: Memory) -> None:
    stored(memory, reads(5))
    kept = window(memory, keep=20, n_tokens=window(memory, keep=20).n_tokens - 40)
    results = [
        block["content"] for one in kept.anthropic() for block in one["content"] if block["type"] == "tool_result"
    ]
    outputs = [item["output"] for item in kept.responses() if item["type"] == "function_call_output"]

    assert results == outputs == [one["content"] for one in kept.openai() if one["role"] == "tool"]


def test_hidden_turns_are_not_in_the_window(memory: Memory) -> None:
    stored(
        memory,
        [turn("be kind", role="system"), turn("hello"), turn("an abandoned branch", recalled=False), turn("bye")],
    )

    assert window(memory).turn_ids == ("t2", "t4")


def test_behind_many_hidden_turns_the_talk_is_found(memory: Memory) -> None:
    stored(memory, [turn("one"), turn("two"), *(turn("branch", recalled=False) for _ in range(15)), turn("three")])

    assert window(memory, keep=3).turn_ids == ("t1", "t2", "t18")


def test_the_questions_own_turn_is_not_told_twice(ten: Memory) -> None:
    assert window(ten, keep=2, asked="t10").turn_ids == ("t8", "t9")


def test_another_conversation_stays_outside(ten: Memory) -> None:
    ten.add("elsewhere", conversation_id="other")

    assert window(ten, keep=1).turn_ids == ("t10",)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS, st.integers(0, 12), st.integers(0, 120), st.none() | st.integers(-1, 30))
def test_every_window_is_whole(
    memory: Memory, steps: list[Step], keep: int, n_tokens: int, covered: int | None
) -> None:
    memory.forget([one.turn_id for one in memory.turns()])
    stored(memory, turns_of(steps, shape="anthropic"))
    kept = window(memory, keep=keep, n_tokens=n_tokens, covered=covered)
    messages = kept.openai()

    assert answers_without_call(messages) == calls_without_answer(messages) == []
    assert kept.n_tokens == messages_tokens(messages, counter=COUNT)
    if covered is None:
        assert kept.n_tokens <= n_tokens
        # An answer that lost its call would not be told at all.
        assert not [note for note in kept.notes if "answers" in note]
    else:
        heard = {one.ordinal for one in memory.turns() if one.ordinal > covered}
        assert heard <= {one.ordinal for one in kept.turns}


def test_a_thousand_turns_are_not_told_and_counted_a_thousand_times(memory: Memory) -> None:
    """It took three minutes."""
    stored(memory, [turn(f"w{at}", role="assistant" if at % 2 else "user") for at in range(1_000)])

    class Counting(Words):
        n = 0

        def count(self, text: str) -> int:
            self.n += 1
            return super().count(text)

    counting = Counting()
    kept = newest_turns(memory.store, "talk", keep_recent=1_000, n_tokens=2_500, covered_to=None, counter=counting)

    assert (len(kept.turns), kept.n_tokens) == (500, 2_500)
    assert counting.n < 20_000


@pytest.mark.parametrize("keep", range(7))
def test_a_summary_never_takes_a_call_and_leaves_its_answer(memory: Memory, keep: int) -> None:
    """Two calls at once, each a turn of its own before either answer, as some clients write them."""
    step = Step("", answers=("ok", "ok"), apart=True)
    stored(memory, [turn("We decided to charge 49 euro."), *turns_of([step], shape="anthropic"), turn("done")])
    memory.summaries.summarise("talk", keep_recent=keep)
    context = memory.context("next", conversation_id="talk", retrieve="never", keep_recent=8)

    assert not [note for note in context.notes if "answers" in note]
    assert calls_without_answer(context.messages) == []


def test_a_round_of_many_parallel_calls_is_kept_with_them(memory: Memory) -> None:
    """More answers than turns are looked at first: without their call they couldn't be told."""
    keys = [f"c{at}" for at in range(30)]
    stored(
        memory,
        [
            turn("read them all"),
            turn("", role="assistant", blocks=[call(key) for key in keys], recalled=False),
            *(turn(f"text {key}", role="tool", blocks=[answer(key, f"text {key}")], recalled=False) for key in keys),
        ],
    )
    kept = window(memory, keep=8)

    assert kept.turn_ids == tuple(f"t{n}" for n in range(2, 33))
    assert kept.notes == ()
