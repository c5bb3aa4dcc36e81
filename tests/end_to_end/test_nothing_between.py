"""Cases G14 and G15, and more of each kind: no prompt parts a call from its answer, none forgets what was just said."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_rag.memory import Memory
from memory_rag.prompt.context import SUMMARY_HEADING
from memory_rag.prompt.prompt_context import PromptContext
from memory_rag.turns import Block, Role, Turn
from tests.prompt.conversations import answers_without_call, calls_without_answer

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
Said = tuple[str, str, tuple[Block, ...]]
SENTENCE = "Loaf {n} of tray {tray} lay on the stone at noon, and Ebba made a note of how it rose."
TRAYS = range(24)
"""Sentences of a turn: many, so that a summary of 200 words is much shorter than four turns."""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "work", embedder="none", language="en", clock=lambda: NOON) as opened:
        yield opened


def call(*keys: str) -> Said:
    blocks = tuple(Block("tool_call", {"type": "tool_use", "id": key, "name": "read", "input": {}}) for key in keys)
    return "assistant", "", blocks


def answer(key: str, *, failed: bool = False) -> Said:
    data = {"type": "tool_result", "tool_use_id": key, "content": f"file {key}", "is_error": failed}
    return "tool", f"file {key}", (Block("tool_result", data),)


def said(role: str, text: str) -> Said:
    return role, text, ()


PLAN, DONE, NEXT = said("user", "plan"), said("assistant", "done"), said("user", "next")
TRAFFIC: dict[str, list[Said]] = {
    "two calls at once": [PLAN, call("A", "B"), answer("A"), answer("B"), DONE, NEXT],
    "answers in the other order, one an error": [
        PLAN, call("A", "B", "C"), answer("C"), answer("A", failed=True), answer("B"), DONE, NEXT,
    ],
    "the user speaks between the answers": [
        PLAN, call("A", "B"), answer("A"), said("user", "hurry"), answer("B"), DONE, NEXT,
    ],
    "one key in every round": [PLAN, call("A"), answer("A"), call("A"), answer("A"), call("A"), answer("A"), NEXT],
    "a call that was never answered": [PLAN, call("A", "B"), answer("A"), NEXT, DONE],
    "an answer whose call is gone": [answer("Z"), PLAN, DONE, call("A"), answer("A"), NEXT],
    "rounds without a word between": [
        PLAN, call("A", "B"), answer("A"), answer("B"), call("C", "D"), answer("D"), answer("C"), NEXT,
    ],
}  # fmt: skip


def stored(memory: Memory, turns: Sequence[Said]) -> None:
    memory.add_many(
        [
            Turn(f"t{at}", "main", "day", at, Role.parse(role), role, text, said_at=NOON, blocks=blocks,
                 recalled=not blocks)
            for at, (role, text, blocks) in enumerate(turns)
        ]
    )  # fmt: skip


@pytest.mark.parametrize("kind", TRAFFIC)
def test_no_window_parts_a_call_from_its_answer(memory: Memory, kind: str) -> None:
    stored(memory, TRAFFIC[kind])
    for keep in range(9):
        context = memory.context("and now?", keep_recent=keep, retrieve="never")
        for messages in (context.messages, context.for_anthropic()["messages"], context.for_responses()["input"]):
            assert (answers_without_call(messages), calls_without_answer(messages)) == ([], []), keep


def test_at_most_four_are_the_two_behind_the_pair_with_the_summary_in_front(memory: Memory) -> None:
    stored(memory, TRAFFIC["two calls at once"])
    messages = memory.context("?", keep_recent=5, retrieve="never").window.openai()
    turn_ids = [None] * len(messages)
    start = memory.context("?", keep_recent=4, retrieve="never").window.turn_ids
    fitted = memory.prompt.fit(
        messages, n_tokens=1, turn_ids=turn_ids, summarize=lambda _: "They planned.", keep_recent=4
    )

    assert start == ("t4", "t5")
    assert [one["content"].splitlines()[-1] for one in fitted.messages] == ["They planned.", "done", "next"]


def test_for_anthropic_both_answers_lie_in_one_message_behind_the_calls(memory: Memory) -> None:
    stored(memory, TRAFFIC["two calls at once"])
    messages = memory.context("?", retrieve="never").for_anthropic()["messages"]

    assert [block["tool_use_id"] for block in messages[2]["content"]] == ["A", "B"]
    assert [block["id"] for block in messages[1]["content"]] == ["A", "B"]


def bake(memory: Memory, numbers: range, *, conversation_id: str = "main") -> None:
    for n in numbers:
        text = " ".join(SENTENCE.format(n=n, tray=tray) for tray in TRAYS)
        memory.add(text, conversation_id=conversation_id, speaker="Ebba", turn_id=f"{conversation_id}{n}")


def room_for(memory: Memory, *, newest: int, more: int = 0) -> int:
    """Return the budget that has room for so many of the newest turns behind the summary, and ``more`` tokens."""
    large = memory.context("?", token_budget=20_000, keep_recent=newest, retrieve="never").account
    window = memory.context("?", token_budget=20_000, keep_recent=newest, retrieve="never").window
    turns = list(window.costs.values())[-newest:]
    return large.total - window.n_tokens + sum(turns) + more


def heard(context: PromptContext) -> set[str]:
    return set(context.window.turn_ids)


def test_what_the_summary_has_not_reached_stays_whatever_the_budget(memory: Memory) -> None:
    """G15: the summary covers 1 to 4 of 10, and the budget has room for 8 to 10."""
    bake(memory, range(1, 11))
    memory.summaries.summarise("main", keep_recent=6)
    context = memory.context("?", token_budget=room_for(memory, newest=3, more=5), retrieve="never")

    assert SUMMARY_HEADING in context.system
    assert heard(context) == {f"main{n}" for n in range(5, 11)}
    assert context.account.over_by > 0
    assert any("6 turns are in no summary yet and stay verbatim" in note for note in context.notes)


@pytest.mark.parametrize("text", ["turn {n}", "We talked about bread number {n} and its price of {n} euro today."])
@pytest.mark.parametrize("budget", [40, 60, 100, 150, 200, 300, 600])
@pytest.mark.parametrize("covered", [1, 4, 9, 10])
def test_short_turns_and_a_small_budget_leave_no_gap_either(
    memory: Memory, text: str, budget: int, covered: int
) -> None:
    """The whole summary doesn't fit in its share of such a budget; in short it stays, or turns would be nowhere."""
    for n in range(1, 11):
        memory.add(text.format(n=n), role="user" if n % 2 else "assistant", turn_id=f"main{n}")
    memory.summaries.summarise("main", keep_recent=10 - covered)
    context = memory.context("next?", token_budget=budget, retrieve="never")
    told = {f"main{n}" for n in range(1, covered + 1)} if SUMMARY_HEADING in context.system else set()

    assert heard(context) | told == {f"main{n}" for n in range(1, 11)}
    if context.account.over_by:
        over = "1 token" if context.account.over_by == 1 else f"{context.account.over_by:,} tokens"
        assert any(f"{over} over the budget" in note for note in context.notes)


def test_a_summary_that_is_extended_first_lets_them_go(memory: Memory) -> None:
    bake(memory, range(1, 11))
    memory.summaries.summarise("main", keep_recent=6)
    memory.summaries.summarise("main", keep_recent=3)
    context = memory.context("?", token_budget=room_for(memory, newest=3, more=5), retrieve="never")

    assert heard(context) == {"main8", "main9", "main10"}
    assert context.account.over_by == 0
    assert not any("neither" in note for note in context.notes)


def test_the_summary_of_another_conversation_covers_nothing_here(memory: Memory) -> None:
    bake(memory, range(1, 11))
    bake(memory, range(1, 11), conversation_id="other")
    memory.summaries.summarise("other", keep_recent=1)
    context = memory.context("?", token_budget=room_for(memory, newest=3, more=5), retrieve="never")

    assert SUMMARY_HEADING not in context.system
    assert any("7 earlier turns of 'main' are neither in the window nor in a summary" in note for note in context.notes)


def test_turns_that_come_in_while_a_summary_is_read_are_raw(memory: Memory) -> None:
    bake(memory, range(1, 11))
    memory.summaries.summarise("main", keep_recent=6)
    budget = room_for(memory, newest=3, more=5)
    memory.context("?", token_budget=budget, retrieve="never")
    bake(memory, range(11, 15))

    assert heard(memory.context("?", token_budget=budget, retrieve="never")) == {f"main{n}" for n in range(5, 15)}


def test_another_process_that_extends_the_summary_is_seen(memory: Memory) -> None:
    bake(memory, range(1, 11))
    memory.summaries.summarise("main", keep_recent=6)
    budget = room_for(memory, newest=3, more=30)
    assert len(heard(memory.context("?", token_budget=budget, retrieve="never"))) == 6
    script = (
        "import sys; from pathlib import Path; from memory_rag.memory import Memory\n"
        "with Memory.open(Path(sys.argv[1]), embedder='none', language='en') as memory:\n"
        "    memory.summaries.summarise('main', keep_recent=3)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(memory.folder)], check=True, timeout=120)
    context = memory.context("?", token_budget=budget, retrieve="never")

    assert heard(context) == {"main8", "main9", "main10"}


@pytest.mark.parametrize(
    "change",
    [
        lambda memory: memory.forget(["main3"]),
        lambda memory: memory.correct("main3", text="The third loaf is baked at noon."),
        lambda memory: memory.forget(["main4", "main5"]),
    ],
    ids=["a covered turn is forgotten", "a covered turn is corrected", "turns at the seam are forgotten"],
)
def test_a_change_of_what_is_covered_opens_no_gap(memory: Memory, change: Callable[[Memory], Any]) -> None:
    bake(memory, range(1, 11))
    memory.summaries.summarise("main", keep_recent=6)
    budget = room_for(memory, newest=3, more=5)
    change(memory)
    context = memory.context("?", token_budget=budget, retrieve="never")
    left = {turn.turn_id for turn in memory.turns() if turn.ordinal > 3}

    assert left <= heard(context) or any("neither in the window nor in a summary" in note for note in context.notes)


def test_hidden_tool_traffic_behind_the_summary_is_not_lost_either(memory: Memory) -> None:
    bake(memory, range(1, 7))
    memory.summaries.summarise("main", keep_recent=2)
    for at, (role, text, blocks) in enumerate([call("A", "B"), answer("A"), answer("B"), DONE]):
        memory.add(text, role=role, blocks=blocks, turn_id=f"x{at}", recalled=not blocks)
    context = memory.context("?", token_budget=room_for(memory, newest=5, more=60), retrieve="never")

    assert heard(context) >= {"main5", "main6", "x0", "x3"}
    assert answers_without_call(context.messages) == calls_without_answer(context.messages) == []
