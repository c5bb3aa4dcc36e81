"""What a notebook shows is built of a few parts, and no text can break them."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from memory_rag.html.cards import badge, card, folded, listed, place_of, row, share_bar, table, when, words
from memory_rag.html.turn_list import TurnList
from memory_rag.turns import Role, Span, Turn
from tests.html.reading import read_html, shown_by

HOSTILE = "<script>alert('x')</script> & \"quotes\" ```<b>code</b>``` \ud83d \0"
SAID_AT = datetime(2026, 6, 12, 8, 14, tzinfo=UTC)


def turn(text: str, *, turn_id: str = "t1") -> Turn:
    return Turn(turn_id, "pricing", "s1", 0, Role.USER, "Ebba", text, SAID_AT)


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_any_text_is_shown_as_it_is_and_breaks_nothing(text: str, start: int, length: int) -> None:
    mark = Span(min(start, len(text)), min(start + length, len(text)))
    parts = card(row(text, words(text, marks=[mark])), listed([text]), folded(text, badge(text, "bad")), title=text)

    shown = read_html(parts)

    # A parser reads line ends in one way and some signs not at all; letters come through as they are.
    assert shown.elements <= {"div", "mark", "span", "details", "summary"}
    assert _letters(shown.text) == 6 * _letters(text)


def _letters(text: str) -> str:
    return "".join(sign for sign in text if sign.isalnum())


def test_markup_in_words_stays_words() -> None:
    shown = read_html(card(words(HOSTILE), table([HOSTILE], [[HOSTILE]]), title=HOSTILE))

    assert "script" not in shown.elements
    assert shown.text.count("<script>alert('x')</script>") == 4
    assert "```<b>code</b>```" in shown.text


def test_of_a_long_text_what_lies_around_a_span_is_shown() -> None:
    text = "before " * 200 + "HERE" + " after" * 200

    shown = read_html(words(text, around=Span(1400, 1404))).text

    assert "HERE" in shown
    assert shown.startswith("… before")
    assert shown.endswith("after …")
    assert len(shown) < 500


def test_a_turn_says_who_when_and_where() -> None:
    assert read_html(place_of(turn("Hi."))).text == "Ebba · 2026-06-12 08:14 UTC · t1 · pricing"
    assert read_html(place_of(turn("Hi.", turn_id=""))).text == "Ebba · 2026-06-12 08:14 UTC · not stored · pricing"
    assert when(None) == "time unknown"


def test_a_bar_stays_within_its_groove() -> None:
    assert "width:100.0%" in share_bar(1.7)
    assert "width:0.0%" in share_bar(-1)
    assert "left:20.0%;width:30.0%" in share_bar(0.4, low=0.2, high=0.5)


def test_turns_in_a_row_are_shown_in_their_order() -> None:
    turns = TurnList([turn("First."), turn("Second.", turn_id="t2")])

    shown = shown_by(turns).text

    assert shown.index("First.") < shown.index("t2") < shown.index("Second.")
    assert turns == [turn("First."), turn("Second.", turn_id="t2")]
