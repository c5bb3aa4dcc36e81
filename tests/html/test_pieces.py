"""A text in pieces is the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_rag.html.pieces import SHOWN, Piece, part_around, pieces_of
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


@given(st.text(alphabet="ab \n", max_size=3000), st.integers(0, 3000), st.integers(0, 3000))
def test_the_part_that_is_shown_of_a_text_holds_what_it_is_about(text: str, start: int, length: int) -> None:
    of = Span(min(start, len(text)), min(start + length, len(text)))

    shown = part_around(text, of)

    assert shown.start <= of.start
    assert shown.end >= min(of.end, of.start + SHOWN)
    assert len(shown.of(text)) <= 3 * SHOWN


def test_a_short_text_is_shown_whole() -> None:
    assert part_around("a few words", Span(2, 5)) == Span(0, 11)
