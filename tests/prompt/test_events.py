"""The event log keeps what was done to prompts, in order."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_rag.errors import SettingsError
from memory_rag.memory import Memory
from memory_rag.prompt.events import Event, EventKind, EventLog, Price

AT = datetime(2026, 4, 10, 14, 2, tzinfo=UTC)


def test_an_event_is_read_as_it_was_logged(memory: Memory) -> None:
    log = EventLog(memory.store.connections, clock=lambda: AT)
    logged = log.log(
        EventKind.COMPACTION,
        conversation_id="talk",
        turn_id="t7",
        model="claude-opus-5",
        tokens_before=170_000,
        tokens_after=20_000,
        cost=0.25,
        details={"säsong": "ö"},
    )

    assert log.events() == [logged]
    assert logged == Event(
        kind=EventKind.COMPACTION,
        happened_at=AT,
        number=1,
        conversation_id="talk",
        turn_id="t7",
        model="claude-opus-5",
        tokens_before=170_000,
        tokens_after=20_000,
        cost=0.25,
        details={"säsong": "ö"},
    )


def test_events_come_oldest_first_and_can_be_narrowed(memory: Memory) -> None:
    log = EventLog(memory.store.connections)
    for number, kind in enumerate([EventKind.ANSWER, EventKind.RETRIEVAL, EventKind.ANSWER]):
        log.log(kind, conversation_id="a" if number < 2 else "b")

    assert [event.number for event in log.events()] == [1, 2, 3]
    assert [event.number for event in log.events(kind=EventKind.ANSWER)] == [1, 3]
    assert [event.number for event in log.events(conversation_id="a")] == [1, 2]
    assert [event.number for event in log.events(newest=2)] == [2, 3]


def test_other_parts_of_the_memory_tell_by_name(memory: Memory) -> None:
    memory.prompt.events.record("summary", conversation_id="talk", model="extractive", n_turns=12)
    [event] = memory.prompt.events.events()

    assert (event.kind, event.conversation_id, event.model) == (EventKind.SUMMARY, "talk", "extractive")
    assert event.details == {"n_turns": 12}
    with pytest.raises(SettingsError, match="unknown kind of event 'thought'"):
        memory.prompt.events.record("thought")


def test_a_price_is_for_a_million_tokens() -> None:
    assert Price(read=3.0, written=15.0).of(n_read=100_000, n_written=1_000) == pytest.approx(0.315)


def test_a_kind_that_is_none_names_those_that_are() -> None:
    with pytest.raises(SettingsError, match="unknown kind of event 'edit'; a kind is one of: answer, cleared-tool"):
        EventKind.parse("edit")
