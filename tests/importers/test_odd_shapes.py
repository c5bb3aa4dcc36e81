"""A field of a kind that nobody foresaw costs no more than itself, and never the look at a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.importers import importers, open_import

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]

ODD: list[Any] = [["a"], {"a": 1}, 7, None, True, ""]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("key", ["type", "content_type", "role", "subtype"])
def test_a_word_that_is_none_stops_no_importer_from_looking(made: Made, key: str, odd: Any) -> None:
    content = {key: odd, "messages": [{key: odd, "content": [{key: odd}], "role": odd}], "input": [{key: odd}]}
    for written in (content, [content], json.dumps(content) + "\n" + json.dumps(content) + "\n"):
        try:
            open_import(made("file.json", written)).close()
        except ImportFormatError as error:
            refused = str(error)
        else:
            refused = ""
        assert "fails when it looks" not in refused


@pytest.mark.parametrize("odd", ODD)
def test_a_content_type_that_is_no_word_costs_its_message_only(made: Made, import_all: ImportAll, odd: Any) -> None:
    mapping = {
        "a": {"parent": None, "message": {"author": {"role": "user"}, "content": "ett"}},
        "b": {"parent": "a", "message": {"author": {"role": "assistant"}, "content": {"content_type": odd}}},
        "c": {"parent": "b", "message": {"author": {"role": "user"}, "content": {"parts": [{"content_type": odd}]}}},
        "d": {"parent": "c", "message": {"author": {"role": "user"}, "content": "två"}},
    }
    found = import_all(made("conversations.json", [{"id": "x", "current_node": "d", "mapping": mapping}]))

    assert [turn.text for turn in found.turns if turn.text] == ["ett", "två"]
    assert found.report.read == 4
    assert not any("shape that isn't known" in reason for reason in found.skipped)


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_field_in_a_line_costs_its_line_only(made: Made, import_all: ImportAll, odd: Any) -> None:
    said = {"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user", "content": "hej"}}
    block = {"type": odd, "text": "x"}
    lines = [
        said,
        {"type": odd, "uuid": "u2", "sessionId": "s", "summary": "x"},
        {**said, "uuid": "u3", "message": {"role": odd, "id": "m", "content": [block, odd]}},
        {**said, "uuid": "u4", "parentUuid": odd},
    ]
    found = import_all(made("s.jsonl", "".join(json.dumps(line) + "\n" for line in lines)))

    assert found.texts[0] == "hej"
    assert found.turns[-1].text == "hej"
    assert found.report.read == 4


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_field_of_an_item_costs_the_item_only(made: Made, import_all: ImportAll, odd: Any) -> None:
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hej"}]}
    items = [
        message,
        {"type": odd, "role": "user", "content": odd},
        {**message, "content": [{"type": odd, "text": "x"}]},
    ]
    wrapped = [{"timestamp": odd, "type": "response_item", "payload": item} for item in items]
    codex = import_all(made("rollout.jsonl", "".join(json.dumps(line) + "\n" for line in wrapped)))
    responses = import_all(made("items.json", [*items, message]), format="openai-responses")

    assert codex.texts[0] == "hej"
    assert (codex.report.read, responses.report.read) == (3, 4)
    assert responses.texts[-1] == "hej"


@pytest.mark.parametrize("odd", [*ODD, "9" * 5000, "-1", "١٢"])
def test_an_odd_id_costs_nothing(made: Made, import_all: ImportAll, odd: Any) -> None:
    message = {"id": "1", "type": "Default", "timestamp": "2026-01-05T09:00:00+00:00", "content": "hej", "author": {}}
    channel = {"guild": {}, "channel": {"id": "1", "name": "a"}, "messages": [message, {**message, "id": odd}]}
    found = import_all(made("channel.json", channel))

    assert found.report.read == 2
    assert found.texts[0] == "hej"


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_subtype_is_none(made: Made, import_all: ImportAll, odd: Any) -> None:
    message = {"type": "message", "user": "U1", "text": "hej", "ts": "1700000001.000100", "subtype": odd}
    found = import_all(made("general/2023-11-14.json", [message, {**message, "user": odd, "ts": "1700000002.000100"}]))

    assert found.texts == ["hej", "hej"]


def test_a_turn_that_lies_before_the_first_or_beyond_the_last_place_is_counted(
    made: Made, import_all: ImportAll
) -> None:
    def line(ordinal: int) -> str:
        turn = {"conversation_id": "c", "session_id": "s", "ordinal": ordinal, "role": "user", "text": "hej"}
        return json.dumps({"turn": turn}) + "\n"

    header = '{"format": "memory_rag.turns", "version": 1}\n'
    found = import_all(made("export.jsonl", header + line(-5) + line(2**62) + line(2**62 - 1)))

    assert (found.texts, found.skipped) == (["hej"], {"no ordinal": 2})


@pytest.mark.parametrize("depth", range(150, 850, 50))
def test_whatever_the_depth_of_a_message_it_is_read_or_refused_with_our_words(
    made: Made, import_all: ImportAll, depth: int
) -> None:
    deep = json.loads("[" * depth + "]" * depth)
    files = {
        "anthropic": {"system": "s", "messages": [{"role": "user", "content": [{"type": "odd", "data": deep}]}]},
        "chatgpt": [{"mapping": {"n": {"message": {"author": {"role": "user"}, "content": {"content_type": deep}}}}}],
        "openai": [{"role": "user", "content": [{"type": "file", "file": deep}]}],
    }
    for name, content in files.items():
        try:
            refused = "" if import_all(made(f"{name}.json", content), format=name).report.read else "nothing read"
        except ImportFormatError as error:
            refused = str(error)
        assert not refused or "nested too deeply" in refused or "shape that isn't known" in refused


def test_every_format_is_named_by_one_word() -> None:
    assert all(name.replace("-", "").isalpha() and name == name.lower() for name in importers())
