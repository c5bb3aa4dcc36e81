"""What is never to be stored, and a memory that is off the record: not a word of it on the disk."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_rag.errors import RefusedError, SettingsError
from memory_rag.memory import Memory
from memory_rag.privacy.never import Never
from memory_rag.settings import Settings
from memory_rag.store.screening import Unstored
from memory_rag.turns import Block, Conversation, Role, Source, Turn
from tests.either_engine import Place

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def opened(place: Place, *never: str) -> Memory:
    return place.open(embedder="none", never_store=never, clock=lambda: AT)


@pytest.mark.parametrize(("rule", "text"), [
    ("surprise party", "about the Surprise  PARTY on Friday"), ("möte", "Vårt MO\u0308TE, alltså"),
    ("秘密", "这是秘密吗"), (r"/case-\d{4}/", "it was case-4711"), ("kind:card", "kort 4111 1111 1111 1111"),
])  # fmt: skip
def test_a_turn_that_falls_under_a_rule_is_not_stored(place: Place, rule: str, text: str) -> None:
    with opened(place, rule) as memory:
        outcome = memory.add(text)

        assert isinstance(outcome, Unstored)
        assert (outcome.turn_id, outcome.text) == ("", text)
        assert rule.removeprefix("kind:") in outcome.reason
        assert len(memory) == 0
        assert text.encode() not in place.everything()


def test_a_word_counts_whole_and_a_turn_beside_it_is_stored(place: Place) -> None:
    with opened(place, "art", "kind:card") as memory:
        assert memory.add("the party started, order 4111 1111 1111 1112").turn_id == "t1"


def test_a_rule_reaches_tool_calls_titles_pins_and_events(place: Place) -> None:
    with opened(place, "surprise party") as memory:
        block = Block("tool_call", {"query": ["surprise party"]})
        kept = memory.add_many([Conversation("c", "The surprise party"), turn("look", block), turn("hello")])
        assert kept.turn_ids == ("t1",)
        assert kept.unstored == {"never_store has: surprise party": 1}
        with pytest.raises(RefusedError, match="the preference is not stored: never_store has: surprise party"):
            memory.prompt.pins.add("no surprise party")
        memory.prompt.events.record("warning", warning="surprise party")
        assert b"surprise party" not in place.everything()


def test_rules_come_from_the_settings_file_and_the_environment(tmp_path: Path) -> None:
    config = tmp_path / "memory-rag.toml"
    config.write_text('secrets = "phone=redact"\nnever_store = ["surprise party", "kind:card"]\n', encoding="utf-8")

    assert Settings.load(config=config, environment={}).never_store == ("surprise party", "kind:card")
    environment = {"MEMORY_RAG_NEVER_STORE": "one\n/t.o/\n", "MEMORY_RAG_SECRETS": "tag"}
    assert Settings.load(config=config, environment=environment).never_store == ("one", "/t.o/")
    with pytest.raises(SettingsError, match="never_store in the arguments must be a tuple, got 5"):
        Settings.load(environment={}, never_store=5)


@pytest.mark.parametrize(("rule", "why"), [("/(/", "is no pattern"), ("kind:health", "unknown kind 'health'")])
def test_a_rule_that_is_none_is_told_at_once(place: Place, rule: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        opened(place, rule)


def test_no_rules_cost_nothing() -> None:
    assert not Never.parse(["", "  "])


def test_off_the_record_nothing_is_stored_by_any_process_until_it_is_off(place: Place) -> None:
    with opened(place) as memory, opened(place) as other:
        memory.add("before")
        assert memory.off_record.on() == AT
        outcome = other.add("a word between us")
        assert isinstance(outcome, Unstored)
        assert outcome.reason == "this memory is off the record"
        appended = memory.add_many([Conversation("c", "a word between us"), turn("a word between us")])
        assert (appended.turn_ids, appended.unstored) == ((), {"this memory is off the record": 1})
        assert memory.stats().off_record_since == "2026-03-01T12:00:00+00:00"
        assert b"a word between us" not in place.everything()
    with opened(place) as memory:
        assert memory.off_record.since == AT
        assert memory.off_record.off()
        assert not memory.off_record.off()
        assert memory.add("after").turn_id == "t2"


def test_off_the_record_what_is_known_stays_and_is_not_laid_over(place: Place) -> None:
    with opened(place) as memory:
        memory.store.append([turn("old", source=Source("chat", "m1", "1"))], newer=True)
        memory.off_record.on()
        again = memory.store.append([turn("new", source=Source("chat", "m1", "2"))], newer=True)

        assert (again.already_there, again.corrected, again.unstored) == (1, (), {})
        assert memory.get("t1").text == "old"


def test_a_whole_memory_is_not_put_back_off_the_record(place: Place, tmp_path: Path) -> None:
    with opened(place) as memory:
        memory.add("hello")
        (tmp_path / "all.jsonl").write_text("".join(memory.export()), encoding="utf-8")
    with Memory.open(tmp_path / "other", embedder="none") as other:
        other.off_record.on()
        report = other.import_path(tmp_path / "all.jsonl")

        assert (report.read, report.kept, len(other)) == (1, 0, 0)


def turn(text: str, *blocks: Block, source: Source | None = None) -> Turn:
    return Turn("", "c", "day", 0, Role.USER, "Åsa", text, blocks=blocks, source=source)
