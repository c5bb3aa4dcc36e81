"""BEAM: every message of a person and a model, with the generator's mark kept and not indexed."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.importers.beam import _without_mark
from memory_rag.turns import Conversation, Role, Source, Span, Turn

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]


def message(number: int, role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "id": number, "content": content, **more}


def chat() -> list[dict[str, Any]]:
    return [
        {
            "batch_number": 1,
            "time_anchor": None,
            "turns": [
                [
                    message(0, "user", "Plan my week ->-> 1,1", time_anchor="March-15-2024"),
                    message(1, "assistant", "Gladly."),
                ],
                [message(2, "user", "And the next? ->-> 1,2"), message(3, "assistant", "Of course.")],
            ],
        },
        {
            "batch_number": 2,
            "time_anchor": None,
            "turns": [[message(4, "user", "Again", time_anchor="April-05-2024")]],
        },
    ]


def test_a_turn_holds_all_that_the_chat_says_of_it(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("100K/3/chat.json", chat()))
    assert found.conversations == [Conversation("beam-100K-3")]
    assert found.turns[2] == Turn(
        turn_id="",
        conversation_id="beam-100K-3",
        session_id="beam-100K-3/batch_1",
        ordinal=2,
        role=Role.USER,
        speaker="user",
        text="And the next? ->-> 1,2",
        said_at=datetime(2024, 3, 15, tzinfo=UTC),
        said_at_text="March-15-2024",
        source=Source("beam", "2", json.dumps(message(2, "user", "And the next? ->-> 1,2"))),
        indexed=Span(0, 13),
    )
    assert found.turns[2].searchable == "And the next?"
    assert [turn.said_at_text for turn in found.turns] == ["March-15-2024"] * 4 + ["April-05-2024"]
    assert [turn.session_id[-7:] for turn in found.turns] == ["batch_1"] * 4 + ["batch_2"]


def test_anchors_are_midnights_in_the_zone_asked_for(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("100K/3/chat.json", chat()), tz=ZoneInfo("Europe/Stockholm"))
    assert found.turns[0].said_at == datetime(2024, 3, 14, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Plan it ->-> 1,1", "Plan it"),
        ("Plan it \n->->  13,108 ", "Plan it"),
        ("Plan it ->-> 2,N/A", "Plan it"),
        ("Plan it ->-> 1,5)", "Plan it"),
        ("Plan it ->-> 2,22, 24", "Plan it"),
        ("Plan it ->->", "Plan it"),
        ("Plan it -> -> 1 , 2", "Plan it"),
        ("->-> 1,1", ""),
    ],
)
def test_a_mark_is_not_indexed(text: str, said: str) -> None:
    span = _without_mark(text)
    assert span is not None
    assert span.of(text) == said


@pytest.mark.parametrize("text", ["a -> b", "x ->-> y", "->-> 1,1 and so on", "f: int -> str", "-> 1,1", "1,1", ""])
def test_arrows_that_end_no_message_in_a_mark_are_words(text: str) -> None:
    assert _without_mark(text) is None


@given(st.text(max_size=200), st.sampled_from([" ->-> 1,1", " ->->  3,8", " ->-> 2,N/A", " ->-> 1,13)"]))
def test_a_mark_is_found_behind_any_words(words: str, mark: str) -> None:
    span = _without_mark(words + mark)
    assert span is not None
    assert span.of(words + mark) == words.rstrip()


def test_a_chat_outside_the_datasets_folders_is_named_by_its_opening(made: Made, import_all: ImportAll) -> None:
    other = [{**chat()[0], "turns": [[message(0, "user", "Something else")]]}]
    here = import_all(made("downloads/chat.json", chat()))
    there = import_all(made("downloads/second.json", other))
    again = import_all(made("moved/renamed.json", chat()))
    assert not set(here.keys) & set(there.keys)
    assert here.keys == again.keys


def test_keys_stay_when_the_chat_grows(made: Made, import_all: ImportAll) -> None:
    grown = chat()
    grown[1]["turns"].append([message(5, "user", "More")])
    for name in ("100K/3/chat.json", "chat.json"):
        keys = import_all(made(name, chat())).keys
        assert import_all(made(name, grown)).keys[:5] == keys


def test_a_message_that_cannot_be_stored_is_counted(made: Made, import_all: ImportAll) -> None:
    spoiled = chat()
    spoiled[0]["turns"][1] = [message(2, "narrator", "Meanwhile"), message(3, "assistant", ""), None]
    spoiled[0]["turns"].append({"role": "user", "id": 9})
    spoiled.append({"batch_number": 3})
    found = import_all(made("100K/3/chat.json", spoiled))
    assert found.skipped == {"unknown role 'narrator'": 1, "no role": 2, "no text": 1}
    assert found.texts == ["Plan my week ->-> 1,1", "Gladly.", "", "Again"]


def test_an_id_that_comes_twice_and_a_broken_anchor_are_noted(made: Made, import_all: ImportAll) -> None:
    spoiled = chat()
    spoiled[1]["turns"][0][0] |= {"id": 0, "time_anchor": "Spring"}
    found = import_all(made("100K/3/chat.json", spoiled))
    assert found.keys[4] == ("beam", "beam-100K-3", "0#2")
    assert (found.turns[4].said_at, found.turns[4].said_at_text) == (None, "Spring")
    assert found.noted == {"message id repeated, numbered": 1, "time not understood": 1}


def test_all_messages_of_the_twenty_chats_come_with_their_texts_and_ids(data_dir: Path, import_all: ImportAll) -> None:
    found = import_all(data_dir / "beam")
    assert (found.report.read, found.report.kept, found.skipped, found.noted) == (5732, 5732, {}, {})
    expected = {}
    for path in (data_dir / "beam" / "100K").glob("*/chat.json"):
        for batch in json.loads(path.read_bytes()):
            for turn in batch["turns"]:
                for said in turn:
                    key = ("beam", f"beam-100K-{path.parent.name}", str(said["id"]))
                    expected[key] = (said["role"], said["content"].encode())
    got = {key: (turn.role.value, turn.text.encode()) for key, turn in zip(found.keys, found.turns, strict=True)}
    assert len(found.conversations) == 20
    assert len(got) == 5732
    assert got == expected
    assert all(turn.said_at is not None for turn in found.turns)
    assert sum(turn.indexed is not None for turn in found.turns) == 2199
    assert not any("->->" in turn.searchable for turn in found.turns)
    assert {unread.reason for unread in found.report.unread} == {"no importer knows this format"}
    assert len(found.report.unread) == 20


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    batches=st.lists(
        st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text()), min_size=1, max_size=4),
        min_size=1,
        max_size=3,
    )
)
def test_what_was_said_comes_back_code_point_by_code_point(
    made: Made, import_all: ImportAll, batches: list[list[tuple[str, str]]]
) -> None:
    numbers = iter(range(100))
    written = [
        {
            "batch_number": number,
            "turns": [[message(next(numbers), role, text) for role, text in said]],
        }
        for number, said in enumerate(batches, 1)
    ]
    found = import_all(made("chat.json", written))
    assert [(turn.role.value, turn.text) for turn in found.turns] == [one for said in batches for one in said]
