"""A wording is found where it stands alone, and what it cuts is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.differences import Difference
from memory_rag.retrieval.occurrences import (
    certain_words,
    cut_words,
    folded_spans,
    says_something,
    spans_alone,
    spans_of,
)
from memory_rag.text.word_bounds import inside_word
from memory_rag.turns import Span


def test_places_do_not_overlap_and_those_alone_cut_no_word() -> None:
    text = "art, party, art-house, ART, art"

    assert list(spans_of("art", text)) == [Span(0, 3), Span(6, 9), Span(12, 15), Span(28, 31)]
    assert list(spans_alone("art", text)) == [Span(0, 3), Span(28, 31)]
    assert list(folded_spans("art", text)) == [Span(0, 3), Span(6, 9), Span(12, 15), Span(23, 26), Span(28, 31)]
    assert list(spans_of("aa", "aaaaa")) == [Span(0, 2), Span(2, 4)]


def test_a_place_alone_is_found_behind_one_that_overlaps_it() -> None:
    assert list(spans_alone("a a", "ba a a")) == [Span(3, 6)]


def test_the_words_that_a_span_cuts_are_named_whole() -> None:
    assert cut_words("a party at 49.90", Span(3, 13)) == (
        Difference("changed", "arty", "party"),
        Difference("changed", "49", "49.90"),
    )
    assert cut_words("a party", Span(2, 7)) == ()


@pytest.mark.parametrize(("wording", "says"), [("a", True), ("👍", True), ("€", True), ("\ud800", True), ("?!", False)])
def test_space_and_punctuation_say_nothing(wording: str, says: bool) -> None:
    assert says_something(wording) is says


def test_only_plain_words_narrow_a_search() -> None:
    parts = ["(euro,", "don't", "4711-zx", "49", "日志", "c++", "e\u0301t\u0308", "“", "", "price"]

    assert certain_words(parts) == ["price", "euro", "49"]


@given(st.text("ab' 日-\u0301", max_size=4), st.text("ab' 日-\u0301", max_size=20))
def test_the_fast_sieve_loses_no_place_that_stands_alone(wording: str, text: str) -> None:
    found = set(spans_alone(wording, text)) if wording else set()
    plainly = [
        Span(at, at + len(wording))
        for at in range(len(text) - len(wording) + 1)
        if wording and text.startswith(wording, at)
        if not inside_word(text, at) and not inside_word(text, at + len(wording))
    ]

    assert found <= set(plainly)
    assert all(any(one.start < place.end and place.start < one.end for one in found) for place in plainly)
