"""Claude Code's sessions: a line a turn, machines out of recall, and a file that is still being written."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.turns import Conversation, Role

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]


def line(uuid: str, role: str, content: Any, *, parent: str | None = None, **more: Any) -> dict[str, Any]:
    said = {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "timestamp": "2026-03-01T08:00:00.5Z"}
    message_id = more.pop("message_id", None)
    message = {"role": role, "content": content} | ({"id": message_id} if message_id else {})
    return {**said, "cwd": "/home/ada/garden", "isSidechain": False, "message": message, **more}


def lines(*records: Any) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def test_raw_line_separators_within_a_line_are_part_of_the_words(made: Made, import_all: ImportAll) -> None:
    text = "first\u2028second\u0085third"
    path = made(
        "s.jsonl",
        '{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"' + text + '"}}\n'
        '{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"role":"assistant",'
        '"content":[{"type":"text","text":"ok"}]}}\n',
    )
    found = import_all(path)
    assert found.texts == [text, "ok"]
    assert len(found.texts[0]) == 18
    assert found.skipped == {}


def test_a_turn_has_the_session_the_time_and_the_whole_line(made: Made, import_all: ImportAll) -> None:
    said = line("u1", "user", [{"type": "text", "text": "Rita en plan"}])
    (turn,) = import_all(made("anything.jsonl", lines(said))).turns
    assert (turn.conversation_id, turn.session_id, turn.role, turn.text) == ("s1", "s1", Role.USER, "Rita en plan")
    assert turn.said_at == datetime(2026, 3, 1, 8, 0, 0, 500_000, tzinfo=UTC)
    assert json.loads(turn.source.raw) == said


def test_human_text_in_a_list_of_blocks_is_not_lost(made: Made, import_all: ImportAll) -> None:
    blocks = [{"type": "text", "text": "Ett"}, {"type": "text", "text": "Två"}]
    (turn,) = import_all(made("s.jsonl", lines(line("u1", "user", blocks)))).turns
    assert (turn.text, turn.recalled) == ("Ett\n\nTvå", True)


def test_lines_of_one_answer_stay_in_order_and_a_block_written_twice_is_kept_once(
    made: Made, import_all: ImportAll
) -> None:
    thinking = {"type": "thinking", "thinking": "Hm", "signature": "x"}
    words = {"type": "text", "text": "Klart."}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    found = import_all(
        made(
            "s.jsonl",
            lines(
                line("a1", "assistant", [thinking], message_id="msg1"),
                line("a2", "assistant", [thinking, words], message_id="msg1"),
                line("a3", "assistant", [call], message_id="msg1"),
                line("a2", "assistant", [thinking, words], message_id="msg1"),
            ),
        )
    )
    assert [(turn.text, turn.recalled, [block.kind for block in turn.blocks]) for turn in found.turns] == [
        ("", False, ["thinking"]),
        ("Klart.", True, []),
        ("", False, ["tool_call"]),
    ]
    assert found.skipped == {"a line written twice": 1}


def test_a_tools_answer_in_a_user_line_is_the_tools(made: Made, import_all: ImportAll) -> None:
    call = line("a1", "assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}])
    answer = [{"type": "tool_result", "tool_use_id": "t1", "content": "a.txt", "is_error": False}]
    mixed = [*answer, {"type": "text", "text": "Fortsätt"}]
    path = made(
        "s.jsonl", lines(call, line("u1", "user", answer, toolUseResult={"stdout": "a.txt"}), line("u2", "user", mixed))
    )
    turns = import_all(path).turns[1:]
    assert [(turn.role, turn.speaker, turn.text, turn.recalled) for turn in turns] == [
        (Role.TOOL, "Bash", "a.txt", False),
        (Role.TOOL, "Bash", "a.txt", False),
        (Role.USER, "user", "Fortsätt", True),
    ]
    assert [turn.source.native_id for turn in turns] == ["u1#tool", "u2#tool", "u2"]
    assert "a.txt" not in turns[2].source.raw


def test_what_the_program_says_in_the_persons_name_is_out_of_recall(made: Made, import_all: ImportAll) -> None:
    found = import_all(
        made(
            "s.jsonl",
            lines(
                line("u1", "user", "Caveat: generated", isMeta=True),
                line("u2", "user", "<command-name>/clear</command-name>"),
                line("u3", "user", "This session is being continued", isCompactSummary=True),
                line("u4", "user", "Hitta alla filer", isSidechain=True, agentId="b7"),
                line("u5", "user", "Bygg ett staket"),
            ),
        )
    )
    assert [turn.recalled for turn in found.turns] == [False, False, False, False, True]
    assert found.turns[3].session_id == "s1/agent b7"


@pytest.mark.parametrize(
    "record",
    [
        line("a1", "assistant", [{"type": "text", "text": "API Error: 529 Overloaded"}], isApiErrorMessage=True),
        line("u1", "user", [{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
        line("u1", "user", "<local-command-stderr>no such file</local-command-stderr>"),
        line("u1", "user", "<bash-stderr>no such file</bash-stderr>"),
        {**line("a1", "assistant", ""), "message": {"role": "assistant", "model": "<synthetic>", "content": "Limit"}},
    ],
)
def test_what_the_program_says_in_anybodys_place_is_out_of_recall(
    made: Made, import_all: ImportAll, record: dict[str, Any]
) -> None:
    (turn,) = import_all(made("s.jsonl", lines(record))).turns
    assert not turn.recalled


def test_a_message_after_an_interruption_takes_nothing_back(made: Made, import_all: ImportAll) -> None:
    found = import_all(
        made(
            "s.jsonl",
            lines(
                line("u1", "user", "Bygg ett staket"),
                line("u2", "user", "[Request interrupted by user]", parent="u1"),
                line("u3", "user", "Av trä", parent="u1"),
            ),
        )
    )
    assert [turn.text for turn in found.turns if turn.recalled] == ["Bygg ett staket", "Av trä"]
    assert found.withheld == []


def test_records_that_are_no_messages_are_counted_and_a_summary_is_the_title(made: Made, import_all: ImportAll) -> None:
    found = import_all(
        made(
            "s.jsonl",
            lines(
                {"type": "summary", "summary": "Staketet", "leafUuid": "u9"},
                {"type": "file-history-snapshot", "messageId": "x"},
                line("u1", "user", "Bygg"),
                {"type": "system", "uuid": "y", "sessionId": "s1", "content": "hook"},
            ),
        )
    )
    assert found.conversations == [Conversation("s1", "Staketet")]
    assert found.skipped == {
        "no message but 'summary'": 1,
        "no message but 'file-history-snapshot'": 1,
        "no message but 'system'": 1,
    }


def test_a_parent_never_written_a_broken_line_and_a_half_written_last_one_cost_only_themselves(
    made: Made, import_all: ImportAll
) -> None:
    text = lines(line("u1", "user", "Ett", parent="gone")) + '{"type": "user", oj}\n' + lines(line("u2", "user", "Två"))
    found = import_all(made("s.jsonl", text + '{"type": "user", "uuid": "u3", "mess'))
    assert found.texts == ["Ett", "Två"]
    assert found.skipped == {"a line of broken JSON": 1, "unfinished last line": 1}


def test_what_was_taken_back_is_an_abandoned_branch(made: Made, import_all: ImportAll) -> None:
    path = made(
        "s.jsonl",
        lines(
            line("u1", "user", "Hej"),
            line("a1", "assistant", "Hej!", parent="u1"),
            line("u2", "user", "Måla blått", parent="a1"),
            line("a2", "assistant", "Blått blir det.", parent="u2"),
            line("u3", "user", "Måla rött", parent="a1"),
            line("a3", "assistant", "Rött blir det.", parent="u3"),
        ),
    )
    found = import_all(path)
    assert found.texts == ["Hej", "Hej!", "Måla rött", "Rött blir det."]
    assert found.skipped == {"taken back, not on the active branch": 2}
    assert found.withheld == ["u2", "a2"]
    everything = import_all(path, branches="all")
    assert [turn.text for turn in everything.turns if not turn.recalled] == ["Måla blått", "Blått blir det."]


def test_a_file_of_several_sessions_is_several_talks(made: Made, import_all: ImportAll) -> None:
    """Files may have been put together, and Claude Code itself has written lines into another session's file."""
    path = made(
        "s.jsonl",
        lines(
            line("u1", "user", "Rita en plan"),
            line("v1", "user", "Och boken?", sessionId="s2"),
            line("a1", "assistant", [{"type": "text", "text": "Här är den"}], parent="u1"),
            line("b1", "assistant", [{"type": "text", "text": "Den är slut"}], parent="v1", sessionId="s2"),
            {"type": "summary", "summary": "Boken", "leafUuid": "b1", "sessionId": "s2"},
        ),
    )
    found = import_all(path)
    assert [(turn.conversation_id, turn.ordinal, turn.text) for turn in found.turns] == [
        ("s1", 0, "Rita en plan"),
        ("s2", 0, "Och boken?"),
        ("s1", 1, "Här är den"),
        ("s2", 1, "Den är slut"),
    ]
    assert found.conversations == [Conversation("s2", "Boken")]


def test_a_session_that_was_resumed_under_another_id_goes_on(made: Made, import_all: ImportAll) -> None:
    resumed = [
        line("u2", "user", "Tack", parent="a1", sessionId="s2"),
        line("u3", "user", "Hej då", sessionId="s2", parent="u2"),
    ]
    said = [line("u1", "user", "Hej"), line("a1", "assistant", [{"type": "text", "text": "Hej hej"}], parent="u1")]
    found = import_all(made("s.jsonl", lines(*said, *resumed)))
    assert [(turn.conversation_id, turn.text) for turn in found.turns] == [
        ("s1", text) for text in ("Hej", "Hej hej", "Tack", "Hej då")
    ]


def test_the_bytes_of_an_image_are_not_stored_its_type_and_length_are(made: Made, import_all: ImportAll) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 9}}
    (turn,) = import_all(made("s.jsonl", lines(line("u1", "user", [image, {"type": "text", "text": "Se"}])))).turns
    assert (turn.blocks[0].kind, turn.blocks[0].data["source"]["data"]) == (
        "image",
        "data:image/png;base64,[36 characters, not stored]",
    )
    assert "QUJD" not in turn.source.raw


SAID = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(min_size=1)), min_size=1, max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=SAID, as_blocks=st.booleans())
def test_what_was_said_comes_back_code_point_by_code_point(
    made: Made, import_all: ImportAll, said: list[tuple[str, str]], as_blocks: bool
) -> None:
    records = [
        line(f"u{at}", role, [{"type": "text", "text": text}] if as_blocks else text)
        for at, (role, text) in enumerate(said)
    ]
    found = import_all(made("s.jsonl", lines(*records).encode("utf-8")))
    assert [(turn.role.value, turn.text) for turn in found.turns] == said


def test_a_line_is_kept_as_it_is_written_unless_letters_are_hidden_in_it(made: Made, import_all: ImportAll) -> None:
    plain = json.dumps(line("u1", "user", "Rita en plan"), separators=(",", ":"))
    escaped = json.dumps(line("u2", "user", "Måla om https://example.com", parent="u1")).replace("/", "\\/")
    turns = import_all(made("s.jsonl", f"  {plain}\r\n{escaped}\n")).turns

    assert turns[0].source.raw == plain
    assert turns[1].text == "Måla om https://example.com"
    assert turns[1].text in turns[1].source.raw
