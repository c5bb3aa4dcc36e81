"""Two wordings are compared word by word, and what can turn the meaning is marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.differences import Difference, differences
from memory_rag.text.folding import fold


@pytest.mark.parametrize(
    ("expected", "found", "difference"),
    [
        ("we go home", "we go", Difference("missing", "home", "")),
        ("we go", "we all go", Difference("extra", "", "all")),
        ("we go home", "we went home", Difference("changed", "go", "went")),
        ("we go by car", "we go on our bikes", Difference("changed", "by car", "on our bikes")),
        ("we go", "we do not go", Difference("negation", "", "do not")),
        ("it is cold", "it isn’t cold", Difference("negation", "is", "isn’t")),
        ("hon kommer aldrig", "hon kommer", Difference("negation", "aldrig", "")),
        ("hun kommer", "hun kommer ikke", Difference("negation", "", "ikke")),
        ("vi klarar det utan dig", "vi klarar det med dig", Difference("negation", "utan", "med")),
        ("we never go", "we don't go", Difference("changed", "never", "don't")),
        ("stop, now", "stop now", Difference("changed", "stop,", "stop")),
    ],
)
def test_one_difference_is_named_by_its_kind(expected: str, found: str, difference: Difference) -> None:
    assert differences(expected, found) == (difference,)


@pytest.mark.parametrize(
    ("expected", "found", "grave"),
    [
        ("49 euro", "59 euro", True),
        ("49.90", "49,90", True),
        ("5 €", "5 $", True),
        ("三点", "四点", True),
        ("a car", "a bike", False),
        ("go", "never go", True),
        ("go", "go 3 times", True),
    ],
)
def test_negations_numbers_and_amounts_are_grave(expected: str, found: str, grave: bool) -> None:
    assert [difference.grave for difference in differences(expected, found)] == [grave]


def test_as_many_words_on_both_sides_are_compared_one_by_one() -> None:
    assert differences("it is 49 euro", "it was 59 euro") == (
        Difference("changed", "is", "was"),
        Difference("changed", "49", "59"),
    )


def test_case_spaces_and_kinds_of_marks_are_no_difference() -> None:
    assert differences("Don’t  STOP “now”", 'don\'t stop\n"NOW"') == ()


@given(st.text(max_size=30))
def test_a_wording_does_not_differ_from_its_folded_self(text: str) -> None:
    assert differences(text, fold(text).text) == ()


@given(st.lists(st.sampled_from(["a", "b", "not", "1"])), st.lists(st.sampled_from(["a", "b", "not", "1"])))
def test_unequal_words_always_differ_and_equal_ones_never(one: list[str], other: list[str]) -> None:
    assert (differences(" ".join(one), " ".join(other)) == ()) == (one == other)
