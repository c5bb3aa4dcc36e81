"""Our own export comes back as it went out, any code point included."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import ImportFormatError
from memory_rag.importers import ImportOptions
from memory_rag.importers.source import SourceFile
from memory_rag.importers.turn_lines import TurnLinesImporter, export_lines
from memory_rag.turns import Block, Conversation, Role, Source, Span, Turn

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]

# Any code point, surrogates alone and in pairs, and what has cut or escaped lines elsewhere.
_letters = st.characters(codec=None, exclude_categories=()) | st.sampled_from('\ud83d\ude00\0\u2028\u0085\n\r~"\\')
texts = st.text(_letters, max_size=30)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
blocks = st.builds(Block, texts, st.dictionaries(texts, values, max_size=3), texts)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    text = draw(texts)
    bounds = sorted(draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    return Turn(
        turn_id="",
        conversation_id=draw(texts),
        session_id=draw(texts),
        ordinal=draw(st.integers(0, 2**62 - 1)),
        role=draw(st.sampled_from(Role)),
        speaker=draw(texts),
        text=text,
        said_at=draw(st.none() | st.datetimes(timezones=st.just(UTC))),
        said_at_text=draw(st.none() | texts),
        blocks=tuple(draw(st.lists(blocks, max_size=2))),
        source=Source(draw(texts), draw(texts), draw(st.none() | texts)),
        recalled=draw(st.booleans()),
        indexed=draw(st.none() | st.just(Span(*bounds))),
    )


def read_back(lines: Iterable[str]) -> list[Any]:
    content = "".join(lines).encode()
    source = SourceFile("export.jsonl", PurePath("export.jsonl"), len(content), lambda: io.BytesIO(content))
    return list(TurnLinesImporter().read(source, ImportOptions()))


@given(st.lists(st.builds(Conversation, texts, texts), max_size=3), st.lists(turns(), max_size=4))
def test_what_is_exported_comes_back(conversations: list[Conversation], exported: list[Turn]) -> None:
    assert read_back(export_lines(conversations, exported)) == [*conversations, *exported]


TURN = Turn(
    turn_id="t17",
    conversation_id="c",
    session_id="c/s",
    ordinal=3,
    role=Role.USER,
    speaker="Åsa",
    text="Hej \ud83d\0\u2028 då",
    said_at=datetime(2025, 11, 30, 12, 0, 0, 250_000, tzinfo=UTC),
)


def test_the_lines_are_documented_json() -> None:
    lines = list(export_lines([Conversation("c", "Kök")], [TURN]))
    assert lines[:2] == [
        '{"format": "memory_rag.turns", "version": 1}\n',
        '{"conversation": {"conversation_id": "c", "title": "Kök"}}\n',
    ]
    assert json.loads(lines[2]) == {
        "turn": {
            "conversation_id": "c",
            "session_id": "c/s",
            "ordinal": 3,
            "role": "user",
            "speaker": "Åsa",
            "text": "Hej \ud83d\0\u2028 då",
            "turn_id": "t17",
            "said_at": "2025-11-30T12:00:00.250000+00:00",
        }
    }
    assert r"\ud83d\u0000" in lines[2]
    assert "Åsa" in lines[2]


def test_surrogates_side_by_side_stay_two() -> None:
    text = "~\ud83d\ude00 ~~ \U0001f600"
    (line,) = list(export_lines([], [replace(TURN, text=text)]))[1:]
    assert json.loads(line)["separator"] == "~~~"
    (turn,) = read_back(export_lines([], [replace(TURN, text=text)]))
    assert turn.text == text
    assert len(turn.text) == 8


def test_a_turn_without_a_source_is_known_by_its_id_and_its_words() -> None:
    (one,) = read_back(export_lines([], [TURN]))
    (other,) = read_back(export_lines([], [replace(TURN, text="Hej")]))
    (third,) = read_back(export_lines([], [replace(TURN, turn_id="")]))
    assert one.turn_id == ""
    assert one.source.name == "memory-rag"
    assert one.source.native_id.startswith("t17:")
    assert one.source.native_id != other.source.native_id
    assert third.source.native_id.startswith("c/s#3:")
    assert read_back(export_lines([], [one])) == [one]


HEADER = '{"format": "memory_rag.turns", "version": 1}\n'


def line(**changes: Any) -> str:
    (written,) = list(export_lines([], [replace(TURN, said_at=None)]))[1:]
    turn = json.loads(written)["turn"] | changes
    return json.dumps({"turn": {key: value for key, value in turn.items() if value is not ...}}) + "\n"


def test_a_line_that_cannot_be_stored_is_counted_and_the_rest_is_kept(made: Made, import_all: ImportAll) -> None:
    content = [
        line(role="narrator"),
        line(text=None),
        line(ordinal=..., session_id=...),
        line(ordinal=10**30),
    ]
    content += ['{"picture": 1}\n', "[]\n", line(), '{"turn": {"te']
    found = import_all(made("export.jsonl", HEADER + "".join(content)))
    assert found.texts == [TURN.text]
    assert found.skipped == {
        "unknown role 'narrator'": 1,
        "no text": 1,
        "no session_id and no ordinal": 1,
        "no ordinal": 1,
        "neither a turn nor a conversation": 2,
        "unfinished last line": 1,
    }


def test_a_time_or_span_that_cannot_be_is_left_out_and_noted(made: Made, import_all: ImportAll) -> None:
    content = HEADER + line(said_at="whenever", indexed=[3, 999]) + line(said_at="2025-11-30T12:00:00")
    found = import_all(made("export.jsonl", content))
    assert (found.turns[0].said_at, found.turns[0].said_at_text, found.turns[0].indexed) == (
        None,
        "whenever",
        None,
    )
    assert found.turns[1].said_at == datetime(2025, 11, 30, 12, tzinfo=UTC)
    assert found.noted == {"time not understood": 1, "indexed span outside the text": 1}


def test_a_later_version_is_refused(made: Made, import_all: ImportAll) -> None:
    path = made("export.jsonl", HEADER.replace("1}", "3}") + line())
    with pytest.raises(ImportFormatError, match=r"an export of version 3; this release reads versions 1 and 2"):
        import_all(path)


def test_another_file_is_refused(made: Made, import_all: ImportAll) -> None:
    with pytest.raises(ImportFormatError, match="no memory-rag export"):
        import_all(made("other.jsonl", line()), format="memory-rag")


def test_an_export_is_recognised_and_its_keys_stay_when_it_grows(made: Made, import_all: ImportAll) -> None:
    two = replace(TURN, turn_id="t18", text="två")
    before = import_all(made("export.jsonl", "".join(export_lines([], [TURN]))))
    after = import_all(made("moved/later.jsonl", "".join(export_lines([], [TURN, two]))))
    assert after.report.files[0].format == "memory-rag"
    assert after.keys[:1] == before.keys
    assert len(set(after.keys)) == 2


def test_a_source_with_a_name_that_cannot_be_stored_costs_its_turn_only(made: Made, import_all: ImportAll) -> None:
    odd = {"name": "n\ud83d", "native_id": "1"}
    found = import_all(made("export.jsonl", HEADER + line(source=odd) + line()))

    assert found.texts == [TURN.text]
    assert found.skipped == {"an id that can't be stored": 1}
