"""A path is opened with the importer that knows it, or refused with a reason to act on."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import ImportFormatError
from memory_rag.importers import ImportOptions, detect, importers, open_import
from memory_rag.importers.sampling import sample
from memory_rag.importers.source import SourceFile
from memory_rag.turns import Conversation, Turn

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]

MESSAGE = {"role": "user", "content": "Hej"}
FILES: dict[str, Any] = {
    "locomo": {"conversation": {"speaker_a": "Ada", "session_1": [{"speaker": "Ada", "text": "Hej"}]}},
    "beam": [{"batch_number": 1, "turns": [[{"role": "user", "id": 0, "content": "Hej"}]]}],
    "openai": [MESSAGE],
    "chatgpt": [{"mapping": {"n": {"message": {"author": {"role": "user"}, "content": "Hej"}}}}],
    "anthropic": {"model": "claude-next", "messages": [MESSAGE]},
    "claude": [{"uuid": "u", "name": "", "chat_messages": [{"uuid": "m", "sender": "human", "text": "Hej"}]}],
    "claude-code": '{"type": "user", "uuid": "u", "message": {"role": "user", "content": "Hej"}}\n',
    "codex": '{"timestamp": "2026-01-02T03:04:05Z", "type": "response_item", "payload": {"type": "message", '
    '"role": "user", "content": [{"type": "input_text", "text": "Hej"}]}}\n',
    "discord": {"guild": {"id": "1"}, "channel": {"id": "2", "name": "a"}, "messages": [{"id": "3", "content": "Hej"}]},
    "longmemeval": [{"question_id": "q", "haystack_sessions": [[MESSAGE]]}],
    "openai-responses": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hej"}]}],
    "sharegpt": [{"id": "a", "conversations": [{"from": "human", "value": "Hej"}]}],
    "slack": [{"type": "message", "user": "U1", "text": "Hej", "ts": "1700000000.000100"}],
    "telegram": {
        "name": "Ada",
        "id": 1,
        "messages": [{"id": 1, "type": "message", "date_unixtime": "1", "text": "Hej"}],
    },
    "transcript": "User: Hej\n",
    "whatsapp": "2026-01-02, 03:04 - Ada: Hej\n",
    "memory-rag": '{"format": "memory_rag.turns", "version": 1}\n'
    '{"turn": {"conversation_id": "c", "session_id": "s", "ordinal": 0, "role": "user", "text": "Hej"}}\n',
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_is_recognised_by_itself_and_by_no_other(made: Made, import_all: ImportAll, name: str) -> None:
    path = made("file.json", FILES[name])
    assert detect(path)[0].importer == name
    assert [found.importer for found in detect(path) if found.confidence >= 0.9] in ([name], [])
    assert import_all(path).texts == ["Hej"]
    assert import_all(path, format=name).texts == ["Hej"]


def test_every_importer_has_an_example_here() -> None:
    assert sorted(importers()) == sorted(FILES)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("Ada: hej\nBo: hej", "no importer knows this format"),
        ({"uuid": "u", "full_name": "Ada"}, "no importer knows this format"),
        ([{"id": 1, "rating": "up"}], "no importer knows this format"),
        ([1, 2, 3], "no importer knows this format"),
        (b"\x89PNG\r\n\0", "no importer knows this binary file"),
    ],
)
def test_a_file_of_an_unknown_format_is_refused_and_the_known_ones_are_named(
    made: Made, content: Any, why: str
) -> None:
    path = made("file.json", content)
    assert detect(path) == []
    with pytest.raises(ImportFormatError, match=why) as refused:
        open_import(path)
    assert "the known formats are anthropic, beam, chatgpt, claude, claude-code, codex, discord, " in str(refused.value)


def test_a_format_that_is_not_known_is_refused_and_the_known_ones_are_named(made: Made) -> None:
    with pytest.raises(ImportFormatError, match=r"unknown format 'gpt'; the known formats are anthropic, beam"):
        open_import(made("file.json", FILES["openai"]), format="gpt")


@pytest.mark.parametrize("content", ["", " \n", "[]", b"\xef\xbb\xbf", {"messages": []}, {"mapping": {}}])
@pytest.mark.parametrize("format_given", [None, "openai", "chatgpt"])
def test_an_empty_file_or_list_has_nothing_to_import(
    made: Made, import_all: ImportAll, content: Any, format_given: str | None
) -> None:
    path = made("file.json", content)
    with pytest.raises(ImportFormatError, match=r"file\.json: (nothing to import|no importer knows)"):
        import_all(path, format=format_given)


def test_broken_json_is_refused_with_line_and_column(made: Made) -> None:
    early = made("early.json", '[\n{"role": "user", "content" "Hej"}]')
    with pytest.raises(
        ImportFormatError, match=r"early\.json, line 2, column 28: broken JSON: Expecting ':' delimiter$"
    ):
        open_import(early)
    late = made("late.json", '[\n{"role": "user", "content": "Hej"},\n{"role": ]')
    with (
        open_import(late) as opened,
        pytest.raises(ImportFormatError, match=r"late\.json, line 3, column 10: broken JSON: Expecting value$"),
    ):
        list(opened.files[0])


@pytest.mark.parametrize("name", ["chatgpt", "telegram", "slack", "discord"])
@pytest.mark.parametrize("left", [0.5, 0.9])
def test_of_a_file_that_was_cut_off_it_is_said(made: Made, import_all: ImportAll, name: str, left: float) -> None:
    text = json.dumps(FILES[name])
    path = made("cut.json", text[: int(len(text) * left)])
    with pytest.raises(ImportFormatError, match=r"; the file breaks off there, download or export it again$"):
        import_all(path, format=name)


def test_a_byte_that_is_not_utf8_is_refused_with_its_offset(made: Made) -> None:
    with pytest.raises(ImportFormatError, match=r"file\.json: not valid UTF-8 at byte 31 \(0xe5"):
        open_import(made("file.json", '[{"role": "user", "content": "Nå"}]'.encode("latin-1")))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_file_with_a_byte_order_mark_is_read(made: Made, import_all: ImportAll, encoding: str) -> None:
    for name, content in FILES.items():
        text = content if isinstance(content, str) else json.dumps(content)
        assert import_all(made(f"{name}.json", text.encode(encoding))).texts == ["Hej"]


def test_json_nested_too_deeply_is_refused(made: Made, import_all: ImportAll) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    with pytest.raises(ImportFormatError, match="nested too deeply"):
        open_import(made("deep.json", deep))
    with pytest.raises(ImportFormatError, match="nested too deeply"):
        import_all(made("deeper.json", f'[{json.dumps(MESSAGE)}, {{"role": "user", "content": {deep}}}]'))


def test_in_a_folder_each_file_is_read_or_named_with_the_reason(made: Made, tmp_path: Path) -> None:
    for name, content in FILES.items():
        made(f"all/{name}.json", content)
    made("all/empty.json", "")
    made("all/odd.json", {"a": 1})
    made("all/broken.json", '{"a": }')
    made("all/latin.txt", "å".encode("latin-1"))
    made("all/page.html", "<html>")
    made("all/picture.png", b"\x89PNG\0")
    with open_import(tmp_path / "all") as opened:
        assert [(Path(file.source.label).name, file.importer.name) for file in opened] == [
            (f"{name}.json", name) for name in sorted(FILES, key=lambda name: f"{name}.json")
        ]
        assert all(file.size > 0 for file in opened)
    assert {Path(unread.file).name: unread.reason for unread in opened.report.unread} == {
        "broken.json": "line 1, column 7: broken JSON: Expecting value",
        "empty.json": "nothing to import, it is empty",
        "latin.txt": "not valid UTF-8 at byte 0 (0xe5: unexpected end of data); save it as UTF-8 and import it again",
        "odd.json": "no importer knows this format",
        "page.html": "no importer knows this format",
        "picture.png": "no importer knows this binary file",
    }


def test_a_folder_in_which_nothing_is_known_is_refused(made: Made, tmp_path: Path) -> None:
    made("all/a.txt", "hej")
    made("all/b.txt", "hej")
    with pytest.raises(ImportFormatError, match=r"nothing to import in 2 files; the first, .*a\.txt: no importer"):
        open_import(tmp_path / "all")
    (tmp_path / "none").mkdir()
    with pytest.raises(ImportFormatError, match="none: nothing to import, it holds no file"):
        open_import(tmp_path / "none")


def test_a_format_given_chooses_among_the_files_of_a_folder(made: Made, import_all: ImportAll, tmp_path: Path) -> None:
    for name, content in FILES.items():
        made(f"all/{name}.json", content)
    found = import_all(tmp_path / "all", format="chatgpt")
    assert (found.texts, len(found.report.unread)) == (["Hej"], len(FILES) - 1)


def test_one_broken_file_of_a_folder_can_be_refused_alone(made: Made, tmp_path: Path) -> None:
    made("all/a.json", [MESSAGE, MESSAGE])
    made("all/b.json", json.dumps([MESSAGE])[:-1] + ", {")
    made("all/c.json", [MESSAGE])
    with open_import(tmp_path / "all") as opened:
        for file in opened:
            try:
                for item in file:
                    if isinstance(item, Turn):
                        file.report.count_kept()
            except ImportFormatError as error:
                file.report.refuse(error)
    opened.report.check()
    assert (opened.report.read, opened.report.kept) == (3, 3)
    assert "b.json, line 1" in opened.report.files[1].error


def test_a_file_of_which_nothing_can_be_stored_is_refused_with_the_reasons(made: Made, import_all: ImportAll) -> None:
    path = made("file.json", [{"role": "narrator", "content": "x"}, {"role": "user", "content": ""}])
    with pytest.raises(ImportFormatError, match=r"read as openai none .*: unknown role 'narrator' \(1\); nothing said"):
        import_all(path)
    with pytest.raises(ImportFormatError, match=r"read as chatgpt none .*: not a conversation \(2\)"):
        import_all(path, format="chatgpt")


def test_a_file_that_is_read_again_is_counted_once(made: Made) -> None:
    with open_import(made("a.json", [MESSAGE, {"role": "x", "content": "y"}])) as opened:
        (file,) = opened
        for _ in range(2):
            assert len([item for item in file if isinstance(item, Turn)]) == 1
        assert (file.report.read, file.report.n_skipped) == (2, 1)


def test_a_zip_stays_open_until_the_import_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", json.dumps([MESSAGE]))
    opened = open_import(path)
    assert len(list(opened.files[0])) == 2
    opened.close()
    with pytest.raises(ImportFormatError, match=r"a\.zip/a\.json: can't be read: .*closed"):
        list(opened.files[0])


# The words of the formats, to be put in the wrong places.
WORDS = re.findall(
    r"\w+",
    """
    role content messages mapping message author parent children current_node conversation speaker_a session_1
    session_1_date_time turns batch_number time_anchor id text parts content_type metadata tool_calls function
    name create_time turn conversation_id session_id ordinal said_at blocks indexed source thoughts audio
    image_url data format type dia_id sample_id title recipient timestamp img_url
    chat_messages uuid sender attachments files extracted_content file_name parent_message_uuid created_at
    current_leaf_message_uuid parentUuid sessionId isSidechain isMeta agentId toolUseResult
    payload input output items call_id arguments summary thinking tool_use_id system
    guild channel nickname embeds fields stickers forwardedMessage reference
    chats list from from_id date date_unixtime text_entities poll answers photo file
    user ts thread_ts user_profile bot_profile subtype mimetype
    conversations value haystack_sessions haystack_dates question_id metadata attachments
    """,
)


LISTS = re.findall(
    r"\w+",
    """
    messages mapping conversation turns chat_messages chats conversations haystack_sessions input output payload channel
    """,
)
WORDS_GIVEN = re.findall(
    r"[\w.]+",
    """
    user assistant human tool text code thoughts multimodal_text n1 message tool_use tool_result thinking image
    base64 response_item session_meta function_call function_call_output reasoning Default 1700000001.000100
    """,
)


def anything() -> st.SearchStrategy[Any]:
    """JSON that is nearly a history."""
    keys = st.sampled_from(WORDS)
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    words = st.sampled_from(WORDS_GIVEN)
    return st.recursive(
        scalars | words,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys | st.just("n1"), inner, max_size=6),
        max_leaves=30,
    )


@given(anything(), st.sampled_from(sorted(FILES)))
def test_no_json_makes_an_importer_fail_with_an_error_that_is_not_ours(content: Any, name: str) -> None:
    whole: dict[str, Any] = dict.fromkeys(LISTS, content)
    for document in (content, [content, whole], whole, {**whole, "messages": [content]}):
        written = json.dumps(document).encode()
        source = _in_memory(written)
        importer = importers()[name]
        importer.detect(sample(source))
        try:
            for item in importer.read(source, ImportOptions()):
                assert not isinstance(item, Conversation) or isinstance(item.title, str)
                assert not isinstance(item, Turn) or isinstance(item.text, str)
        except ImportFormatError:
            pass


def _in_memory(content: bytes) -> SourceFile:
    return SourceFile("f", Path("/x/f"), len(content), lambda: io.BytesIO(content))


LINES = st.lists(
    st.sampled_from(
        [
            "1/2/24, 07:10 - Ada: hej",
            "[31.12.23, 24:61:00] Bo: x",
            "99/99/9999, 9.05 - A:",
            "2026-02-30, 5:46 p.m. - F: z",
            "User: hej",
            "### Assistant",
            "**Bo:** hej",
            "```",
            "---",
            "title: x",
            "",
            "\u200e",
        ]
    )
    | st.text(max_size=20),
    max_size=12,
)


@given(LINES, st.sampled_from(["whatsapp", "transcript"]), st.sampled_from(["\n", "\r\n"]))
def test_no_text_makes_an_importer_fail_with_an_error_that_is_not_ours(
    lines: list[str], name: str, ending: str
) -> None:
    source = _in_memory(ending.join(lines).encode())
    importer = importers()[name]
    importer.detect(sample(source))
    try:
        for item in importer.read(source, ImportOptions()):
            assert not isinstance(item, Turn) or item.text
    except ImportFormatError:
        pass
