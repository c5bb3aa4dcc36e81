"""Fenced code is set apart, and no character is lost by it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_rag.html.pieces import Piece, pieces_of
from memory_rag.interfaces.page.fenced import Run, runs_of
from memory_rag.turns import Span

LINES = st.sampled_from(["```", "```py", "~~~", "````", "x = 1", "", "   ```", "a ``` b", "    ```", "```\r", "é🐝"])


@given(st.lists(LINES, max_size=12).map("\n".join), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9))))
def test_whatever_is_code_the_words_and_their_marks_stay(text: str, marks: list[tuple[int, int]]) -> None:
    pieces = pieces_of(text, [Span(start, start + length) for start, length in marks])

    runs = runs_of(pieces)

    def letters(of: list[Piece]) -> list[tuple[str, bool]]:
        return [(letter, piece.is_marked) for piece in of for letter in piece.text]

    assert letters([piece for run in runs for piece in run.pieces]) == letters(pieces)
    assert all(piece.text for run in runs for piece in run.pieces)


def test_a_fence_closes_what_one_of_its_kind_opened() -> None:
    text = "Run this:\n```py\nprint('```')\n~~~\n```\nand that."

    assert runs_of([Piece(text)]) == [
        Run(False, [Piece("Run this:\n")]),
        Run(True, [Piece("```py\nprint('```')\n~~~\n```\n")]),
        Run(False, [Piece("and that.")]),
    ]


def test_two_blocks_that_touch_are_two_and_an_open_one_is_none() -> None:
    assert [run.is_code for run in runs_of([Piece("```\na\n```\n```\nb\n```\n```\nopen")])] == [True, True, False]


def test_a_mark_in_code_stays_a_mark() -> None:
    assert runs_of(pieces_of("```\nkayak\n```", [Span(4, 9)])) == [
        Run(True, [Piece("```\n"), Piece("kayak", is_marked=True), Piece("\n```")])
    ]
