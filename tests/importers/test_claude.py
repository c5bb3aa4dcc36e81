"""Claude.ai's export: words wherever they are, pasted texts, branches, and kinds that nobody knew yet."""

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

from memory_rag.turns import Block, Conversation, Role

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]

ROOT = "00000000-0000-4000-8000-000000000000"


def message(uuid: str, sender: str, *texts: str | None, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text} for text in texts]
    said = {"uuid": uuid, "sender": sender, "text": "", "content": content, "attachments": [], "files": []}
    return {**said, "created_at": "2026-02-03T10:00:00.123456+00:00", **more}


def talk(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"uuid": "c1", "name": "Trädgård", "account": {"uuid": "a"}, "chat_messages": list(messages), **more}


def test_a_message_comes_with_its_time_its_place_and_its_json(made: Made, import_all: ImportAll) -> None:
    said = message("m1", "human", "När sår man dill?")
    found = import_all(made("conversations.json", [talk(said)]))
    (turn,) = found.turns
    assert found.conversations == [Conversation("c1", "Trädgård")]
    assert (turn.role, turn.speaker, turn.text, turn.blocks) == (Role.USER, "user", "När sår man dill?", ())
    assert turn.said_at == datetime(2026, 2, 3, 10, 0, 0, 123456, tzinfo=UTC)
    assert (turn.source.name, turn.source.native_id) == ("claude", "m1")
    assert json.loads(turn.source.raw) == said


def test_a_time_that_ends_in_z_is_understood(made: Made, import_all: ImportAll) -> None:
    said = message("m1", "human", "Hej", created_at="2026-02-03T10:00:00Z")
    (turn,) = import_all(made("conversations.json", [talk(said)])).turns
    assert turn.said_at == datetime(2026, 2, 3, 10, tzinfo=UTC)


def test_a_text_that_is_null_costs_only_itself(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("conversations.json", [talk(message("m1", "assistant", None, "I maj."))]))
    assert found.texts == ["I maj."]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"text": "Bara här", "content": []}, "Bara här"),
        ({"text": "Bara här", "content": [{"type": "text", "text": None}]}, "Bara här"),
        ({"text": "", "content": [{"type": "text", "text": "Bara där"}]}, "Bara där"),
        ({"text": "This block is not supported", "content": [{"type": "text", "text": "Riktigt"}]}, "Riktigt"),
    ],
)
def test_the_words_are_found_in_either_field(
    made: Made, import_all: ImportAll, fields: dict[str, Any], text: str
) -> None:
    said = {**message("m1", "human"), **fields}
    assert import_all(made("conversations.json", [talk(said)])).texts == [text]


def test_a_pasted_text_is_what_the_person_said(made: Made, import_all: ImportAll) -> None:
    pasted = {"file_name": "", "file_type": "txt", "file_size": 9, "extracted_content": "Rad ett\nRad två\n"}
    found = import_all(made("conversations.json", [talk(message("m1", "human", attachments=[pasted]))]))
    (turn,) = found.turns
    assert (turn.text, turn.recalled, turn.source.native_id) == ("Rad ett\nRad två\n", True, "m1#attachment1")
    assert turn.blocks == (Block("attachment", {"file_name": "", "file_type": "txt", "file_size": 9}),)


def test_a_named_file_is_found_by_name_and_its_text_is_kept_out_of_recall(made: Made, import_all: ImportAll) -> None:
    shared = {"file_name": "hyra.pdf", "file_type": "pdf", "file_size": 9, "extracted_content": "Hyran är 9000."}
    said = message(
        "m1", "human", "Läs detta", attachments=[shared], files=[{"file_kind": "image", "file_name": "a.png"}]
    )
    text_of_file, words = import_all(made("conversations.json", [talk(said)])).turns
    assert (text_of_file.text, text_of_file.recalled) == ("Hyran är 9000.", False)
    assert (words.text, words.recalled) == ("Läs detta", True)
    assert [(block.kind, block.caption) for block in words.blocks] == [("attachment", "hyra.pdf"), ("image", "a.png")]
    assert "9000" not in words.source.raw
    assert text_of_file.ordinal < words.ordinal


def test_thinking_and_tools_are_blocks_that_recall_does_not_read(made: Made, import_all: ImportAll) -> None:
    content = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "tool_use", "id": "x", "name": "search", "input": {"q": "dill"}},
        {"type": "tool_result", "tool_use_id": "x", "content": [{"type": "text", "text": "maj"}], "is_error": False},
        {"type": "text", "text": "I maj."},
        {"type": "token_budget", "left": 3},
    ]
    (turn,) = import_all(made("conversations.json", [talk(message("m1", "assistant", content=content))])).turns
    assert (turn.text, turn.searchable, turn.role) == ("I maj.", "I maj.", Role.ASSISTANT)
    assert [block.kind for block in turn.blocks] == ["thinking", "tool_call", "tool_result", "token_budget"]
    only_tools = talk(message("m1", "assistant", content=content[:3]))
    (turn,) = import_all(made("conversations.json", [only_tools])).turns
    assert (turn.text, turn.recalled) == ("", False)


def test_of_branches_the_one_that_was_shown_last_is_the_talk(made: Made, import_all: ImportAll) -> None:
    path = made(
        "conversations.json",
        [
            talk(
                message("m1", "human", "Hej", parent_message_uuid=ROOT),
                message("m2", "assistant", "Första svaret", parent_message_uuid="m1"),
                message("m3", "human", "Tack", parent_message_uuid="m2"),
                message("m4", "assistant", "Andra svaret", parent_message_uuid="m1", created_at="2026-02-03T11:00:00Z"),
            )
        ],
    )
    found = import_all(path)
    assert found.texts == ["Hej", "Andra svaret"]
    assert found.skipped == {"not on the active branch": 2}
    assert found.withheld == ["m2", "m3"]
    everything = import_all(path, branches="all")
    assert [(turn.text, turn.recalled) for turn in everything.turns] == [
        ("Hej", True),
        ("Andra svaret", True),
        ("Första svaret", False),
        ("Tack", False),
    ]
    assert everything.turns[-1].session_id == "c1/other branches"


def test_one_bad_conversation_and_records_of_a_new_kind_do_not_lose_the_file(made: Made, import_all: ImportAll) -> None:
    bad = talk(
        message("m1", "human", "Hej"), uuid="c2", chat_messages=[7, {"uuid": ["?"]}, message("m2", "human", "Kvar")]
    )
    found = import_all(
        made("conversations.json", [{"uuid": "new", "kind": "canvas"}, bad, talk(message("m1", "human", "Hej"))])
    )
    assert found.texts == ["Kvar", "Hej"]
    assert found.skipped == {"not a conversation": 1, "no role": 2}


def test_the_lists_beside_the_conversations_are_named_and_not_read(made: Made, import_all: ImportAll) -> None:
    path = made("export.zip", b"")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([talk(message("m1", "human", "Hej"))]))
        archive.writestr("projects.json", json.dumps([{"uuid": "p", "name": "Bok", "docs": []}]))
        archive.writestr("users.json", json.dumps([{"uuid": "a", "full_name": "Ada Ek"}]))
    found = import_all(path)
    assert found.texts == ["Hej"]
    assert [(Path(unread.file).name, unread.reason) for unread in found.report.unread] == [
        ("projects.json", "part of an export, holds no talk"),
        ("users.json", "part of an export, holds no talk"),
    ]


TEXTS = st.text(min_size=1).filter(str.strip)
TALKS = st.lists(
    st.lists(st.tuples(st.sampled_from(["human", "assistant"]), TEXTS), min_size=1, max_size=4), max_size=3
)


def written(talks: list[list[tuple[str, str]]]) -> str:
    """Write conversations as Claude.ai exports them."""
    exported = [
        talk(
            *(message(f"m{at}", sender, text, text=text) for at, (sender, text) in enumerate(said)),
            uuid=f"c{number}",
        )
        for number, said in enumerate(talks)
    ]
    return json.dumps(exported, ensure_ascii=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(talks=TALKS.filter(bool))
def test_what_was_said_comes_back_code_point_by_code_point(
    made: Made, import_all: ImportAll, talks: list[list[tuple[str, str]]]
) -> None:
    found = import_all(made("conversations.json", written(talks)))
    assert [(turn.conversation_id, turn.role.value, turn.text) for turn in found.turns] == [
        (f"c{number}", {"human": "user"}.get(sender, sender), text)
        for number, said in enumerate(talks)
        for sender, text in said
    ]


def test_a_talk_of_ten_thousand_messages_stays_in_recall(made: Made, import_all: ImportAll) -> None:
    said = [message(f"m{number}", "human", "Hej") for number in range(10_002)]
    turns = import_all(made("conversations.json", [talk(*said)])).turns
    assert len(turns) == 10_002
    assert all(turn.recalled for turn in turns)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2026-02-03T10:00:00Z", "2026-02-03T10:00:00.002Z"),
        ("2026-02-03T11:00:00+02:00", "2026-02-03T10:00:00Z"),
        (None, "2026-02-03T10:00:00Z"),
        ("2026-02-03T10:00:00Z", "2026-02-03T10:00:00.000Z"),
    ],
)
def test_which_branch_was_written_last_is_told_by_instants_not_by_letters(
    made: Made, import_all: ImportAll, first: str | None, second: str
) -> None:
    asked = message("m1", "human", "Hej", parent_message_uuid=ROOT)
    answers = [
        message("m2", "assistant", "Första svaret", parent_message_uuid="m1", created_at=first),
        message("m3", "assistant", "Andra svaret", parent_message_uuid="m1", created_at=second),
    ]
    assert import_all(made("conversations.json", [talk(asked, *answers)])).texts == ["Hej", "Andra svaret"]


def test_a_message_that_the_export_lost_takes_nothing_along(made: Made, import_all: ImportAll) -> None:
    found = import_all(
        made(
            "conversations.json",
            [
                talk(
                    message("m0", "human", "Hallå", parent_message_uuid=ROOT),
                    message("m1", "human", "Hej", parent_message_uuid=ROOT, created_at="2026-02-03T10:01:00Z"),
                    message("m3", "human", "Tack", parent_message_uuid="lost", created_at="2026-02-03T10:03:00Z"),
                    message("m4", "assistant", "Så lite", parent_message_uuid="m3", created_at="2026-02-03T10:04:00Z"),
                )
            ],
        )
    )
    assert found.texts == ["Hej", "Tack", "Så lite"]
    assert found.withheld == ["m0"]
