"""Where in a long turn the words of a question stand closest together."""

from __future__ import annotations

from collections.abc import Iterator, Set

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.passage_span import keyword_span
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Span

ENGLISH = Analyzer(("en",))
FILL = "nothing of note happens here. "


def span(text: str, question: str) -> Span:
    return keyword_span(text, ENGLISH.query_terms(question), analyzer=ENGLISH)


def test_a_short_text_is_its_own_passage() -> None:
    assert span("a kayak", "kayak") == Span(0, 7)
    assert span("x" * 400, "kayak") == Span(0, 400)
    assert span("", "kayak") == Span(0, 0)


def test_a_text_without_the_words_is_returned_whole() -> None:
    assert span(FILL * 50, "kayak") == Span(0, len(FILL) * 50)
    assert span(FILL * 50, "?") == Span(0, len(FILL) * 50)


def test_the_stretch_with_most_of_the_words_is_found() -> None:
    text = f"{FILL * 30}a kayak. {FILL * 30}kayaks and a paddle trip. {FILL * 30}trip."

    found = span(text, "kayak paddle trip")

    assert "kayaks and a paddle trip" in found.of(text)
    assert found.end - found.start <= 400


def test_of_equal_stretches_the_first_is_taken() -> None:
    text = f"{FILL * 30}first kayak. {FILL * 30}second kayak. {FILL * 30}"

    assert "first kayak" in span(text, "kayak").of(text)
    assert "second kayak" not in span(text, "kayak").of(text)


def test_of_a_text_of_many_megabytes_the_first_places_are_looked_at() -> None:
    text = "kayak " * 50_000 + FILL * 20 + "kayak paddle"

    assert span(text, "kayak paddle").of(text).startswith("kayak kayak")
    assert "paddle" in span(text[12:], "kayak paddle").of(text[12:])


def test_behind_a_stretch_that_holds_all_words_nothing_is_read() -> None:
    class Counting(Analyzer):
        n_read = 0

        def located_terms(self, text: str, *, wanted: Set[str]) -> Iterator[tuple[int, int, str]]:
            for place in super().located_terms(text, wanted=wanted):
                self.n_read += 1
                yield place

    analyzer = Counting(("en",))
    text = f"kayak {FILL * 20} a kayak and a paddle. " + "kayak, paddle. " * 5_000

    found = keyword_span(text, analyzer.query_terms("kayak paddle"), analyzer=analyzer)

    assert "a kayak and a paddle" in found.of(text)
    assert analyzer.n_read == 3


@pytest.mark.parametrize("place", [0, 1])
def test_a_stretch_at_either_end_stays_inside_the_text(place: int) -> None:
    text = f"kayak {FILL * 40}" if place == 0 else f"{FILL * 40} kayak"

    found = span(text, "kayak")

    assert "kayak" in found.of(text)
    assert 0 <= found.start < found.end <= len(text)


def test_a_word_longer_than_a_passage_is_found_too() -> None:
    link = "https_" + "a1b2" * 120
    text = f"{FILL * 20}{link} {FILL * 20}"

    found = span(text, link)

    assert found.start <= len(FILL) * 20 < found.end


def test_a_place_in_a_long_run_of_chinese_is_found() -> None:
    text = "的" * 3000 + "日志清零" + "了" * 3000

    found = span(text, "日志")

    assert "日志" in found.of(text)
    assert found.end - found.start <= 400


@given(
    st.lists(
        st.sampled_from(["kayak ", "paddle, ", FILL, "日志", "mo\u0308tet ", "x" * 500 + " ", "\ud83d "]), max_size=60
    ),
    st.lists(st.sampled_from(["kayak", "paddle", "日志", "mötet", "x" * 500]), max_size=3),
)
def test_a_span_lies_in_the_text_and_holds_a_word_that_is_asked_for(parts: list[str], words: list[str]) -> None:
    text = "".join(parts)
    terms = set(ENGLISH.query_terms(" ".join(words)))

    found = keyword_span(text, terms, analyzer=ENGLISH)

    assert found.end <= len(text)
    if terms & set(ENGLISH.terms(text)):
        assert terms & set(ENGLISH.terms(found.of(text)))
