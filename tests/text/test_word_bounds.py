"""A word is what a reader takes for one; a cut inside it is seen."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.text.word_bounds import count_words, inside_word, is_spaced, whole_words, words
from memory_rag.turns import Span


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't owe 49.90 €", ["I", "don't", "owe", "49.90", "€"]),
        ("order 4711-ZX at 9:30, -5 °C (50%)", ["order", "4711-ZX", "at", "9:30", "-5", "°", "C", "50", "%"]),
        ("pa\u030a mo\u0308tet i Malmö", ["pa\u030a", "mo\u0308tet", "i", "Malmö"]),
        ("so\u00adft हिन्दी में", ["so\u00adft", "हिन्दी", "में"]),
        ("👩\u200d👧 ok👍🏽🇸🇪", ["👩\u200d👧", "ok", "👍🏽", "🇸🇪"]),
        ("重启api后", ["重", "启", "api", "后"]),
        ("?! -- …", []),
        ("", []),
    ],
)
def test_words_are_what_a_reader_takes_for_them(text: str, expected: list[str]) -> None:
    assert [word.of(text) for word in words(text)] == expected


def test_two_signs_of_a_script_without_spaces_count_as_one_word() -> None:
    assert [count_words(text) for text in ("one two", "明日の会議", "api 重启", "")] == [2, 2, 2, 0]


def test_a_cut_inside_a_word_is_seen_and_widened() -> None:
    text = "I can't pay 49.90"

    assert [at for at in range(len(text) + 1) if inside_word(text, at)] == [3, 4, 5, 6, 9, 10, 13, 14, 15, 16]
    assert whole_words(text, Span(3, 14)).of(text) == "can't pay 49.90"
    assert whole_words(text, Span(2, 11)).of(text) == "can't pay"


def test_scripts_without_spaces_are_known() -> None:
    assert [is_spaced(text) for text in ("", "abc", "åäö한국", "a日", "ไป")] == [True, True, True, False, False]


@given(st.text(st.characters(exclude_categories=()) | st.sampled_from("ab1'.-\u0301\u200d👩日 "), max_size=40))
def test_words_stand_in_order_and_no_word_begins_inside_another(text: str) -> None:
    found = words(text)

    assert all(one.end <= other.start for one, other in pairwise(found))
    assert not any(inside_word(text, edge) for word in found for edge in (word.start, word.end))
