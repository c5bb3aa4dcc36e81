"""OpenAI messages: any of their shapes, tool calls kept, files in base64 left out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.importers import ImportOptions
from memory_rag.importers.openai_messages import OpenAIMessagesImporter
from memory_rag.importers.source import SourceFile
from memory_rag.turns import Block, Conversation, Role, Turn

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]

SYSTEM = {"role": "system", "content": "You are brief."}
ASK = {"role": "user", "content": "Vad kostar den?"}
ANSWER = {"role": "assistant", "content": "49 euro."}
CALL = {"id": "call_1", "type": "function", "function": {"name": "price", "arguments": '{"of": "it"}'}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "49"}


def lines(*values: Any) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


@pytest.mark.parametrize(
    ("content", "n_conversations"),
    [
        ([SYSTEM, ASK, ANSWER], 1),
        ({"messages": [SYSTEM, ASK, ANSWER]}, 1),
        ([{"messages": [SYSTEM, ASK, ANSWER]}, {"messages": [ASK]}], 2),
        ([[SYSTEM, ASK, ANSWER], [ASK]], 2),
        (lines({"messages": [SYSTEM, ASK, ANSWER]}, {"messages": [ASK]}), 2),
        (lines({"messages": [SYSTEM, ASK, ANSWER]}), 1),
        (lines(SYSTEM, ASK, ANSWER), 1),
    ],
)
def test_every_shape_gives_the_same_turns(
    made: Made, import_all: ImportAll, content: Any, n_conversations: int
) -> None:
    found = import_all(made("chat.json", content))
    assert found.texts[:3] == ["You are brief.", "Vad kostar den?", "49 euro."]
    assert [turn.role for turn in found.turns[:3]] == [Role.SYSTEM, Role.USER, Role.ASSISTANT]
    assert len(found.conversations) == n_conversations
    assert found.keys[:3] == import_all(made("other.json", [SYSTEM, ASK, ANSWER])).keys
    assert all(turn.said_at is None and turn.said_at_text is None for turn in found.turns)
    assert [turn.ordinal for turn in found.turns[:3]] == [0, 1, 2]


def test_ids_titles_and_times_are_taken_where_they_are_given(made: Made, import_all: ImportAll) -> None:
    found = import_all(
        made(
            "chat.json",
            {
                "id": "c-1",
                "title": "Priser",
                "messages": [
                    ASK | {"id": "m-1", "timestamp": "2025-11-30T13:00:00+01:00"},
                    ANSWER | {"id": "m-2", "created": 1764504001, "name": "Robo"},
                    ASK | {"created_at": "in a while"},
                ],
            },
        )
    )
    assert found.conversations == [Conversation("c-1", "Priser")]
    assert found.keys[:2] == [("openai", "c-1", "m-1"), ("openai", "c-1", "m-2")]
    assert [turn.said_at for turn in found.turns] == [
        datetime(2025, 11, 30, 12, tzinfo=UTC),
        datetime(2025, 11, 30, 12, 0, 1, tzinfo=UTC),
        None,
    ]
    assert [turn.said_at_text for turn in found.turns] == [
        "2025-11-30T13:00:00+01:00",
        "1764504001",
        "in a while",
    ]
    assert [turn.speaker for turn in found.turns] == ["user", "Robo", "user"]
    assert found.noted == {"time not understood": 1}


def test_bare_messages_belong_to_the_conversation_they_name(made: Made, import_all: ImportAll) -> None:
    found = import_all(
        made(
            "log.jsonl",
            lines(
                ASK | {"conversation_id": "b"},
                ASK | {"conversation_id": "a"},
                ANSWER | {"conversation_id": "b"},
            ),
        )
    )
    assert [(turn.conversation_id, turn.ordinal, turn.text) for turn in found.turns] == [
        ("b", 0, "Vad kostar den?"),
        ("a", 0, "Vad kostar den?"),
        ("b", 1, "49 euro."),
    ]
    assert [talk.conversation_id for talk in found.conversations] == ["b", "a"]


def test_bare_messages_are_given_while_they_are_read() -> None:
    content = lines(ANSWER, ASK, *[ANSWER, ASK] * 500).encode()
    opened: list[io.BytesIO] = []

    def opener() -> io.BytesIO:
        opened.append(io.BytesIO(content))
        return opened[-1]

    source = SourceFile("f", PurePath("f.jsonl"), len(content), opener)
    turns = (item for item in OpenAIMessagesImporter().read(source, ImportOptions()) if isinstance(item, Turn))
    assert [next(turns).text, next(turns).text] == ["49 euro.", "Vad kostar den?"]
    assert opened[-1].tell() == len(lines(ANSWER, ASK).encode())
    assert len(list(turns)) == 1000


def test_tool_calls_are_blocks_and_tool_traffic_is_not_recalled(made: Made, import_all: ImportAll) -> None:
    speaking = {"role": "assistant", "content": "Let me look.", "tool_calls": [CALL]}
    found = import_all(made("chat.json", [ASK, CALLING, RESULT, speaking, ANSWER]))
    calling, result, spoken = found.turns[1:4]
    assert (calling.text, calling.blocks, calling.recalled) == ("", (Block("tool_call", CALL),), False)
    assert (result.role, result.text, result.speaker) == (Role.TOOL, "49", "price")
    assert (result.blocks, result.recalled) == ((Block("tool_result", {"tool_call_id": "call_1"}),), False)
    assert (spoken.text, spoken.blocks, spoken.recalled) == (
        "Let me look.",
        (Block("tool_call", CALL),),
        True,
    )
    assert [turn.recalled for turn in found.turns] == [True, False, False, True, True]
    assert json.loads(calling.source.raw) == CALLING


def test_the_older_function_calls_are_kept_as_well(made: Made, import_all: ImportAll) -> None:
    call = {"name": "price", "arguments": "{}"}
    answer = {"role": "function", "name": "price", "content": "49"}
    found = import_all(made("chat.json", [ASK, {"role": "assistant", "content": None, "function_call": call}, answer]))
    assert (found.turns[1].blocks, found.turns[1].recalled) == ((Block("tool_call", call),), False)
    assert (found.turns[2].role, found.turns[2].speaker) == (Role.TOOL, "price")
    assert (found.turns[2].blocks, found.turns[2].recalled) == (
        (Block("tool_result", {"name": "price"}),),
        False,
    )


def test_one_text_part_is_the_text_and_several_are_joined_and_kept_as_blocks(made: Made, import_all: ImportAll) -> None:
    one = {"type": "text", "text": " a\nb "}
    two = {"type": "text", "text": "c"}
    found = import_all(made("chat.json", [{"role": "user", "content": [one]}, {"role": "user", "content": [one, two]}]))
    assert found.texts == [" a\nb ", " a\nb \n\nc"]
    assert found.turns[0].blocks == ()
    assert found.turns[1].blocks == (Block("text", one), Block("text", two))


def test_parts_that_are_no_text_are_kept_as_blocks(made: Made, import_all: ImportAll) -> None:
    linked = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
    odd = {"type": "hologram", "of": "a cat"}
    refusal = {"type": "refusal", "refusal": "I would rather not."}
    found = import_all(
        made(
            "chat.json",
            [
                {"role": "user", "content": [{"type": "text", "text": "Look"}, linked, odd, 7]},
                {"role": "assistant", "content": [refusal]},
                {"role": "assistant", "content": None, "refusal": "No."},
            ],
        )
    )
    assert found.turns[0].text == "Look"
    assert found.turns[0].blocks == (
        Block("image", linked),
        Block("hologram", odd),
        Block("unknown", {"value": 7}),
    )
    assert found.turns[1].blocks == (Block("refusal", refusal, "I would rather not."),)
    assert found.turns[2].searchable == " [shared refusal: No.]"
    assert [turn.recalled for turn in found.turns] == [True, True, True]


def test_files_in_base64_leave_their_kind_type_and_length(made: Made, import_all: ImportAll) -> None:
    body = "QUJD" * 100
    content = [
        {"type": "text", "text": f"data:image/png;base64,{body[:8]} is how it starts"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{body}", "detail": "low"}},
        {"type": "input_audio", "input_audio": {"data": body, "format": "wav"}},
        {
            "type": "file",
            "file": {"filename": "plan.pdf", "file_data": f"data:application/pdf;base64,{body}"},
        },
    ]
    (turn,) = import_all(made("chat.json", [{"role": "user", "content": content}])).turns
    assert turn.text == f"data:image/png;base64,{body[:8]} is how it starts"
    image, audio, file = turn.blocks
    assert image == Block(
        "image",
        {
            "type": "image_url",
            "image_url": {"url": "data:image/png;base64,[400 characters, not stored]", "detail": "low"},
            "mime_type": "image/png",
            "length": 400,
        },
    )
    assert (audio.kind, audio.data["mime_type"], audio.data["length"]) == ("audio", "audio/wav", 400)
    assert (file.kind, file.caption, file.data["mime_type"]) == ("attachment", "plan.pdf", "application/pdf")
    assert body not in turn.source.raw
    assert json.loads(turn.source.raw)["content"][0] == content[0]
    assert body not in json.dumps([dict(block.data) for block in turn.blocks])


def test_what_an_answer_says_aloud_is_its_text(made: Made, import_all: ImportAll) -> None:
    audio = {"id": "a", "expires_at": 1, "data": "QUJD" * 100, "transcript": "Forty-nine."}
    found = import_all(made("chat.json", [ASK, {"role": "assistant", "content": None, "audio": audio}]))
    assert found.texts == ["Vad kostar den?", "Forty-nine."]
    assert found.turns[1].blocks[0].data["length"] == 400


def test_a_message_that_cannot_be_stored_is_counted_and_the_rest_is_kept(made: Made, import_all: ImportAll) -> None:
    found = import_all(
        made(
            "chat.json",
            [
                ASK,
                {"role": "narrator", "content": "x"},
                None,
                {"content": "x"},
                {"role": "user", "content": ""},
                {"role": "assistant", "content": []},
                ANSWER,
            ],
        )
    )
    assert found.texts == ["Vad kostar den?", "49 euro."]
    assert [turn.ordinal for turn in found.turns] == [0, 4]
    assert found.skipped == {
        "unknown role 'narrator'": 1,
        "neither a message nor a conversation": 2,
        "nothing said": 2,
    }


def test_a_line_that_is_no_conversation_or_breaks_off_is_counted(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("log.jsonl", lines({"messages": [ASK]}, {"note": 1}) + '{"messages": ['))
    assert found.skipped == {"neither a message nor a conversation": 1, "unfinished last line": 1}
    assert found.texts == ["Vad kostar den?"]


def test_developer_is_a_system_role(made: Made, import_all: ImportAll) -> None:
    assert import_all(made("chat.json", [SYSTEM | {"role": "developer"}, ASK])).turns[0].role is Role.SYSTEM


def test_keys_stay_when_the_file_is_renamed_and_grows(made: Made, import_all: ImportAll) -> None:
    first, second = [SYSTEM, ASK, ANSWER, ASK], [SYSTEM, ASK]
    before = import_all(made("log.jsonl", lines({"messages": first}, {"messages": second})))
    grown = import_all(
        made(
            "moved/renamed.jsonl",
            lines({"messages": first}, {"messages": [*second, ANSWER]}, {"messages": [SYSTEM, ASK]}),
        )
    )
    assert len(set(grown.keys)) == 9
    assert grown.keys[:6] == before.keys
    assert [*dict.fromkeys(turn.conversation_id for turn in before.turns)] == [
        before.turns[0].conversation_id,
        before.turns[0].conversation_id + "#2",
    ]


def test_a_shared_system_prompt_does_not_merge_conversations(made: Made, import_all: ImportAll) -> None:
    one = import_all(made("one.json", [SYSTEM, ASK]))
    other = import_all(made("other.json", [SYSTEM, {"role": "user", "content": "Hej"}]))
    assert not set(one.keys) & set(other.keys)


def test_ids_that_come_twice_lose_no_turn(made: Made, import_all: ImportAll) -> None:
    talk = {"id": "c", "messages": [ASK | {"id": "m"}, ANSWER | {"id": "m"}]}
    found = import_all(made("chats.json", [talk, talk]))
    assert len(set(found.keys)) == 4
    assert found.noted == {"message id repeated, numbered": 2, "conversation id repeated, numbered": 1}


SAID = st.lists(
    st.tuples(st.sampled_from(["system", "user", "assistant"]), st.text(min_size=1)), min_size=1, max_size=5
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(talks=st.lists(SAID, min_size=1, max_size=3), as_lines=st.booleans(), in_parts=st.booleans())
def test_what_was_said_comes_back_code_point_by_code_point(
    made: Made, import_all: ImportAll, talks: list[list[tuple[str, str]]], as_lines: bool, in_parts: bool
) -> None:
    written = [
        {
            "id": f"c{number}",
            "messages": [
                {"role": role, "content": [{"type": "text", "text": text}] if in_parts else text} for role, text in said
            ],
        }
        for number, said in enumerate(talks)
    ]
    found = import_all(made("talks.json", lines(*written) if as_lines else written))
    assert [(turn.conversation_id, turn.role.value, turn.text) for turn in found.turns] == [
        (f"c{number}", role, text) for number, said in enumerate(talks) for role, text in said
    ]
