"""A JSON array read object by object gives what reading it whole gives, and says what is wrong with it."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.datasets.json_stream import objects_of_array

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
        ('[{"a": 1} {"a": 2}]', r"x: after object 1 comes '\{\"a\": 2\}\]', neither ',' nor '\]'"),
        ('[{"a": 1}', r"x: after object 1 comes '', neither"),
        ('[{"a": 1', r"x: object 1 is broken JSON \(it breaks off\): Expecting ',' delimiter"),
        ('[{"a": 1}] 2', r"x: after the array comes '2'"),
    ],
)
def test_what_is_no_array_of_objects_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(ImportFormatError, match=said):
        list(objects_of_array(BytesIO(text.encode()).read, label="x"))


def test_broken_json_is_noticed_before_a_large_file_is_in_memory() -> None:
    file = BytesIO(b'[{"a": nonsense, ' + b" " * 100_000)

    with pytest.raises(ImportFormatError, match=r"object 1 is broken JSON \(no end within 1,000 characters\)"):
        list(objects_of_array(file.read, label="x", block=100, longest=1_000))
    assert file.tell() < 5_000


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ImportFormatError, match="x: not UTF-8"):
        list(objects_of_array(BytesIO(b'[{"a": "\xff"}]').read, label="x"))
