"""A JSON array read object by object gives what reading it whole gives, and says what is wrong with it."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import ImportFormatError
from memory_rag.importers.json_stream import JsonStream, objects_of_array

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=4), max_size=5)


@given(objects=OBJECTS, block=st.integers(1, 40), indent=st.sampled_from([None, 2]), ascii_only=st.booleans())
def test_it_gives_the_objects_of_the_array_whatever_is_read_at_a_time(
    objects: list[dict[str, Any]], block: int, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(objects, indent=indent, ensure_ascii=ascii_only)

    read = list(objects_of_array(BytesIO(text.encode("utf-8")).read, label="x.json", block=block))

    assert read == objects


def test_lone_surrogates_stay_as_they_are_written() -> None:
    data = b'[{"text": "half \\ud83d of it", "pair": "\\ud83d\\ude00"}]'

    assert list(objects_of_array(BytesIO(data).read, label="x")) == [{"text": "half \ud83d of it", "pair": "😀"}]


def test_the_first_objects_come_before_the_rest_is_read() -> None:
    read = BytesIO(b'[{"a": 1}, {"a": 2}, broken').read

    objects = objects_of_array(read, label="x", block=4)

    assert [next(objects), next(objects)] == [{"a": 1}, {"a": 2}]
    with pytest.raises(ImportFormatError):
        next(objects)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"x: no JSON array; it begins with ''"),
        ('{"a": 1}', r"x: no JSON array; it begins with '\{\"a\": 1\}'"),
        ("[1]", r"x: item 1 begins with '1\]' and is no object"),
        ('[{"a": 1},]', r"x: item 2 begins with '\]' and is no object"),
        ('[{"a": 1} {"a": 2}]', r"x, line 1, column 11: broken JSON: Expecting ',' delimiter"),
        ('[{"a": 1}', r"x, line 1, column 10: broken JSON: Expecting ',' delimiter"),
        ('[{"a": 1', r"x, line 1, column 9: broken JSON: Expecting ',' delimiter"),
        ('[{"a": 1}] 2', r"x: after the array comes '2'"),
    ],
)
def test_what_is_no_array_of_objects_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(ImportFormatError, match=said):
        list(objects_of_array(BytesIO(text.encode()).read, label="x"))


def test_broken_json_is_noticed_before_a_large_file_is_in_memory() -> None:
    file = BytesIO(b'[{"a": nonsense, ' + b" " * 100_000)

    with pytest.raises(ImportFormatError, match=r"x, line 1, column 8: broken JSON: Expecting value"):
        list(objects_of_array(file.read, label="x", block=100, longest=1_000))
    assert file.tell() < 5_000


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ImportFormatError, match="x: not valid UTF-8 at byte 8"):
        list(objects_of_array(BytesIO(b'[{"a": "\xff"}]').read, label="x"))


@given(value=VALUES, block=st.integers(1, 40), indent=st.sampled_from([None, 2]))
def test_a_value_taken_whole_is_what_json_reads(value: Any, block: int, indent: int | None) -> None:
    text = json.dumps([value, {"after": 1}], indent=indent)
    stream = JsonStream(BytesIO(text.encode()).read, label="x", block=block)

    assert [stream.value() for _ in stream.elements()] == [value, {"after": 1}]
    stream.end()


@given(members=st.dictionaries(st.text(max_size=5), VALUES, max_size=5), block=st.integers(1, 40))
def test_members_are_walked_through_in_order_and_those_not_taken_are_passed_over(
    members: dict[str, Any], block: int
) -> None:
    stream = JsonStream(BytesIO(json.dumps(members).encode()).read, label="x", block=block)

    taken = {key: stream.value() if at % 2 else None for at, key in enumerate(stream.members())}

    assert taken == {key: value if at % 2 else None for at, (key, value) in enumerate(members.items())}
    stream.end()


def test_a_large_list_within_objects_is_walked_through_without_being_held() -> None:
    text = '{"chats": {"list": [{"messages": [' + ", ".join('{"id": 1}' for _ in range(50_000)) + "]}]}}"
    file = BytesIO(text.encode())
    stream = JsonStream(file.read, label="x", block=4096)
    n_messages = 0

    for _ in stream.members():
        for _ in stream.members():
            for _ in stream.elements():
                for _ in stream.members():
                    for _ in stream.elements():
                        n_messages += len(stream.value())
                        if n_messages == 1:
                            assert file.tell() < 10_000

    assert n_messages == 50_000


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1\n "b": 2}', "line 2, column 2: broken JSON: Expecting ',' delimiter"),
        ('{"a" 1}', "line 1, column 6: broken JSON: Expecting ':' delimiter"),
        ("{a: 1}", "line 1, column 2: broken JSON: Expecting property name"),
        ('{"a":\n\n  oj}', "line 3, column 3: broken JSON: Expecting value"),
        ('{"a": "never ended', "line 1, column 7: broken JSON: Unterminated string"),
    ],
)
@pytest.mark.parametrize("block", [1, 7, 1000])
def test_a_fault_is_told_by_line_and_column_whatever_is_read_at_a_time(text: str, place: str, block: int) -> None:
    stream = JsonStream(BytesIO(text.encode()).read, label="x.json", block=block)

    with pytest.raises(ImportFormatError, match=f"x.json, {place}"):
        for _ in stream.members():
            pass


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("block", [1, 3, 1000])
def test_a_byte_order_mark_tells_the_encoding(encoding: str, block: int) -> None:
    stream = JsonStream(BytesIO('["hå😀"]'.encode(encoding)).read, label="x", block=block)

    assert stream.value() == ["hå😀"]


def test_a_number_at_the_end_of_what_was_read_goes_on() -> None:
    stream = JsonStream(BytesIO(b"[1234, 5.25, -1e3]").read, label="x", block=3)

    assert [stream.value() for _ in stream.elements()] == [1234, 5.25, -1000.0]


@given(texts=st.lists(st.text(st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010)), min_size=1, max_size=4))
def test_halves_of_characters_come_back_where_json_can_write_them(texts: list[str]) -> None:
    data = json.dumps(texts).encode()
    stream = JsonStream(BytesIO(data).read, label="x", block=5)

    assert stream.value() == json.loads(data)


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_a_value_comes_with_its_json_as_it_is_written(block: int) -> None:
    data = BytesIO('[ {"a" :1.50},\n"\\u00e5å" , [ ]]'.encode())
    stream = JsonStream(data.read, label="talk.json", block=block)

    assert [stream.value_as_written() for _ in stream.elements()] == [
        ({"a": 1.5}, '{"a" :1.50}'),
        ("åå", '"\\u00e5å"'),
        ([], "[ ]"),
    ]
