"""Answers of providers are written down: blocks, edits, usage, cost; and a lost compaction is noticed."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from memory_rag.errors import SettingsError
from memory_rag.memory import Memory
from memory_rag.prompt.answers import AnswerLog
from memory_rag.prompt.events import EventKind, Price
from memory_rag.prompt.lost_compaction import LostCompactionWarning
from memory_rag.prompt.returned_blocks import Shape

BLOCK: dict[str, Any] = {"type": "compaction", "content": "short", "encrypted_content": None}
WORDS: dict[str, Any] = {"type": "text", "text": "answer"}


def compacted(*, before: int, after: int) -> dict[str, Any]:
    """Return an answer of Anthropic's in which the provider compacted the request."""
    iterations = [
        {"type": "compaction", "input_tokens": before, "output_tokens": 500},
        {"type": "message", "input_tokens": after, "output_tokens": 100},
    ]
    usage = {"input_tokens": after, "output_tokens": 100, "iterations": iterations}
    return {"model": "claude-opus-5", "content": [BLOCK, WORDS], "usage": usage}


def plain(n_sent: int) -> dict[str, Any]:
    return {"model": "claude-opus-5", "content": [WORDS], "usage": {"input_tokens": n_sent, "output_tokens": 100}}


class Talk:
    """A conversation whose answers are recorded one by one."""

    def __init__(self, memory: Memory, *, provider: Shape = "anthropic") -> None:
        self.memory = memory
        self.provider: Shape = provider

    def says(self, answer: dict[str, Any]) -> Any:
        turn_id = self.memory.add("answer", role="assistant").turn_id
        return self.memory.prompt.record(answer, turn_id=turn_id, provider=self.provider)


@pytest.fixture
def talk(memory: Memory) -> Talk:
    return Talk(memory)


def test_edits_and_usage_become_events(memory: Memory) -> None:
    turn_id = memory.add("answer", role="assistant", conversation_id="bread").turn_id
    log = AnswerLog(memory.prompt.events, memory.prompt.blocks, {"claude-opus-5": Price(read=5, written=25)})
    edits = [
        {"type": "clear_thinking_20251015", "cleared_thinking_turns": 2, "cleared_input_tokens": 3_000},
        {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 8, "cleared_input_tokens": 50_000},
    ]
    answer = {**plain(60_000), "context_management": {"applied_edits": edits}}
    log.record(answer, turn_id=turn_id, conversation_id="bread", provider="anthropic")
    events = memory.prompt.events.events()

    assert [(e.kind, e.tokens_before, e.tokens_after) for e in events] == [
        (EventKind.CLEARED_THINKING, 63_000, 60_000),
        (EventKind.CLEARED_TOOL_USES, 110_000, 60_000),
        (EventKind.ANSWER, 60_000, None),
    ]
    assert {(e.turn_id, e.model, e.conversation_id) for e in events} == {(turn_id, "claude-opus-5", "bread")}
    assert events[1].details == {"type": "clear_tool_uses_20250919", "cleared": 8, "tokens": 50_000}
    assert [e.cost for e in events] == [None, None, pytest.approx((60_000 * 5 + 100 * 25) / 1_000_000)]


def test_a_compaction_is_an_event_and_its_block_is_kept(talk: Talk, memory: Memory) -> None:
    recorded = talk.says(compacted(before=170_000, after=20_000))

    assert [(e.kind, e.tokens_before, e.tokens_after) for e in recorded.events] == [
        (EventKind.COMPACTION, 170_000, 20_000),
        (EventKind.ANSWER, 170_000, None),
    ]
    assert recorded.kept
    assert memory.prompt.blocks.of(["t1"])["t1"].content == [BLOCK, WORDS]


def test_an_answer_of_words_alone_has_nothing_to_keep(talk: Talk, memory: Memory) -> None:
    assert not talk.says(plain(100)).kept
    assert memory.prompt.blocks.of(["t1"]) == {}


def test_a_compaction_that_failed_is_told_as_that(talk: Talk) -> None:
    answer = {**plain(160_000), "content": [{"type": "compaction", "content": None}, WORDS]}
    event = talk.says(answer).events[0]

    assert (event.kind, event.tokens_before) == (EventKind.COMPACTION, None)
    assert "the provider made no summary" in event.details["failed"]


def test_a_conversation_that_keeps_its_block_is_never_warned_of(talk: Talk) -> None:
    """It grows past the size it was compacted from, slowly, and is compacted again."""
    talk.says(compacted(before=170_000, after=20_000))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n_sent in range(25_000, 240_000, 20_000):
            assert talk.says(plain(n_sent)).lost is None
        assert talk.says(compacted(before=245_000, after=22_000)).lost is None
        assert talk.says(plain(24_000)).lost is None


def test_the_next_request_without_the_block_raises_a_warning_with_its_turn(talk: Talk, memory: Memory) -> None:
    talk.says(compacted(before=170_000, after=20_000))
    with pytest.warns(LostCompactionWarning, match="the compaction block of t1 was lost"):
        lost = talk.says(plain(172_000)).lost

    assert (lost.turn_id, lost.n_sent, lost.was_kept) == ("t2", 172_000, True)
    assert str(lost) == (
        "the compaction block of t1 was lost: the conversation had been compacted from 170,000 input tokens to 20,000, "
        "and the request that t2 answers had 172,000 again; it is kept, but the request that t2 answers was sent "
        "without it: build requests with memory.prompt.replay"
    )
    warning = memory.prompt.events.events(kind=EventKind.WARNING)[0]
    assert (warning.turn_id, warning.tokens_before, warning.tokens_after) == ("t2", 170_000, 172_000)
    assert warning.details["compacted_at"] == "t1"


def test_where_only_the_text_was_stored_the_warning_says_so(talk: Talk, memory: Memory) -> None:
    talk.says(compacted(before=170_000, after=20_000))
    with memory.store.connections.writing() as connection:
        connection.execute("DELETE FROM returned_blocks")
    with pytest.warns(LostCompactionWarning, match="only the text of t1 was stored: hand whole answers to"):
        assert not talk.says(plain(171_000)).lost.was_kept


def test_a_block_lost_later_is_noticed_at_that_turn_and_told_once(talk: Talk) -> None:
    talk.says(compacted(before=170_000, after=20_000))
    assert talk.says(plain(25_000)).lost is None
    assert talk.says(plain(30_000)).lost is None
    with pytest.warns(LostCompactionWarning):
        assert talk.says(plain(181_000)).lost.turn_id == "t4"
    assert talk.says(plain(183_000)).lost is None


def test_a_provider_that_compacts_anew_at_every_request_is_noticed(talk: Talk) -> None:
    talk.says(compacted(before=170_000, after=20_000))
    with pytest.warns(LostCompactionWarning):
        assert talk.says(compacted(before=173_000, after=20_500)).lost.turn_id == "t2"


def test_openai_tells_what_was_left_with_the_next_request_only(memory: Memory) -> None:
    talk = Talk(memory, provider="openai")

    def answer(n_sent: int, *items: dict[str, Any]) -> dict[str, Any]:
        message = {"type": "message", "role": "assistant", "content": []}
        return {"model": "gpt-5.6", "output": [*items, message], "usage": {"input_tokens": n_sent, "output_tokens": 9}}

    talk.says(answer(210_000, {"type": "compaction", "encrypted_content": "x"}))
    assert talk.says(answer(12_000)).lost is None
    for n_sent in range(30_000, 215_000, 20_000):
        assert talk.says(answer(n_sent)).lost is None
    talk.says(answer(220_000, {"type": "compaction", "encrypted_content": "y"}))
    with pytest.warns(LostCompactionWarning, match="compacted from 220,000 input tokens, and the request"):
        assert talk.says(answer(221_000)).lost.turn_id == "t14"


def test_conversations_are_looked_at_apart(memory: Memory) -> None:
    first = memory.add("answer", role="assistant", conversation_id="a").turn_id
    other = memory.add("answer", role="assistant", conversation_id="b").turn_id
    memory.prompt.record(compacted(before=170_000, after=20_000), turn_id=first, provider="anthropic")

    assert memory.prompt.record(plain(180_000), turn_id=other, provider="anthropic").lost is None


def test_a_compaction_of_our_own_has_no_block_to_lose(talk: Talk) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "word " * 300}] * 20
    talk.memory.prompt.fit(
        messages, n_tokens=3_000, turn_ids=[None] * 20, summarize=lambda _old: "short", conversation_id="main",
        keep_recent=2,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        talk.says(plain(2_000))
        talk.says(plain(30_000))

    assert talk.memory.prompt.events.events(kind=EventKind.WARNING) == []


def test_an_answer_whose_usage_nobody_told_is_no_request_of_no_tokens(memory: Memory) -> None:
    """As one of 0 tokens, the next would look as if it had jumped back to the length before the compaction."""
    usages: list[dict[str, Any]] = [
        {
            "input_tokens": 9_000,
            "iterations": [
                {"type": "compaction", "input_tokens": 160_000, "output_tokens": 500},
                {"type": "message", "input_tokens": 9_000, "output_tokens": 9},
            ],
        },
        {"input_tokens": 150_000, "output_tokens": 9},
        {"input_tokens": None, "output_tokens": None},
        {"input_tokens": 161_000, "output_tokens": 9},
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number, usage in enumerate(usages):
            content = [{"type": "compaction", "content": "They baked."}] if number == 0 else []
            turn_id = memory.add(f"answer {number}", role="assistant").turn_id
            told = memory.prompt.record({"content": content, "usage": usage}, turn_id=turn_id, provider="anthropic")
            assert told.lost is None

    assert [event.tokens_before for event in memory.prompt.events.events() if event.kind == "answer"] == [
        160_000,
        150_000,
        161_000,
    ]


def test_a_provider_of_no_known_shape_is_refused_and_nothing_is_kept(memory: Memory) -> None:
    turn_id = memory.add("hello", role="assistant").turn_id
    shape: Any = "gemini"
    with pytest.raises(SettingsError, match="anthropic and openai, got provider='gemini'"):
        memory.prompt.record({"content": [{"type": "thinking"}]}, turn_id=turn_id, provider=shape)
    with pytest.raises(SettingsError, match="got provider='gemini'"):
        memory.prompt.replay("main", provider=shape)

    assert memory.prompt.blocks.of([turn_id]) == {}
