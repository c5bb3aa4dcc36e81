"""A text in pieces is the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_rag.interfaces.page.marked import Piece, first_words, pieces_of
from memory_rag.turns import Span


@st.composite
def spans(draw: st.DrawFn) -> Span:
    start = draw(st.integers(0, 40))
    return Span(start, start + draw(st.integers(0, 20)))


@given(st.text(max_size=50), st.lists(spans(), max_size=6))
def test_whatever_is_marked_the_words_stay(text: str, marks: list[Span]) -> None:
    pieces = pieces_of(text, marks)

    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)


def test_overlapping_marks_are_one_and_a_span_cuts() -> None:
    assert pieces_of("abcdefgh", [Span(1, 3), Span(2, 5), Span(7, 8)], within=Span(2, 8)) == [
        Piece("cde", is_marked=True),
        Piece("fg"),
        Piece("h", is_marked=True),
    ]


def test_first_words_are_one_line_cut_between_words() -> None:
    assert first_words("a\n b  c") == "a b c"
    assert first_words("word " * 100, most=12) == "word word …"
