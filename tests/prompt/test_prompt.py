"""The prompt side of a memory: it logs what it does, counts as the model does, and gives blocks back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_rag.embedding.wordpiece import TOKENIZER_FILE
from memory_rag.errors import EmbedderError
from memory_rag.memory import Memory
from memory_rag.prompt.editing import ClearToolUses
from memory_rag.prompt.events import EventKind, Price
from memory_rag.prompt.prompt import Prompt
from memory_rag.prompt.retrieved import WEAK
from memory_rag.prompt.tokens import REPLY_OVERHEAD, messages_tokens
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.ranking import Hit, Ranking
from memory_rag.turns import Block, Span
from tests.either_engine import Place

LONG = " ".join(["word"] * 400)


def read_twice(memory: Memory) -> None:
    """Store two rounds in which a tool answers at length."""
    for key in "ab":
        memory.add("read it")
        memory.add("", role="assistant", blocks=[Block("tool_call", {"id": key, "name": "read"})], recalled=False)
        memory.add(LONG, role="tool", blocks=[Block("tool_result", {"tool_call_id": key})], recalled=False)
        memory.add("done", role="assistant")


def test_the_models_tokenizer_counts_where_it_is_set(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "work", embedder="none", tokenizer=str(TOKENIZER_FILE)) as memory:
        memory.add("The price is 49 euro.")
        context = memory.context("What is the price?", system="You are a bakery's assistant.", keep_recent=1)

        assert (context.account.counter, context.account.is_estimate) == ("tokenizer.json", False)
        counted = messages_tokens(context.messages, counter=memory.prompt.counter) + REPLY_OVERHEAD
        assert counted <= context.account.total <= counted + 4


def test_the_setting_says_how_many_newest_turns_are_kept(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "work", embedder="none", keep_recent=2) as memory:
        for word in ("one", "two", "three"):
            memory.add(word)

        assert memory.context("four").window.turn_ids == ("t2", "t3")
        assert memory.context("four", keep_recent=3).window.turn_ids == ("t1", "t2", "t3")


def test_a_tokenizer_that_is_not_there_is_told(tmp_path: Path) -> None:
    with (
        Memory.open(tmp_path / "work", embedder="none", tokenizer="none.json") as memory,
        pytest.raises(EmbedderError, match=r"none\.json can't be read as a tokenizer"),
    ):
        memory.context("Hello")


def test_what_the_window_clears_is_an_event_that_names_the_turns(memory: Memory) -> None:
    read_twice(memory)
    context = memory.context("and now?", token_budget=1200, retrieve="never")
    [event] = memory.prompt.events.events()

    assert [one.turn_id for one in context.window.cleared] == ["t3"]
    assert (event.kind, event.details["turns"]) == (EventKind.CLEARED_TOOL_USES, ["t3"])
    assert event.tokens_after == context.account.of("newest turns")
    assert memory.get("t3").text == LONG


def test_clearing_and_compaction_of_ones_own_messages_are_events(memory: Memory) -> None:
    messages: list[dict[str, Any]] = []
    for key in "abc":
        messages += [
            {"role": "user", "content": "read it"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": key, "function": {"name": "read"}}]},
            {"role": "tool", "tool_call_id": key, "content": LONG},
            {"role": "assistant", "content": "done " * 100},
        ]
    turn_ids = [memory.add("x").turn_id for _ in messages]

    def summarize(part: Sequence[Mapping[str, Any]]) -> str:
        return f"{len(part)} messages [t1]."

    fitted = memory.prompt.fit(
        messages, n_tokens=700, turn_ids=turn_ids, summarize=summarize, conversation_id="main", keep_recent=4,
        tool_uses=ClearToolUses(keep=0),
    )  # fmt: skip
    cleared, compaction = memory.prompt.events.events()

    assert fitted.fits
    assert cleared.details["turns"] == ["t3", "t7", "t11"]
    assert (cleared.tokens_before, cleared.tokens_after) == (fitted.tokens_before, fitted.tokens_cleared_to)
    assert (compaction.kind, compaction.details["messages"]) == (EventKind.COMPACTION, 8)
    assert (compaction.tokens_before, compaction.tokens_after) == (fitted.tokens_cleared_to, fitted.tokens_after)


def test_a_compaction_block_leads_the_prompt_of_its_provider(memory: Memory) -> None:
    block = {"type": "compaction", "content": "They read it.", "signature": "c2ln"}
    memory.add("one")
    answer = memory.add("two", role="assistant").turn_id
    memory.add("three")
    memory.prompt.blocks.keep(answer, [block, {"type": "text", "text": "two"}], provider="anthropic")
    context = memory.context("four", retrieve="never")

    assert context.for_anthropic()["messages"] == [
        {"role": "assistant", "content": [block, {"type": "text", "text": "two"}]},
        {"role": "user", "content": [{"type": "text", "text": "three"}, {"type": "text", "text": "four"}]},
    ]
    assert [message["content"] for message in context.messages] == ["one", "two", "three", "four"]


def test_a_price_gives_a_cost(memory: Memory) -> None:
    memory.prompt.prices["m"] = Price(read=2, written=10)
    turn_id = memory.add("answer", role="assistant").turn_id
    usage = {"input_tokens": 1_000_000, "output_tokens": 100_000}
    recorded = memory.prompt.record({"model": "m", "output": [], "usage": usage}, turn_id=turn_id, provider="openai")

    assert recorded.events[0].cost == 3.0


def given(memory: Memory, ranking: Ranking) -> Prompt:
    """Return the prompt side of a memory whose search always gives this."""

    def search(question: str, within: Within) -> Ranking:
        return ranking

    return Prompt(memory.store, search=search, clock=lambda: datetime(2026, 4, 10, tzinfo=UTC), zone=UTC)


def test_weak_evidence_is_said(memory: Memory) -> None:
    turn = memory.add("The price is 49 euro.", conversation_id="other")
    hit = Hit(turn, 1.0, 1, Span(0, 21))
    weak = given(memory, Ranking("?", "hybrid", (hit,), evidence="weak")).context("What price did I say?")
    strong = given(memory, Ranking("?", "hybrid", (hit,), evidence="strong")).context("What price did I say?")

    assert "the evidence is weak: what is quoted may not answer the question" in weak.notes
    assert not any("evidence" in note for note in strong.notes)


def test_a_log_that_cannot_be_written_does_not_cost_the_prompt(memory: Memory, place: Place) -> None:
    with (
        place.open(embedder="none", busy_timeout_s=0) as other,
        memory.store.connections.writing(),
    ):
        [note] = given(other, Ranking("?", "hybrid")).context("price").notes

    assert note.startswith("not written to the event log: ")
    assert "is locked by another process" in note


@pytest.mark.parametrize(
    ("said", "is_quoted"), [("What did I say my name was?", True), ("Thanks, that is all for now!", False)]
)
def test_where_somebody_asks_and_nothing_clearly_answers_the_nearest_turns_are_quoted_as_weak(
    memory: Memory, said: str, is_quoted: bool
) -> None:
    for text in ("Call me Dorothea.", "Roses go in the ground in March.", "Soak the roots.", "Dig deep.", "Water it."):
        memory.add(text, conversation_id="garden")

    context = memory.context(said, conversation_id="new")

    assert (WEAK in context.quoted) == is_quoted
    assert len([one for one in context.included if one.why.startswith("hit")]) == (3 if is_quoted else 0)


@pytest.mark.parametrize("said", ["What did I say my name was?", "What did I say about roses?", "Is soil heavy?"])
def test_a_prompt_searches_once_whatever_is_found(tmp_path: Path, said: str) -> None:
    asked: list[str] = []

    class Counted(Memory):
        def search(self, query: str, **wishes: Any) -> Ranking:
            asked.append(query)
            return super().search(query, **wishes)

    with Counted.open(tmp_path / "work", embedder="none") as memory:
        memory.add("Roses go in the ground in March.", conversation_id="garden")
        memory.context(said, conversation_id="new")

    assert asked == [said]


def test_the_nearest_turns_are_no_answer_to_what_is_searched_for_always(memory: Memory) -> None:
    memory.add("Roses go in the ground in March.", conversation_id="garden")

    assert memory.context("Thanks!", conversation_id="new", retrieve="always").quoted == ""


def test_a_memory_that_is_locked_for_writing_costs_no_prompt(memory: Memory, place: Place, tmp_path: Path) -> None:
    rules = tmp_path / "rules.md"
    rules.write_text("no nuts")
    with place.open(embedder="none", busy_timeout_s=0.05) as other:
        other.prompt.files.pin(rules)
        rules.write_text("no milk")
        with memory.store.connections.writing():
            context = other.context("hello")

    assert "no milk" in context.system
    assert any(note.startswith("not written to the event log: ") for note in context.notes)
