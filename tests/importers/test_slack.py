"""Slack's export: a file a day, time stamps as ids, threads over days, names beside the channels."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.importers import open_import
from memory_rag.turns import Conversation, Turn

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]

SEEN = (
    '[{"type":"message","user":"U1","text":"b &amp; c","ts":"1700000002.000200"},'
    '{"type":"message","user":"U1","text":"x","ts":"NaN"},'
    '{"type":"message","user":"U1","text":"first","ts":"1700000002.000100"},'
    '{"type":"message","subtype":"bot_message","bot_id":"B1","text":"beep"}]'
)
USERS = [
    {"id": "U1", "name": "ada", "profile": {"display_name": "", "real_name": "Ada Ek"}},
    {"id": "U2", "name": "bo", "profile": {"display_name": "Bosse"}},
]


def message(ts: str, text: str = "hej", **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": "U1", "text": text, "ts": ts, **more}


def test_a_time_stamp_that_is_no_number_costs_only_its_message(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("general/2023-11-14.json", SEEN))
    assert found.texts == ["first", "b & c"]
    assert (found.report.read, found.skipped) == (4, {"ts not finite": 1, "ts missing": 1})
    assert [turn.source.native_id for turn in found.turns] == ["1700000002.000100", "1700000002.000200"]
    assert found.turns[0].said_at == datetime(2023, 11, 14, 22, 13, 22, 100, tzinfo=UTC)


def test_names_come_from_the_lists_beside_the_channels_in_a_folder_and_in_a_zip(
    made: Made, import_all: ImportAll, tmp_path: Path
) -> None:
    files = {
        "x/users.json": USERS,
        "x/channels.json": [{"id": "C9", "name": "general"}],
        "x/general/2023-11-14.json": [message("1700000001.000000"), message("1700000002.000000", "du", user="U2")],
    }
    for name, content in files.items():
        made(name, content)
    path = made("x.zip", b"")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.removeprefix("x/"), json.dumps(content))
    for place in (tmp_path / "x", path):
        found = import_all(place)
        assert [(turn.speaker, turn.conversation_id) for turn in found.turns] == [
            ("Ada Ek", "slack-C9"),
            ("Bosse", "slack-C9"),
        ]
        assert found.conversations == [Conversation("slack-C9", "#general")]
    assert import_all(path).keys == import_all(tmp_path / "x").keys


@pytest.mark.parametrize(
    ("fields", "speaker"),
    [
        ({"user": "U7", "user_profile": {"display_name": "Cid"}}, "Cid"),
        ({"user": "U7", "user_profile": None}, "U7"),
        ({"user": "USLACKBOT"}, "Slackbot"),
        ({"user": None, "bot_id": "B1", "username": "bygget"}, "bygget"),
        ({"user": None, "bot_id": "B1"}, "B1"),
    ],
)
def test_a_sender_that_no_list_knows_is_named_by_the_message(
    made: Made, import_all: ImportAll, fields: dict[str, Any], speaker: str
) -> None:
    (turn,) = import_all(made("a/2023-11-14.json", [message("1700000001.000000", **fields)])).turns
    assert turn.speaker == speaker


def test_a_thread_is_one_session_over_all_its_days_and_lies_in_the_order_of_time(
    made: Made, import_all: ImportAll, tmp_path: Path
) -> None:
    root = "1700000001.000000"
    made("x/general/2023-11-15.json", [message("1700090001.000000", "svar", thread_ts=root, parent_user_id="U1")])
    made("x/general/2023-11-14.json", [message(root, "fråga", thread_ts=root), message("1700000002.000000", "annat")])
    found = import_all(tmp_path / "x")
    assert [(turn.text, turn.session_id.partition("/")[2]) for turn in found.turns] == [
        ("fråga", f"thread {root}"),
        ("annat", "2023-11-14"),
        ("svar", f"thread {root}"),
    ]
    assert [turn.ordinal for turn in found.turns] == [1700000001000000, 1700000002000000, 1700090001000000]


def test_a_broadcast_that_is_written_twice_is_kept_once(made: Made, import_all: ImportAll) -> None:
    said = message("1700000002.000000", "till alla", subtype="thread_broadcast", thread_ts="1700000001.000000")
    found = import_all(made("a/2023-11-14.json", [said, said]))
    assert (found.texts, found.skipped) == (["till alla"], {"a message written twice": 1})


def test_only_three_escapes_are_undone_and_who_is_named_is_found_by_name(
    made: Made, import_all: ImportAll, tmp_path: Path
) -> None:
    made("x/users.json", USERS)
    text = "<@U2> &lt;b&gt; &amp;amp; &quot; <#C1|allmänt> <https://example.org|sidan>"
    made("x/a/2023-11-14.json", [message("1700000001.000000", text)])
    (turn,) = import_all(tmp_path / "x").turns
    assert turn.text == "<@U2> <b> &amp; &quot; <#C1|allmänt> <https://example.org|sidan>"
    assert [block.caption for block in turn.blocks] == ["@Bosse", "#allmänt"]
    assert "@Bosse" in turn.searchable


def test_notices_are_counted_and_files_and_previews_are_found(made: Made, import_all: ImportAll) -> None:
    found = import_all(
        made(
            "a/2023-11-14.json",
            [
                message("1700000001.000000", "har gått med", subtype="channel_join"),
                message("1700000002.000000", "", files=[{"name": "a.png", "title": "Katten", "mimetype": "image/png"}]),
                message(
                    "1700000003.000000",
                    "",
                    subtype="bot_message",
                    attachments=[{"title": "Bygge 7", "text": "gick bra"}],
                ),
                message("1700000004.000000", ""),
            ],
        )
    )
    assert [(turn.blocks[0].kind, turn.blocks[0].caption, turn.recalled) for turn in found.turns] == [
        ("image", "a.png Katten", True),
        ("attachment", "Bygge 7 gick bra", True),
    ]
    assert found.skipped == {"no message but 'channel_join'": 1, "nothing said": 1}


ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(st.text(min_size=1), min_size=1, max_size=6))
def test_what_was_said_comes_back_code_point_by_code_point(made: Made, import_all: ImportAll, said: list[str]) -> None:
    day = [
        message(f"1700000{at:03}.000100", "".join(ESCAPES.get(letter, letter) for letter in text))
        for at, text in enumerate(said)
    ]
    found = import_all(made("general/2023-11-14.json", list(reversed(day))))
    assert found.texts == said


def test_two_exports_that_are_read_at_once_keep_their_names_apart(made: Made, tmp_path: Path) -> None:
    for name in ("x", "y"):
        made(f"{name}/users.json", [{"id": "U1", "name": f"ada-{name}"}])
        made(f"{name}/a/2023-11-14.json", [message("1700000001.000000"), message("1700000002.000000")])
    with open_import(tmp_path / "x") as one, open_import(tmp_path / "y") as other:
        pairs = zip(*([item for file in opened for item in file] for opened in (one, other)), strict=True)
        read_apart = [tuple(item.speaker for item in pair if isinstance(item, Turn)) for pair in pairs]
        in_turns = zip(*(iter(file) for opened in (one, other) for file in opened), strict=True)
        read_at_once = [tuple(item.speaker for item in pair if isinstance(item, Turn)) for pair in in_turns]

    assert read_at_once == read_apart == [(), ("ada-x", "ada-y"), ("ada-x", "ada-y")]


def test_names_are_those_of_the_export_that_is_read_now(made: Made, import_all: ImportAll, tmp_path: Path) -> None:
    made("x/a/2023-11-14.json", [message("1700000001.000000")])
    speakers = []
    for name in ("Ada", "Bea"):
        made("x/users.json", [{"id": "U1", "name": name}])
        speakers += [turn.speaker for turn in import_all(tmp_path / "x").turns]
    assert speakers == ["Ada", "Bea"]


@pytest.mark.parametrize(
    ("members", "title"), [(["U1", "U2"], "Ada Ek, Bosse"), (["U1", "U8"], "#D1"), ([], "#D1"), (None, "#D1")]
)
def test_a_talk_of_two_is_called_by_their_names(
    made: Made, import_all: ImportAll, tmp_path: Path, members: Any, title: str
) -> None:
    made("x/users.json", USERS)
    made("x/dms.json", [{"id": "D1", "members": members}])
    made("x/D1/2023-11-14.json", [message("1700000001.000000")])
    assert import_all(tmp_path / "x").conversations == [Conversation("slack-D1", title)]


@pytest.mark.parametrize(
    ("written", "ordinal"),
    [
        ("1700000001.000200", 1_700_000_001_000_200),
        ("1700000001.0002", 1_700_000_001_000_200),
        ("1700000001", 1_700_000_001_000_000),
        ("1700000001.0002009", 1_700_000_001_000_200),
    ],
)
def test_the_place_of_a_message_is_its_microsecond(
    made: Made, import_all: ImportAll, written: str, ordinal: int
) -> None:
    (turn,) = import_all(made("a/2023-11-14.json", [message(written)])).turns
    assert (turn.ordinal, turn.source.native_id) == (ordinal, written)
