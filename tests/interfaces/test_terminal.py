"""Text on a terminal: safe, wrapped by what it takes on the screen, marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.interfaces.cli.terminal import Ink, columns_of, fitted, padded, shown, wrapped
from memory_rag.turns import Span

ANY_TEXT = st.text(st.characters(), max_size=200)
WIDTHS = st.integers(2, 40)


@given(ANY_TEXT)
def test_what_is_shown_has_no_control_character_and_keeps_every_place(text: str) -> None:
    safe = shown(text)

    assert len(safe) == len(text)
    assert not any((sign < " " and sign not in "\n\t") or "\x7f" <= sign <= "\x9f" for sign in safe)
    safe.encode("utf-8")


@given(ANY_TEXT, WIDTHS)
def test_no_line_is_wider_than_it_may_be_and_no_word_is_lost(text: str, width: int) -> None:
    text = shown(text)
    lines = wrapped(text, width)

    assert all(columns_of(line.of(text)) <= width for line in lines if len(line.of(text).strip()) > 1)
    assert "".join("".join(line.of(text).split()) for line in lines) == "".join(text.split())


@given(ANY_TEXT, WIDTHS)
def test_a_fitted_text_takes_no_more_columns_than_there_are(text: str, width: int) -> None:
    assert columns_of(fitted(shown(text), width)) <= width


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one\n\ntwo", 7, ["one", "", "two"]),
        ("    indented code", 20, ["    indented code"]),
        ("東京都千代田区", 6, ["東京都", "千代田", "区"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("", 4, [""]),
    ],
)
def test_lines_break_at_spaces_else_at_the_edge(text: str, width: int, lines: list[str]) -> None:
    assert [line.of(text) for line in wrapped(text, width)] == lines


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("東京", 4), ("mo\u0308tet", 5), ("a\u200bb", 2), ("", 0)])
def test_columns_are_what_a_terminal_gives_a_text(text: str, columns: int) -> None:
    assert columns_of(text) == columns
    assert padded(text, 8) == text + " " * (8 - columns)


def test_marks_fall_on_the_lines_that_they_touch() -> None:
    text = "one two three"
    ink = Ink(colour=True)
    lines = [ink.marked(text, line, [Span(4, 13)]) for line in wrapped(text, 7)]

    assert lines == ["one \x1b[1;35mtwo\x1b[0m", "\x1b[1;35mthree\x1b[0m"]


def test_without_colour_there_is_no_escape() -> None:
    assert Ink(colour=False).marked("one two", Span(0, 7), [Span(0, 3)]) == "one two"
    assert Ink(colour=False).bad("x") == "x"
