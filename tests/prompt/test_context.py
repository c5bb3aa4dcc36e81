"""Contexts: everything in its order, nothing that must hold is dropped, and every token is accounted for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.errors import PromptError, SettingsError
from memory_rag.memory import Memory
from memory_rag.prompt.context import SUMMARY_HEADING
from memory_rag.prompt.events import EventKind
from memory_rag.prompt.prompt_context import PromptContext
from memory_rag.prompt.summary_source import Covered, SummaryText
from memory_rag.prompt.tokens import MESSAGE_OVERHEAD, REPLY_OVERHEAD, messages_tokens
from memory_rag.retrieval.filters import Within
from memory_rag.turns import Block
from tests.prompt.conversations import answers_without_call, calls_without_answer

BAKERY = "You are a bakery's assistant."
PRICES = (
    ("user", "What do we charge for the sourdough?"),
    ("assistant", "The sourdough is 49 euro for the first season."),
    ("user", "And the rye?"),
    ("assistant", "The rye is 35 euro, jar included."),
)


class Levels:
    """A summary in several lengths, each with the ordinal to which it covers the conversation ``main``."""

    def __init__(self, *levels: tuple[str, int]) -> None:
        self.levels = levels

    def at_most(self, n_tokens: int, *, count: Callable[[str], int]) -> SummaryText | None:
        fitting = [(text, to) for text, to in self.levels if count(text) <= n_tokens]
        if not fitting:
            return None
        text, to = max(fitting, key=lambda level: len(level[0]))
        return SummaryText(text, f"{len(text)} letters", (Covered("main", to, to + 1),))

    def shortened(self, n_tokens: int, *, count: Callable[[str], int]) -> SummaryText | None:
        text, to = min(self.levels, key=lambda level: len(level[0]))
        return SummaryText(text, f"{len(text)} letters", (Covered("main", to, to + 1),))


@pytest.fixture
def bakery(memory: Memory) -> Memory:
    """Four turns on prices, twelve of small talk after them."""
    for role, text in PRICES:
        memory.add(text, role=role, speaker="Ebba" if role == "user" else None)
    for number in range(6):
        memory.add(f"small talk {number}", role="user", speaker="Ebba")
        memory.add(f"indeed {number}", role="assistant")
    return memory


def turn_ids(context: PromptContext, part: str) -> list[str]:
    return [one.turn_id for one in context.included if one.part == part]


def test_the_parts_stand_in_their_order(bakery: Memory, tmp_path: Path) -> None:
    (tmp_path / "RULES.md").write_text("Answer in Swedish.\n", encoding="utf-8")
    bakery.prompt.pins.add("Short sentences.")
    bakery.prompt.state.set("step", "prices")
    bakery.prompt.decisions.add("No rye", because="the mill is shut", turn_id="t3")
    bakery.prompt.files.pin(tmp_path / "RULES.md")
    bakery.prompt.summaries = lambda _conversation: Levels(("They spoke of prices [t1].", 7))
    context = bakery.context("What did you say the sourdough costs?", system=BAKERY)

    assert context.system == (
        "You are a bakery's assistant.\n"
        "\n"
        "Preferences of the user, which always hold:\n"
        "- Short sentences.\n"
        "\n"
        "State of the running task, as JSON:\n"
        '{"step": "prices"}\n'
        "\n"
        "Decisions that were made, and why:\n"
        "- 2026-04-10: No rye, because the mill is shut (t3)\n"
        "\n"
        "Files that the user pinned, read just now:\n"
        "\n"
        f"{tmp_path}/RULES.md (1 line):\n"
        "```\n"
        "Answer in Swedish.\n"
        "```\n"
        "\n"
        f"{SUMMARY_HEADING}\n"
        "They spoke of prices [t1]."
    )
    assert [message["role"] for message in context.messages] == ["system", *["user", "assistant"] * 4, "user", "user"]
    assert [message["content"] for message in context.messages[1:9]] == [
        text for number in range(2, 6) for text in (f"small talk {number}", f"indeed {number}")
    ]
    assert context.messages[-2]["content"] == context.quoted
    assert context.messages[-1]["content"] == "What did you say the sourdough costs?"
    assert [cost.part for cost in context.account.parts] == [
        "system prompt", "preferences", "task state", "decisions", "pinned files", "question", "marks", "newest turns",
        "retrieved turns", "summary", "earlier conversations",
    ]  # fmt: skip


def test_an_answer_is_quoted_with_its_question_in_spoken_order(bakery: Memory) -> None:
    context = bakery.context("What did you say the sourdough costs in the first season?")
    quoted = [line for line in context.quoted.splitlines() if line.startswith(("[t1 ", "[t2 ", "> "))]

    assert quoted[:4] == [
        "[t1 · Ebba · 2026-04-10 08:00 UTC · main]",
        "> What do we charge for the sourdough?",
        "[t2 · assistant · 2026-04-10 08:01 UTC · main]",
        "> The sourdough is 49 euro for the first season.",
    ]
    assert next(one.why for one in context.included if one.turn_id == "t2") == "hit 1"


def test_what_the_window_holds_is_not_retrieved_again(bakery: Memory) -> None:
    context = bakery.context("small talk 5 indeed sourdough", keep_recent=6)

    assert turn_ids(context, "newest turns") == ["t11", "t12", "t13", "t14", "t15", "t16"]
    assert not set(turn_ids(context, "newest turns")) & set(turn_ids(context, "retrieved turns"))
    assert "t2" in turn_ids(context, "retrieved turns")


def test_a_question_that_is_stored_already_is_told_once(bakery: Memory) -> None:
    bakery.add("What did the sourdough cost?", speaker="Ebba")
    context = bakery.context("What did the sourdough cost?")

    assert "t17" not in [one.turn_id for one in context.included]
    assert json.dumps(context.messages).count("What did the sourdough cost?") == 1


def test_nothing_is_retrieved_where_that_is_not_wished(bakery: Memory) -> None:
    context = bakery.context("What does the sourdough cost?", retrieve="never")

    assert (context.quoted, turn_ids(context, "retrieved turns")) == ("", [])
    assert bakery.prompt.events.events() == []


def test_the_search_can_be_narrowed(bakery: Memory) -> None:
    bakery.add("Sourdough is 12 kronor here.", conversation_id="other")
    context = bakery.context("sourdough", within=Within(conversation="other"))

    assert turn_ids(context, "retrieved turns") == ["t17"]


def test_what_is_left_out_of_the_search_is_no_neighbour_of_a_hit_either(bakery: Memory) -> None:
    asked = "What did you say the sourdough costs?"
    around = bakery.context(asked, retrieve="always", within=Within(role="assistant"))
    quoted = [one for one in around.included if one.part == "retrieved turns"]
    neighbours = [one.turn_id for one in quoted if not one.why.startswith("hit ")]
    without = bakery.context(asked, retrieve="always", within=Within(role="assistant", without=tuple(neighbours)))

    assert neighbours
    assert not set(neighbours) & {one.turn_id for one in without.included}


def test_a_retrieval_is_an_event(bakery: Memory) -> None:
    context = bakery.context("What did you say the sourdough costs?")
    [event] = bakery.prompt.events.events(kind=EventKind.RETRIEVAL)

    assert event.tokens_after == context.account.of("retrieved turns")
    assert event.details["quoted"] == turn_ids(context, "retrieved turns")
    assert "sourdough" not in json.dumps(dict(event.details))


def test_a_fixed_part_over_the_budget_is_an_error_that_names_it(bakery: Memory) -> None:
    bakery.prompt.state.set("notes", "word " * 300)
    with pytest.raises(PromptError) as raised:
        bakery.context("Hello", system=BAKERY, token_budget=200)

    assert str(raised.value).startswith("what must be in the prompt has ")
    assert "over the budget of 200; the largest part is task state (task state " in str(raised.value)


def test_by_how_much_it_is_over_is_exact(bakery: Memory) -> None:
    needed = bakery.context("Hello", system=BAKERY, keep_recent=0, retrieve="never").account.total
    bakery.context("Hello", system=BAKERY, token_budget=needed)
    with pytest.raises(
        PromptError, match=f"has {needed:,} tokens, 3 over the budget of {needed - 3}; the largest part"
    ):
        bakery.context("Hello", system=BAKERY, token_budget=needed - 3)


def test_retrieved_turns_go_before_the_newest_do_and_those_before_what_is_fixed(bakery: Memory) -> None:
    fixed = bakery.context("sourdough", system=BAKERY, keep_recent=0, retrieve="never").account.total
    window = bakery.context("sourdough", system=BAKERY, retrieve="never").account.of("newest turns")
    tight = bakery.context("sourdough", system=BAKERY, token_budget=fixed + window + 20)
    tighter = bakery.context("sourdough", system=BAKERY, token_budget=fixed + window // 2)

    assert (len(turn_ids(tight, "newest turns")), tight.quoted) == (8, "")
    assert 0 < len(turn_ids(tighter, "newest turns")) < 8
    assert tighter.system == BAKERY
    assert "of the newest turns don't fit in the budget and are left out" in " ".join(tighter.notes)


def test_turns_that_are_nowhere_in_the_prompt_are_counted(bakery: Memory) -> None:
    notes = bakery.context("Hello", retrieve="never").notes

    assert notes == ("8 earlier turns of 'main' are neither in the window nor in a summary; search finds them",)


def test_a_summary_that_has_not_caught_up_leaves_no_gap(memory: Memory) -> None:
    """Ten turns, the summary covers four, the budget has room for three: five to ten stay verbatim, and it is said."""
    for number in range(1, 11):
        memory.add(f"turn {number} " + "word " * 20)
    memory.prompt.summaries = lambda _conversation: Levels(("Four turns [t1].", 3))
    fixed = memory.context("?", keep_recent=0, retrieve="never").account
    needed = sum(cost.n_tokens for cost in fixed.parts if cost.part not in ("newest turns", "summary"))
    three = memory.context("?", keep_recent=3, retrieve="never").window
    cost_of_three = sum(list(three.costs.values())[-3:])
    context = memory.context("?", token_budget=needed + cost_of_three + 60, retrieve="never")

    assert "Four turns [t1]." in context.system
    assert turn_ids(context, "newest turns") == ["t5", "t6", "t7", "t8", "t9", "t10"]
    assert context.account.over_by > 0
    assert any("6 turns are in no summary yet and stay verbatim" in note for note in context.notes)


def test_the_finest_summary_that_fits_is_taken(bakery: Memory) -> None:
    levels = Levels(("Short [t1].", 7), ("A longer one, with the prices of the breads in it [t1] [t2].", 7))
    bakery.prompt.summaries = lambda _conversation: levels
    large = bakery.context("Hello", retrieve="never")
    fixed = sum(c.n_tokens for c in large.account.parts if c.part != "summary")
    small = bakery.context("Hello", retrieve="never", token_budget=fixed + large.account.of("summary") - 3)

    assert "A longer one" in large.system
    assert "Short [t1]." in small.system
    assert large.account.parts[-2].told == "60 letters"


def test_a_summary_of_another_conversation_covers_nothing_of_this_one(bakery: Memory) -> None:
    class Elsewhere(Levels):
        def at_most(self, n_tokens: int, *, count: Callable[[str], int]) -> SummaryText | None:
            return SummaryText("Of other things [t1].", "all", (Covered("other", 99, 100),))

    bakery.prompt.summaries = lambda _conversation: Elsewhere()
    context = bakery.context("Hello", retrieve="never")

    assert "8 earlier turns of 'main' are neither in the window nor in a summary" in " ".join(context.notes)


def test_the_account_is_what_the_messages_cost(bakery: Memory) -> None:
    context = bakery.context("What did you say the sourdough costs?", system=BAKERY)

    assert context.account.of("question") == bakery.prompt.counter.count("What did you say the sourdough costs?")
    assert context.account.of("newest turns") == messages_tokens(context.messages[1:9], counter=bakery.prompt.counter)
    assert context.account.of("retrieved turns") == MESSAGE_OVERHEAD + bakery.prompt.counter.count(context.quoted)
    assert (context.account.counter, context.account.is_estimate) == ("estimate", True)


def test_a_changed_pinned_file_is_told_in_the_account(bakery: Memory, tmp_path: Path) -> None:
    rules = tmp_path / "RULES.md"
    rules.write_text("one", encoding="utf-8")
    bakery.prompt.files.pin(rules)
    rules.write_text("two ```` fences", encoding="utf-8")
    context = bakery.context("Hello")
    rules.unlink()
    gone = bakery.context("Hello")

    assert [file.status for file in context.account.files] == ["changed"]
    assert "`````\ntwo ```` fences\n`````" in context.system
    assert [file.status for file in gone.account.files] == ["missing"]
    assert f"{rules}: missing, no such file" in gone.system


def test_older_decisions_give_way_and_are_counted(bakery: Memory) -> None:
    for number in range(40):
        bakery.prompt.decisions.add(f"decision number {number}", because="it was so")
    context = bakery.context("Hello", token_budget=1000)
    told = next(cost.told for cost in context.account.parts if cost.part == "decisions")

    assert "decision number 39" in context.system
    assert "decision number 0," not in context.system
    assert told.endswith("of 40")


def test_for_anthropic_the_user_begins_and_takes_turns(bakery: Memory) -> None:
    request = bakery.context("sourdough", system=BAKERY, keep_recent=3).for_anthropic()
    roles = [message["role"] for message in request["messages"]]

    assert request["system"] == BAKERY
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    assert [block["text"] for block in request["messages"][-1]["content"]][-1] == "sourdough"
    assert "system" not in bakery.context("sourdough").for_anthropic()


def test_for_responses_everything_is_an_item(bakery: Memory) -> None:
    request = bakery.context("sourdough", system=BAKERY, keep_recent=2, retrieve="never").for_responses()

    assert request == {
        "instructions": BAKERY,
        "input": [
            {"type": "message", "role": "user", "content": "small talk 5"},
            {"type": "message", "role": "assistant", "content": "indeed 5"},
            {"type": "message", "role": "user", "content": "sourdough"},
        ],
    }


def test_blocks_of_the_window_go_back_unchanged_to_their_provider(bakery: Memory) -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "text": "indeed 5"},
    ]
    bakery.prompt.blocks.keep("t16", content, provider="anthropic")
    context = bakery.context("Hello", keep_recent=2, retrieve="never")

    assert context.for_anthropic()["messages"][1] == {"role": "assistant", "content": content}
    assert context.messages[-2] == {"role": "assistant", "content": "indeed 5"}


def test_a_window_never_parts_a_call_from_its_answer(memory: Memory) -> None:
    for number in range(4):
        calls = [Block("tool_call", {"id": f"{key}{number}", "function": {"name": "read"}}) for key in "ab"]
        memory.add("read it")
        memory.add("", role="assistant", blocks=calls, recalled=False)
        for key in "ab":
            result = Block("tool_result", {"tool_call_id": f"{key}{number}"})
            memory.add("words of it", role="tool", blocks=[result], recalled=False)
        memory.add("done", role="assistant")
    for keep in range(12):
        context = memory.context("next", keep_recent=keep, retrieve="never")
        for messages in (context.messages, context.for_anthropic()["messages"], context.for_responses()["input"]):
            assert answers_without_call(messages) == calls_without_answer(messages) == []
        assert len(context.window.turns) <= max(keep, 0)


def test_an_empty_memory_gives_the_question_alone(memory: Memory) -> None:
    context = memory.context("Hello")

    assert context.messages == [{"role": "user", "content": "Hello"}]
    assert (context.included, context.account.over_by) == ((), 0)


@pytest.mark.parametrize(
    "wish",
    [{"token_budget": 0}, {"keep_recent": -1}, {"token_budget": "6000"}, {"token_budget": 1.5}, {"keep_recent": True}],
)
def test_a_wish_that_cannot_be_is_refused(memory: Memory, wish: Any) -> None:
    with pytest.raises(SettingsError, match="must be at least"):
        memory.context("Hello", **wish)


@pytest.mark.parametrize("conversation_id", ["", None, 5])
def test_a_conversation_without_a_name_is_refused(memory: Memory, conversation_id: Any) -> None:
    with pytest.raises(SettingsError, match="conversation_id is the id of a conversation; got"):
        memory.context("Hello", conversation_id=conversation_id)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(60, 2500), st.integers(0, 16), st.booleans(), st.integers(-1, 15))
def test_no_budget_is_overrun_but_for_what_no_summary_covers(
    bakery: Memory, budget: int, keep: int, summarised: bool, covered: int
) -> None:
    summaries = Levels(("Short [t1].", covered), ("Much longer than the short one [t1] [t2] [t3].", covered))
    bakery.prompt.summaries = (lambda _conversation: summaries) if summarised else None
    context = bakery.context("What did the rye cost?", system=BAKERY, token_budget=budget, keep_recent=keep)
    prompt = context.messages

    if context.account.over_by:
        assert summarised
        assert any("verbatim" in note or "shortest form" in note for note in context.notes)
        assert context.quoted == ""
    assert MESSAGE_OVERHEAD + REPLY_OVERHEAD + context.account.total >= 0
    assert sum(cost.n_tokens for cost in context.account.parts) == context.account.total
    assert prompt[-1]["content"] == "What did the rye cost?"
    assert prompt[0]["content"].startswith(BAKERY)
    if summarised:
        told = covered if SUMMARY_HEADING in context.system else -1
        raw = {one.ordinal for one in context.window.turns}
        assert raw | set(range(told + 1)) >= set(range(16))


def test_with_the_running_summary_no_turn_is_nowhere(memory: Memory) -> None:
    for number in range(60):
        memory.add(f"We decided on {number} euro for bread {number}, because the flyer says so.", speaker="Ebba")
        memory.add(f"Bread {number} costs {number} euro then, noted.", role="assistant")
    assert memory.summaries.summarise("main")
    told = [memory.context("And the rye?", token_budget=budget) for budget in (400, 1200, 3000, 6000)]

    for context in told:
        assert SUMMARY_HEADING in context.system
        assert not any("neither in the window nor in a summary" in note for note in context.notes)


def test_a_summary_that_is_over_the_budget_even_in_short_says_so(memory: Memory) -> None:
    for number in range(4):
        memory.add(f"We decided on {number} euro for bread {number}, because the flyer says so.", speaker="Ebba")
    assert memory.summaries.summarise("main", keep_recent=0)
    context = memory.context("?", token_budget=30, retrieve="never")
    over = context.account.over_by

    assert (context.window.turns, over > 0) == ((), True)
    assert f"even its shortest form puts the summary {over} tokens over the budget" in context.notes
    assert context.account.parts[-2].told == "100 turns, shortened"


def test_half_a_character_of_the_callers_instructions_reaches_no_request(memory: Memory) -> None:
    context = memory.context("hello", system="Be \ud83d kind.")

    assert context.messages[0] == {"role": "system", "content": "Be \ufffd kind."}


def test_where_there_is_no_room_to_search_that_is_said(memory: Memory) -> None:
    memory.add("The sourdough is 49 euro.")
    with_question = memory.context("What did I say about the sourdough?", keep_recent=0).account
    fixed = with_question.of("question") + with_question.of("marks")
    context = memory.context("What did I say about the sourdough?", keep_recent=0, token_budget=fixed)

    assert "nothing was searched for: what goes before it leaves no room in the budget" in context.notes


def test_a_summary_in_another_language_than_its_heading_stays_within_the_budget(memory: Memory) -> None:
    """An estimate takes the language of the whole: heading and summary together cost more than each alone."""
    words = ("Vi bestämde att priset blir 49 kronor eftersom burkarna är dyra. " * 40).split()
    memory.add("hej")
    memory.prompt.summaries = lambda _id: Levels(*((" ".join(words[:n]), 0) for n in range(1, len(words))))

    for budget in range(150, 400, 7):
        context = memory.context("tack", retrieve="never", keep_recent=0, token_budget=budget)
        assert context.account.over_by == 0
        assert context.account.of("summary") > 0


def test_what_goes_back_unchanged_and_is_over_the_budget_is_told(memory: Memory) -> None:
    turn = memory.add("done", role="assistant")
    thought = {"type": "thinking", "thinking": "hm " * 9_000, "signature": "c2ln"}
    memory.prompt.record(
        {"content": [thought, {"type": "text", "text": "done"}]}, turn_id=turn.turn_id, provider="anthropic"
    )
    [note] = [note for note in memory.context("next", retrieve="never").notes if "unchanged" in note]

    assert note.startswith("sent to Anthropic, the blocks that go back unchanged")
    assert note.endswith("over the budget")
    assert not [note for note in memory.context("x", token_budget=90_000).notes if "unchanged" in note]


def test_a_prompt_names_the_betas_of_the_blocks_in_it(memory: Memory) -> None:
    turn = memory.add("done", role="assistant")
    block = {"type": "compaction", "content": "They talked.", "encrypted_content": "eA"}
    memory.prompt.record(
        {"content": [block, {"type": "text", "text": "done"}]}, turn_id=turn.turn_id, provider="anthropic"
    )

    assert memory.context("next").betas == ("compact-2026-01-12",)


def test_the_question_itself_is_no_turn_that_was_left_out(memory: Memory) -> None:
    memory.add("hello")

    assert not [note for note in memory.context("hello").notes if "neither in the window" in note]


def test_one_turn_that_was_left_out_is_told_as_one(memory: Memory) -> None:
    memory.add("hello")
    notes = memory.context("thanks", keep_recent=0).notes

    assert "1 earlier turn of 'main' is neither in the window nor in a summary; search finds it" in notes


@pytest.mark.parametrize("nothing", ["", "  \n"])
def test_a_question_without_words_makes_no_message_without_words(memory: Memory, nothing: str) -> None:
    assert memory.context(nothing).for_anthropic() == {"messages": []}
    memory.add("hello")
    context = memory.context(nothing)

    assert context.for_anthropic()["messages"] == [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]
    assert context.messages == [{"role": "user", "content": "hello"}]


def test_the_instructions_stay_the_same_to_the_byte_from_turn_to_turn_so_that_a_provider_may_cache_them(
    memory: Memory, tmp_path: Path
) -> None:
    rules = tmp_path / "rules.md"
    rules.write_text("Prices in euro.\n", encoding="utf-8")
    memory.prompt.files.pin(rules)
    memory.prompt.pins.add("Answer in Swedish.")
    memory.prompt.decisions.add("One price.", because="Two confuse people.")
    memory.prompt.state.merge({"goal": "bread", "customer": {"name": "Ann"}})
    for number in range(12):
        memory.add(f"Bread {number} costs {number} euro.", role="user" if number % 2 == 0 else "assistant")
    assert memory.summaries.summarise("main", keep_recent=4)
    told = []
    for question in ("What did bread 3 cost?", "thanks!", "And what did I decide?"):
        told.append(memory.context(question, system="You are of help.", token_budget=4_000))
        memory.add(question)
        memory.add("It is as you said.", role="assistant")

    assert len({context.system for context in told}) == 1
    assert told[0].system.startswith("You are of help.")
    assert [message["role"] for message in told[0].messages[:1]] == ["system"]
