"""ChatGPT's export: the branch that was shown, every kind of content, and a count of what is left out."""

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

from memory_rag.turns import Block, Conversation, Role, Source
from tests.importers.named_fruit import NAMED_FRUIT

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]


def message(role: str, content: Any, **more: Any) -> dict[str, Any]:
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    return {"author": {"role": role}, "content": content, **more}


def chain(*messages: Any, **fields: Any) -> dict[str, Any]:
    """A conversation without branches; nodes are n0 (without message), n1, ..."""
    mapping = {
        f"n{at}": {"id": f"n{at}", "parent": f"n{at - 1}" if at else None, "message": said}
        for at, said in enumerate([None, *messages])
    }
    return {"id": "c1", "title": "Frukt", "current_node": f"n{len(messages)}", "mapping": mapping} | fields


def test_a_hidden_node_an_abandoned_branch_and_missing_times(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("conversations.json", NAMED_FRUIT))
    assert [(turn.source.native_id, turn.text) for turn in found.turns] == [
        ("n1", "Name a red fruit"),
        ("n3", "Cherry"),
        ("n4", "Why?"),
    ]
    assert [turn.said_at for turn in found.turns] == [
        datetime(2025, 11, 30, 0, 0, 0, 250_000, tzinfo=UTC),
        None,
        datetime(2025, 11, 30, 0, 0, 10, tzinfo=UTC),
    ]
    assert [turn.said_at_text for turn in found.turns] == ["1764460800.25", None, "1764460810"]
    assert [turn.title for turn in found.conversations] == ["t"]
    assert len({turn.conversation_id for turn in found.turns}) == 1
    assert found.skipped == {"hidden from the conversation": 1, "not on the active branch": 1}
    assert found.noted == {}
    assert [turn.ordinal for turn in found.turns] == [0, 2, 3]


def test_a_turn_holds_all_that_the_export_says_of_it(made: Made, import_all: ImportAll) -> None:
    said = message("assistant", "Körsbär", create_time=1764460800.5)
    found = import_all(made("conversations.json", [chain(said, conversation_id="c9")]))
    (turn,) = found.turns
    assert found.conversations == [Conversation("c9", "Frukt")]
    assert (turn.conversation_id, turn.session_id, turn.role) == ("c9", "c9", Role.ASSISTANT)
    assert (turn.speaker, turn.text, turn.recalled, turn.blocks) == ("assistant", "Körsbär", True, ())
    assert turn.source == Source("chatgpt", "n1", json.dumps(said, ensure_ascii=False))


@pytest.mark.parametrize("current_node", [None, "gone", 7])
def test_without_a_current_node_the_newest_leaf_is_taken(made: Made, import_all: ImportAll, current_node: Any) -> None:
    talk = json.loads(NAMED_FRUIT)
    talk[0]["current_node"] = current_node
    talk[0]["mapping"]["n3x"]["message"]["create_time"] = float("nan")
    found = import_all(made("conversations.json", talk))
    assert found.texts == ["Name a red fruit", "Cherry", "Why?"]
    assert found.noted == {"current_node missing, newest leaf taken": 1}
    talk[0]["mapping"]["n3x"]["message"]["create_time"] = 1764460999
    assert import_all(made("conversations.json", talk)).texts == ["Name a red fruit", "Apple"]


def test_a_cycle_ends_where_it_closes(made: Made, import_all: ImportAll) -> None:
    talk = chain(message("user", "a"), message("assistant", "b"), message("user", "c"))
    talk["mapping"]["n1"]["parent"] = "n3"
    for current_node, texts in (("n3", ["a", "b", "c"]), (None, ["a", "b", "c"])):
        talk["current_node"] = current_node
        found = import_all(made("conversations.json", [talk]))
        assert found.texts == texts
        assert found.noted["the messages' tree has a cycle, cut where it closes"] == 1


def test_a_parent_that_is_gone_takes_nothing_along_and_one_that_is_not_named_is_found(
    made: Made, import_all: ImportAll
) -> None:
    talk = chain(message("user", "a"), message("assistant", "b"), message("user", "c"))
    talk["mapping"]["n2"]["parent"] = "gone"
    found = import_all(made("conversations.json", [talk]))
    assert (found.texts, found.skipped) == (["a", "b", "c"], {})
    assert found.noted["a message's parent missing, what was written before it taken"] == 1
    talk["mapping"]["n1"]["children"] = ["n2"]
    found = import_all(made("conversations.json", [talk]))
    assert (found.texts, found.noted) == (["a", "b", "c"], {})


def test_over_a_gap_the_times_count_where_the_file_is_in_no_order(made: Made, import_all: ImportAll) -> None:
    talk = chain(*(message("user", text, create_time=1764460800 + at) for at, text in enumerate("abcd")))
    nodes = talk["mapping"]
    del nodes["n3"]
    talk["mapping"] = dict(reversed(nodes.items()))
    assert import_all(made("conversations.json", [talk])).texts == ["a", "b", "d"]


def test_a_thread_of_many_thousand_messages_is_walked_without_recursion(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("conversations.json", [chain(*(message("user", str(n)) for n in range(20_000)))]))
    assert found.texts == [str(n) for n in range(20_000)]


def test_voice_and_images_keep_their_words_and_their_parts(made: Made, import_all: ImportAll) -> None:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://a"}
    drawn = image | {"metadata": {"dalle": {"prompt": "a cat in ink"}}}
    spoken = {"content_type": "audio_transcription", "text": "What is this?", "direction": "in"}
    sound = {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://b"}

    def many(*parts: Any) -> dict[str, Any]:
        return {"content_type": "multimodal_text", "parts": list(parts)}

    found = import_all(
        made(
            "conversations.json",
            [
                chain(
                    message("user", many(image, "Look\nhere")),
                    message("user", many(spoken, sound)),
                    message("assistant", many(drawn)),
                    message("user", many("a", "b")),
                    message("user", many(image)),
                )
            ],
        )
    )
    assert found.texts == ["Look\nhere", "What is this?", "", "a\n\nb", ""]
    assert [turn.blocks for turn in found.turns] == [
        (Block("image", image),),
        (Block("audio", spoken), Block("audio", sound)),
        (Block("image", drawn, "a cat in ink"),),
        (Block("text", {"text": "a"}), Block("text", {"text": "b"})),
        (Block("image", image),),
    ]
    assert [turn.recalled for turn in found.turns] == [True, True, True, True, False]


def test_tool_traffic_thinking_and_unknown_kinds_are_stored_but_not_recalled(made: Made, import_all: ImportAll) -> None:
    code = {"content_type": "code", "language": "python", "text": "print(1)"}
    output = {"content_type": "execution_output", "text": "1\n"}
    thoughts = {
        "content_type": "thoughts",
        "thoughts": [{"summary": "s", "content": "hm"}, {"summary": "so"}],
    }
    recap = {"content_type": "reasoning_recap", "content": "Thought for 5 s"}
    quote = {"content_type": "tether_quote", "url": "https://example.org", "text": "They say"}
    display = {"content_type": "tether_browsing_display", "result": "L0: page"}
    later = {"content_type": "from_the_future", "beams": [1]}
    tool = {"role": "tool", "name": "python"}
    found = import_all(
        made(
            "conversations.json",
            [
                chain(
                    message("user", "Run it"),
                    message("assistant", code, recipient="python"),
                    message("tool", output, author=tool),
                    message("assistant", thoughts),
                    message("assistant", recap),
                    message("tool", quote),
                    message("tool", display),
                    message("assistant", later),
                    message("assistant", code, recipient="all"),
                )
            ],
        )
    )
    assert found.texts == [
        "Run it",
        "print(1)",
        "1\n",
        "hm\n\nso",
        "Thought for 5 s",
        "They say",
        "L0: page",
        "",
        "print(1)",
    ]
    assert [turn.recalled for turn in found.turns] == [True] + [False] * 7 + [True]
    assert found.turns[1].blocks == (
        Block("code", {"language": "python"}),
        Block("tool_call", {"recipient": "python"}),
    )
    assert (found.turns[2].speaker, found.turns[2].blocks) == (
        "python",
        (Block("tool_result", {"name": "python"}),),
    )
    assert found.turns[3].blocks == (Block("thinking", thoughts),)
    assert found.turns[7].blocks == (Block("from_the_future", later),)
    assert json.loads(found.turns[7].source.raw)["content"] == later


def test_custom_instructions_are_hidden_and_empty_messages_are_counted(made: Made, import_all: ImportAll) -> None:
    found = import_all(
        made(
            "conversations.json",
            [
                chain(
                    message("system", ""),
                    message("user", {"content_type": "user_editable_context", "user_profile": "I am Ada"}),
                    message("user", "Hej"),
                    message("assistant", {"content_type": "text"}),
                    message("assistant", {"content_type": "code", "text": ""}),
                    message("assistant", None),
                    message("critic", "Bah"),
                    "not a message",
                    message("assistant", "Hej hej", metadata=None),
                )
            ],
        )
    )
    assert found.texts == ["Hej", "Hej hej"]
    assert found.skipped == {
        "nothing said": 4,
        "hidden from the conversation": 1,
        "unknown role 'critic'": 1,
        "no role": 1,
    }


def test_a_time_that_is_no_number_is_unknown_and_noted(made: Made, import_all: ImportAll) -> None:
    content = json.dumps([chain(message("user", "a", create_time=float("nan")))])
    found = import_all(made("conversations.json", content))
    assert (found.turns[0].text, found.turns[0].said_at, found.turns[0].said_at_text) == ("a", None, "NaN")
    assert found.noted == {"time not finite": 1}


def test_one_bad_conversation_does_not_lose_the_file(made: Made, import_all: ImportAll) -> None:
    good = chain(message("user", "Hej"), title=None)
    found = import_all(made("conversations.json", [None, {"mapping": None}, good, {"mapping": {}}]))
    assert found.texts == ["Hej"]
    assert found.conversations[0] == Conversation("c1", "")
    assert found.skipped == {"not a conversation": 2}


def export(*numbers: int) -> list[dict[str, Any]]:
    return [chain(message("user", f"text {number}"), id=f"c{number}") for number in numbers]


def test_a_zip_its_folder_and_its_file_give_the_same(made: Made, import_all: ImportAll, tmp_path: Path) -> None:
    parts = {"conversations-002.json": export(2), "conversations-010.json": export(10)}
    others = {"user.json": {"id": "u"}, "chat.html": "<html></html>", "a.png": b"\x89PNG\0"}
    others["message_feedback.json"] = [{"id": "f", "rating": "thumbs_up"}]
    for name, content in (parts | others).items():
        made(f"export/{name}", content)
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for path in (tmp_path / "export").iterdir():
            archive.write(path, path.name)
    folder = import_all(tmp_path / "export")
    packed = import_all(tmp_path / "export.zip")
    alone = import_all(made("one/conversations.json", export(2, 10)))
    assert folder.texts == packed.texts == alone.texts == ["text 2", "text 10"]
    assert folder.keys == packed.keys == alone.keys
    assert [Path(unread.file).name for unread in packed.report.unread] == [
        "a.png",
        "chat.html",
        "message_feedback.json",
        "user.json",
    ]
    assert [file.format for file in folder.report.files] == ["chatgpt", "chatgpt"]


def test_keys_stay_when_a_conversation_grows_branches_and_is_renamed(made: Made, import_all: ImportAll) -> None:
    talk = json.loads(NAMED_FRUIT)
    before = import_all(made("conversations.json", talk))
    nodes = talk[0]["mapping"]
    nodes["n5"] = {"parent": "n4", "children": [], "message": message("assistant", "Because.")}
    talk[0] |= {"title": "Red fruit", "current_node": "n5"}
    after = import_all(made("conversations-000.json", talk))
    assert after.keys[:3] == before.keys
    assert after.texts[3:] == ["Because."]


def test_conversations_without_ids_are_kept_apart(made: Made, import_all: ImportAll) -> None:
    twice = import_all(made("conversations.json", json.loads(NAMED_FRUIT) * 2))
    assert len(set(twice.keys)) == 6


def test_abandoned_branches_are_stored_out_of_recall_when_all_are_wanted(made: Made, import_all: ImportAll) -> None:
    path = made("conversations.json", NAMED_FRUIT)
    assert import_all(path).withheld == ["n3x"]
    found = import_all(path, branches="all")
    assert [(turn.text, turn.recalled) for turn in found.turns] == [
        ("Apple", False),
        ("Name a red fruit", True),
        ("Cherry", True),
        ("Why?", True),
    ]
    apple, *shown = found.turns
    assert apple.ordinal > max(turn.ordinal for turn in shown)
    assert apple.session_id.endswith("/other branches")


def test_a_canvas_is_found_by_its_name_and_its_words(made: Made, import_all: ImportAll) -> None:
    written = json.dumps({"name": "Bröd", "type": "document", "content": "Jäs i\ntio timmar."})
    said = message("assistant", written, recipient="canmore.create_textdoc")
    (turn,) = import_all(made("conversations.json", [chain(said)])).turns
    assert (turn.text, turn.recalled) == (written, True)
    assert turn.searchable == " [shared canvas: Bröd\nJäs i\ntio timmar.]"
    broken = message("assistant", "{oj", recipient="canmore.create_textdoc")
    assert [turn.recalled for turn in import_all(made("b.json", [chain(broken)])).turns] == [False]


def test_files_that_came_along_are_found_by_name(made: Made, import_all: ImportAll) -> None:
    listed = [{"id": "f", "name": "hyra.pdf", "mime_type": "application/pdf", "size": 9}]
    said = message("user", "", metadata={"attachments": listed})
    (turn,) = import_all(made("conversations.json", [chain(said)])).turns
    assert (turn.text, turn.recalled, turn.searchable) == ("", True, " [shared attachment: hyra.pdf]")
    assert turn.blocks == (Block("attachment", listed[0], "hyra.pdf"),)


def test_numbered_files_of_a_zip_are_one_export(made: Made, import_all: ImportAll) -> None:
    path = made("export.zip", b"")
    with zipfile.ZipFile(path, "w") as archive:
        for number in (0, 1, 10, 2):
            one = chain(message("user", f"fil {number}"), id=f"c{number}")
            archive.writestr(f"conversations-{number:03}.json", json.dumps([one]))
        archive.writestr("conversations.json.index", "x")
        archive.writestr("user.json", json.dumps({"id": "user-1", "email": "ada@example.org"}))
    found = import_all(path)
    assert found.texts == ["fil 0", "fil 1", "fil 2", "fil 10"]


def test_one_conversation_of_an_unknown_shape_does_not_lose_the_file(made: Made, import_all: ImportAll) -> None:
    odd = chain(message("user", "x"), id="odd", current_node={"not": "a node"})
    odd["mapping"]["n1"]["parent"] = ["n0"]
    found = import_all(made("conversations.json", [odd, chain(message("user", "kvar"), id="good")]))
    assert "kvar" in found.texts


TREES = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(min_size=1)), min_size=1, max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(talks=st.lists(TREES, min_size=1, max_size=3))
def test_conversations_come_back_code_point_by_code_point(
    made: Made, import_all: ImportAll, talks: list[list[tuple[str, str]]]
) -> None:
    exported = [
        chain(*(message(role, text) for role, text in said), id=f"c{number}") for number, said in enumerate(talks)
    ]
    found = import_all(made("conversations.json", exported))
    assert [(turn.conversation_id, turn.role.value, turn.text) for turn in found.turns] == [
        (f"c{number}", role, text) for number, said in enumerate(talks) for role, text in said
    ]
