"""A file's bytes become text and JSON, or an error that has the place."""

from __future__ import annotations

import io
import json
from pathlib import PurePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import ImportFormatError
from memory_rag.importers.source import Line, SourceFile
from memory_rag.importers.tally import Skipped


def file_of(content: bytes) -> SourceFile:
    return SourceFile("talk.jsonl", PurePath("/x/talk.jsonl"), len(content), lambda: io.BytesIO(content))


def values_of(content: bytes) -> list[Any]:
    return [line.value for line in file_of(content).read_json_lines() if isinstance(line, Line)]


def test_only_a_line_feed_ends_a_line() -> None:
    content = (
        '{"type":"user","uuid":"u1","message":{"role":"user","content":"first\u2028second\u0085third"}}\n'
        '{"type":"assistant","uuid":"a1","message":{"content":[{"type":"text","text":"ok"}]}}\n'
    )
    lines = list(file_of(content.encode()).read_json_lines())
    assert [line.number for line in lines if isinstance(line, Line)] == [1, 2]
    (first, second) = values_of(content.encode())
    assert first["message"]["content"] == "first\u2028second\u0085third"
    assert len(first["message"]["content"]) == 18
    assert second["uuid"] == "a1"


def test_blank_lines_and_carriage_returns_are_no_values() -> None:
    assert values_of(b'{"a":1}\r\n\r\n  \n{"a":2}\r\n') == [{"a": 1}, {"a": 2}]


@given(st.lists(st.text(), min_size=1))
def test_any_text_in_a_line_comes_back_as_it_was(texts: list[str]) -> None:
    content = "".join(json.dumps(text, ensure_ascii=False) + "\n" for text in texts)
    assert values_of(content.encode()) == texts


def test_a_last_line_that_breaks_off_is_skipped_with_its_number() -> None:
    lines = list(file_of(b'{"a":1}\n{"a":').read_json_lines())
    assert lines == [Line(1, {"a": 1}), Skipped("unfinished last line", "talk.jsonl, line 2")]


def test_a_last_line_that_breaks_off_inside_a_letter_is_skipped_as_well() -> None:
    cut = '{"a":1}\n{"a":"ö'.encode()[:-1]
    assert list(file_of(cut).read_json_lines())[1] == Skipped("unfinished last line", "talk.jsonl, line 2")


def test_a_last_line_without_a_line_feed_that_is_whole_is_read() -> None:
    assert values_of(b'{"a":1}\n{"a":2}') == [{"a": 1}, {"a": 2}]


def test_any_other_broken_line_is_an_error_with_line_and_column() -> None:
    with pytest.raises(ImportFormatError, match=r"talk\.jsonl, line 2, column 6: broken JSON: Expecting value"):
        list(file_of(b'{"a":1}\n{"a":oops}\n').read_json_lines())


def test_broken_json_is_an_error_with_line_and_column() -> None:
    with pytest.raises(ImportFormatError, match=r"talk\.jsonl, line 3, column 8: broken JSON"):
        file_of('[\n {"a": 1},\n {"ö": }\n]'.encode()).read_json()


@pytest.mark.parametrize(
    ("content", "offset", "byte"),
    [
        (b'{"a":"\xff"}', 6, "ff"),
        (b'\xef\xbb\xbf{"a":"\xe5"}', 9, "e5"),
        (b'{"a":1}\n{"b":"\xf6"}\n', 14, "f6"),
    ],
)
def test_a_byte_that_is_not_utf8_is_an_error_with_its_offset(content: bytes, offset: int, byte: str) -> None:
    with pytest.raises(ImportFormatError, match=rf"not valid UTF-8 at byte {offset} \(0x{byte}"):
        file_of(content).read_text()
    with pytest.raises(ImportFormatError, match=rf"not valid UTF-8 at byte {offset} \(0x{byte}"):
        list(file_of(content).read_json_lines())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_tells_the_encoding(encoding: str) -> None:
    content = '{"a":"mötet 東京"}\n{"a":2}\n'
    assert values_of(content.encode(encoding)) == [{"a": "mötet 東京"}, {"a": 2}]
    assert file_of(content.encode(encoding)).read_text() == content


def test_utf16_lines_may_break_off_too() -> None:
    lines = list(file_of('{"a":1}\n{"a":'.encode("utf-16")).read_json_lines())
    assert lines[1] == Skipped("unfinished last line", "talk.jsonl, line 2")


@pytest.mark.parametrize("content", [b"", b" \n\t\r\n", b"\xef\xbb\xbf"])
def test_an_empty_file_has_nothing_to_import(content: bytes) -> None:
    with pytest.raises(ImportFormatError, match="nothing to import"):
        file_of(content).read_json()


def test_nesting_too_deep_to_read_is_an_error_of_ours() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    with pytest.raises(ImportFormatError, match="nested too deeply"):
        file_of(deep).read_json()
    with pytest.raises(ImportFormatError, match="line 1: its JSON is nested too deeply"):
        list(file_of(deep + b"\n").read_json_lines())


def test_a_number_too_long_to_read_is_an_error_of_ours() -> None:
    with pytest.raises(ImportFormatError, match="can't be read: Exceeds the limit"):
        file_of(b"[" + b"9" * 5000 + b"]").read_json()


def test_of_a_key_that_comes_twice_the_last_value_counts() -> None:
    assert file_of(b'{"a":1,"a":2}').read_json() == {"a": 2}


def test_a_lone_surrogate_that_is_escaped_survives() -> None:
    assert file_of(b'{"a":"\\ud83d!"}').read_json() == {"a": "\ud83d!"}


def test_a_float_remembers_how_it_was_written() -> None:
    value = file_of(b"[1764460800.250]").read_json()[0]
    assert value == 1764460800.25
    assert value.written == "1764460800.250"


def test_a_file_that_fails_while_it_is_read_is_an_error_of_ours() -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError("disk fell off")

    with pytest.raises(ImportFormatError, match=r"talk\.jsonl: can't be read: disk fell off"):
        SourceFile("talk.jsonl", PurePath("talk.jsonl"), 1, lambda: Failing(b"")).read_text()


def test_a_broken_line_is_counted_where_lines_are_conversations() -> None:
    lines = list(file_of(b'{"a":1}\n{oj}\n{"a":2}\n').read_json_lines(skip_broken=True))
    assert lines == [Line(1, {"a": 1}), Skipped("a line of broken JSON", "talk.jsonl, line 2"), Line(3, {"a": 2})]
