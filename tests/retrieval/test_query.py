"""A question, taken apart."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.participants import Participants
from memory_rag.retrieval.query import QueryAnalysis
from memory_rag.text.analyzer import Analyzer
from memory_rag.text.voice import Voice

TODAY = date(2026, 5, 4)


def analyzed(text: str, *speakers: str, languages: tuple[str, ...] = ("en",)) -> QueryAnalysis:
    return QueryAnalysis(
        text,
        analyzer=Analyzer(languages),
        participants=Participants(speakers, languages=languages),
        today=TODAY,
    )


def test_a_question_has_terms_names_a_voice_and_dates() -> None:
    query = analyzed("What did I tell Caroline about her dogs on 7 May 2023?", "Caroline", "user")

    assert query.words == (("tell",), ("carolin",), ("dog",), ("7",), ("may",), ("2023",))
    assert query.terms == ("tell", "carolin", "dog", "7", "may", "2023")
    assert query.dense_text == "What did I tell they about her dogs on 7 May 2023?"
    assert query.named == ("Caroline",)
    assert query.voice is Voice.USER
    assert [mention.start for mention in query.dates] == [date(2023, 5, 7)]
    assert not query.is_empty


def test_a_question_in_one_of_two_languages_is_read_in_its_own() -> None:
    query = analyzed("Vad sa jag till Åsa i Malmö i förra veckan?", "Åsa", languages=("en", "sv"))

    assert query.voice is Voice.USER
    assert query.dense_text == "Vad sa jag till de i Malmö i förra veckan?"
    assert ("malmö",) in query.words
    assert [mention.start for mention in query.dates] == [date(2026, 4, 27)]
    assert analyzed("Vad hände i Malmö?", languages=("en", "sv")).voice is Voice.NOBODY


def test_dates_are_counted_from_today() -> None:
    assert [mention.start for mention in analyzed("What did I do yesterday?").dates] == [date(2026, 5, 3)]


@pytest.mark.parametrize("text", ["", " ", "?!", "\u00a0", '"', "…", "\ud800", "\0", "__"])
def test_a_question_without_a_word_is_empty(text: str) -> None:
    query = analyzed(text, "Caroline")

    assert query.is_empty
    assert query.terms == ()
    assert query.named == ()


@pytest.mark.parametrize("text", ["the", "☕", "7", "日"])
def test_a_question_of_a_stop_word_a_pictograph_a_digit_or_a_sign_is_not_empty(text: str) -> None:
    assert not analyzed(text).is_empty
    assert analyzed(text).terms != ()


def test_what_is_embedded_is_printable() -> None:
    assert analyzed("a \ud83d kayak\0").dense_text == "a \ufffd kayak\ufffd"


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_taken_apart(text: str) -> None:
    query = analyzed(text, "Caroline", "Will", languages=("sv", "en"))

    assert query.is_empty == (not query.terms)
    query.dense_text.encode()


def test_a_question_is_searched_without_the_words_that_are_about_asking() -> None:
    query = analyzed(
        "Can you walk me through the order in which I brought up aspects of my Budget Tracker across our chats?"
    )

    assert "budget" in query.terms
    assert not {"walk", "order", "brought", "chat"} & set(query.terms)
    assert "Budget Tracker" in query.dense_text
    assert "walk" not in query.dense_text
    assert query.voice is Voice.USER
    assert query.asks_of_the_past


def test_a_question_that_is_all_frame_is_searched_as_it_stands() -> None:
    query = analyzed("Can you remind me what we discussed in our chats?")

    assert query.terms
    assert query.dense_text == "Can you remind me what we discussed in our chats?"
    query = analyzed("Can you give me a summary?")
    assert query.wants_overview


def test_a_question_knows_whether_it_asks_for_a_time() -> None:
    assert analyzed("When did I buy the kayak?").asks_when
    assert not analyzed("Where did I buy the kayak?").asks_when
