"""Telegram Desktop's export: text in pieces, senders without a name, a clock that repeats."""

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

from memory_rag.errors import ImportFormatError
from memory_rag.turns import Conversation

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]

SEEN = json.loads(
    '{"id":7,"type":"message","date":"2025-10-26T02:30:00","date_unixtime":"1761442200","from":null,"from_id":"user1",'
    '"text":["Se ",{"type":"link","text":"https://example.org/a"}," nu",{"type":"bold","text":"!"}]}'
)


def chat(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"name": "Ada", "type": "personal_chat", "id": 42, "messages": list(messages), **more}


def message(number: int, text: Any = "hej", **more: Any) -> dict[str, Any]:
    said = {"id": number, "type": "message", "date": "2026-01-02T03:04:05", "date_unixtime": "1767323045"}
    return {**said, "from": "Bo", "from_id": "user2", "text": text, **more}


def test_a_text_in_pieces_no_sender_and_a_clock_that_repeats(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("result.json", chat(SEEN)), tz=ZoneInfo("Europe/Stockholm"))
    (turn,) = found.turns
    assert (turn.text, len(turn.text)) == ("Se https://example.org/a nu!", 28)
    assert (turn.speaker, turn.said_at) == ("user1", datetime(2025, 10, 26, 1, 30, tzinfo=UTC))
    assert turn.said_at_text == "2025-10-26T02:30:00"
    assert found.conversations == [Conversation("telegram-42", "Ada")]
    assert json.loads(turn.source.raw) == SEEN


def test_entities_are_the_text_if_there_are_some(made: Made, import_all: ImportAll) -> None:
    said = message(1, ["fel"], text_entities=[{"type": "plain", "text": "Se "}, {"type": "custom_emoji", "text": "🐸"}])
    assert import_all(made("result.json", chat(said))).texts == ["Se 🐸"]


def test_without_the_exact_time_the_local_one_counts_in_the_zone_given(made: Made, import_all: ImportAll) -> None:
    said = {key: value for key, value in message(1).items() if key != "date_unixtime"}
    (turn,) = import_all(made("result.json", chat(said)), tz=ZoneInfo("Europe/Oslo")).turns
    assert turn.said_at == datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC)


def test_all_chats_of_a_full_export_are_read_whatever_else_stands_there(made: Made, import_all: ImportAll) -> None:
    whole = {
        "about": "Here is your data",
        "personal_information": {"user_id": 1},
        "chats": {
            "about": "x",
            "list": [chat(message(1, "ett")), {"type": "saved_messages", "id": 2, "messages": [message(1, "två")]}, 7],
        },
        "left_chats": {"list": [chat(message(5, "tre"), id=3, name=None)]},
    }
    found = import_all(made("result.json", whole))
    assert [(turn.conversation_id, turn.text) for turn in found.turns] == [
        ("telegram-42", "ett"),
        ("telegram-2", "två"),
        ("telegram-3", "tre"),
    ]
    assert found.skipped == {"not a chat": 1}


def test_services_are_counted_and_numbers_below_zero_come_first(made: Made, import_all: ImportAll) -> None:
    service = {"id": 2, "type": "service", "action": "pin_message", "date": "2026-01-02T03:04:05"}
    found = import_all(made("result.json", chat(message(-9, "flyttat"), message(1, "ny"), service, message(3, ""))))
    assert [turn.text for turn in sorted(found.turns, key=lambda turn: turn.ordinal)] == ["flyttat", "ny"]
    assert found.skipped == {"no message but 'pin_message'": 1, "nothing said": 1}


def test_files_polls_places_and_contacts_are_found_by_their_words(made: Made, import_all: ImportAll) -> None:
    missing = "(File not included. Change data exporting settings to download.)"
    found = import_all(
        made(
            "result.json",
            chat(
                message(1, "", file="files/hyra.pdf", mime_type="application/pdf"),
                message(2, "", file=missing, file_name="lön.pdf", mime_type="application/pdf"),
                message(3, "", photo="photos/katt.jpg"),
                message(4, "", file=missing, media_type="sticker", sticker_emoji="🐸"),
                message(5, "", poll={"question": "Fika?", "answers": [{"text": "Ja"}, {"text": "Nej"}]}),
                message(6, "", location_information={"latitude": 59.3, "longitude": 18.0}, place_name="Slussen"),
                message(7, "", contact_information={"first_name": "Cid", "last_name": "Å"}),
                message(8, "", photo=missing),
            ),
        )
    )
    assert [(turn.blocks[0].kind, turn.blocks[0].caption) for turn in found.turns] == [
        ("attachment", "hyra.pdf"),
        ("attachment", "lön.pdf"),
        ("image", "katt.jpg"),
        ("attachment", "🐸"),
        ("poll", "Fika? Ja Nej"),
        ("place", "Slussen"),
        ("contact", "Cid Å"),
        ("image", ""),
    ]
    assert [turn.recalled for turn in found.turns] == [True] * 7 + [False]


def test_hidden_values_and_an_edit_that_was_a_reaction_change_nothing(made: Made, import_all: ImportAll) -> None:
    said = message(1, "hej", edited="2026-01-03T00:00:00", edited_unixtime="1767398400", reactions=[{"emoji": "👍"}])
    hidden = message(2, "dold", **{"from": "hidden", "from_id": "hidden", "poll": "hidden"})
    assert import_all(made("result.json", chat(said, hidden))).texts == ["hej", "dold"]


def test_broken_json_is_told_with_line_and_column(made: Made, import_all: ImportAll) -> None:
    text = json.dumps(chat(message(1, "a"), message(2, "b")), indent=1)
    with pytest.raises(ImportFormatError, match=r"result\.json, line \d+, column \d+: broken JSON: "):
        import_all(made("result.json", text.replace('"text": "b"', '"text": oj')))


def test_a_chat_of_many_messages_is_told_from_its_beginning(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("result.json", chat(*(message(n, "hej " * 200) for n in range(2000)))))
    assert len(found.turns) == 2000


PIECES = st.lists(st.one_of(st.text(), st.builds(lambda text: {"type": "bold", "text": text}, st.text())), max_size=4)


def flat(pieces: list[Any]) -> str:
    return "".join(piece if isinstance(piece, str) else piece["text"] for piece in pieces)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(PIECES.filter(flat), min_size=1, max_size=5))
def test_what_was_said_comes_back_code_point_by_code_point(made: Made, import_all: ImportAll, said: list[Any]) -> None:
    path = made("result.json", chat(*(message(number, pieces) for number, pieces in enumerate(said, 1))))
    assert import_all(path).texts == [flat(pieces) for pieces in said]


def test_a_file_whose_keys_were_sorted_keeps_the_chats_name(made: Made, import_all: ImportAll) -> None:
    one = json.dumps(chat(message(1)), sort_keys=True)
    found = import_all(made("result.json", one))
    assert found.conversations[-1] == Conversation("telegram-42", "Ada")
    everything = json.dumps({"chats": {"list": [chat(message(1)), chat(message(1), id=43, name="Bo")]}}, sort_keys=True)
    found = import_all(made("result.json", everything))
    assert [one for one in found.conversations if one.title] == [
        Conversation("telegram-42", "Ada"),
        Conversation("telegram-43", "Bo"),
    ]
