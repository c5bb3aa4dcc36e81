"""The beginning of a file tells what it is, however large the rest."""

from __future__ import annotations

import io
import json
from pathlib import PurePath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.errors import ImportFormatError
from memory_rag.importers.sampling import Sample, closed, sample
from memory_rag.importers.source import SourceFile


def sample_of(content: bytes, *, first_bytes: int = 64) -> Sample:
    source = SourceFile("f", PurePath("/x/f"), len(content), lambda: io.BytesIO(content))
    return sample(source, first_bytes=first_bytes)


@pytest.mark.parametrize(
    ("content", "kind", "items"),
    [
        (b'[{"a":1}, {"a":2}]', "list", ({"a": 1}, {"a": 2})),
        (b' \n{"a": [1, 2]} \n', "object", ({"a": [1, 2]},)),
        (b'{"a":1}\n{"a":2}\n', "lines", ({"a": 1}, {"a": 2})),
        (b'{"a":1}\n{"a":', "lines", ({"a": 1},)),
        (b"[31/12/23, 21:05] Ada: hej", "text", ()),
        (b"Ada: hej", "text", ()),
        (b"", "empty", ()),
        (b" \n ", "empty", ()),
        (b"[ ]", "empty", ()),
        (b"PK\x00\x01", "binary", ()),
    ],
)
def test_a_beginning_shows_its_kind(content: bytes, kind: str, items: tuple[Any, ...]) -> None:
    found = sample_of(content)
    assert (found.kind, found.items) == (kind, items)


@given(st.integers(1, 300), st.integers(1, 80))
def test_a_first_value_of_any_length_is_read_whole(length: int, first_bytes: int) -> None:
    first = {"text": "å" * length, "n": [1, {"x": None}]}
    for content in ([first, {"more": 1}], first):
        written = json.dumps(content, ensure_ascii=False).encode()
        assert sample_of(written, first_bytes=first_bytes).items[0] == first
    lines = (json.dumps(first) + "\n").encode() * 3
    found = sample_of(lines, first_bytes=first_bytes)
    assert (found.kind, found.items[0]) == ("lines", first)


def test_a_large_file_is_not_read_beyond_its_first_value() -> None:
    class Counting(io.BytesIO):
        n_bytes = 0

        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            Counting.n_bytes += len(data)
            return data

    content = b"[" + b'{"a":1},' * 100_000 + b'{"a":2}]'
    found = sample(SourceFile("f", PurePath("f"), len(content), lambda: Counting(content)))
    assert len(found.items) == 8
    assert Counting.n_bytes < 70_000


def test_the_rest_of_a_file_may_be_broken_and_its_beginning_still_tells() -> None:
    assert sample_of(b'[{"a":1}, {"a":').items == ({"a": 1},)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"a":1,\n "b" 2}' + b" " * 200, r", line 2, column 6: broken JSON: Expecting ':' delimiter"),
        (
            b'[{"a":"never ended',
            ", line 1, column 7: broken JSON: Unterminated string starting at; the file breaks off there, download or "
            "export it again",
        ),
        (b'{"a":1} and more', r", line 1, column 9: broken JSON: Extra data"),
        (b"[" * 100_000, r": its JSON is nested too deeply to be read"),
    ],
)
def test_what_begins_like_json_and_is_none_says_why(content: bytes, problem: str) -> None:
    found = sample_of(content)
    assert (found.kind, found.problem) == ("text", problem)


@pytest.mark.parametrize(("before", "after"), [(b'[{"a":"', b'"}]'), (b'{"a":"\\"', b'"}\n')])
def test_bytes_that_are_no_text_are_told_with_their_offset_in_the_whole_file(before: bytes, after: bytes) -> None:
    content = before.ljust(507, b"x") + b"\xff" + after
    with pytest.raises(ImportFormatError, match="at byte 507"):
        sample_of(content)


def test_a_letter_cut_by_the_first_bytes_is_no_fault() -> None:
    assert sample_of('["åå"]'.encode(), first_bytes=3).items == ("åå",)


@pytest.mark.parametrize("opening", ["", "["])
def test_a_first_value_that_goes_on_for_long_is_known_as_far_as_it_was_read(opening: str) -> None:
    text = (
        opening + '{"name": "Ada", "messages": [' + ", ".join('{"id": 1, "text": "hej \\" ]"}' for _ in range(90_000))
    )
    found = sample(SourceFile("f", PurePath("f"), len(text), lambda: io.BytesIO(text.encode())))
    assert found.kind == ("list" if opening else "object")
    assert found.items[0]["name"] == "Ada"
    assert found.items[0]["messages"][0] == {"id": 1, "text": 'hej " ]'}
    assert 10_000 < len(found.items[0]["messages"]) < 90_000


@given(
    st.recursive(
        st.integers() | st.text(max_size=4) | st.booleans(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    ).filter(lambda value: isinstance(value, list | dict)),
    st.data(),
)
@settings(max_examples=300)
def test_a_text_cut_anywhere_is_json_again_when_it_is_closed(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text)))]
    assert isinstance(json.loads(closed(cut)), type(value))
