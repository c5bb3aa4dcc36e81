"""The values of a file come one by one, whatever holds them together."""

from __future__ import annotations

import io
import json
from pathlib import PurePath
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.importers.source import SourceFile
from memory_rag.importers.tally import Skipped
from memory_rag.importers.values import Found, values_of


def file_of(content: str) -> SourceFile:
    data = content.encode()
    return SourceFile("talk.json", PurePath("talk.json"), len(data), lambda: io.BytesIO(data))


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ('[{"a": 1}, {"b": 2}]', [Found("item 0", {"a": 1}), Found("item 1", {"b": 2})]),
        ('{"a": 1}\n{"b": 2}\n', [Found("line 1", {"a": 1}), Found("line 2", {"b": 2})]),
        ('{"a": 1}\n', [Found("item 0", {"a": 1})]),
        ("[]", []),
    ],
)
def test_an_array_lines_and_an_object_are_told_apart(content: str, values: list[Any]) -> None:
    assert list(values_of(file_of(content))) == values


def test_a_first_line_that_is_longer_than_a_sample_is_a_line() -> None:
    content = "".join(json.dumps(value) + "\n" for value in ({"a": "x" * 3_000_000}, {"b": 2}))
    assert [(found.where, len(found.value)) for found in values_of(file_of(content)) if isinstance(found, Found)] == [
        ("line 1", 1),
        ("line 2", 1),
    ]


def test_a_broken_line_is_refused_or_counted_as_is_asked() -> None:
    content = '{"a": 1}\n{oj}\n{"b": 2}\n'
    with pytest.raises(ImportFormatError, match=r"line 2, column 2: broken JSON"):
        list(values_of(file_of(content)))
    assert list(values_of(file_of(content), skip_broken=True))[1] == Skipped(
        "a line of broken JSON", "talk.json, line 2"
    )


def test_an_array_that_breaks_off_is_refused_with_its_place() -> None:
    with pytest.raises(ImportFormatError, match=r"talk\.json, line 1, column 12: broken JSON: Expecting value"):
        list(values_of(file_of('[{"a": 1}, ')))
    with pytest.raises(ImportFormatError, match=r"talk\.json, line 1, column 11: broken JSON: Extra data"):
        list(values_of(file_of('[{"a": 1}]{"b": 2}')))
