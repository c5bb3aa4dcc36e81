"""Which turns tell when, and which questions ask for it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.text.telling_when import asks_when, tells_when

TELLING = {
    "en": ["We met yesterday", "It took 3 tries", "See you on Monday", "LAST WEEK was fun", "two years ago", "In May"],
    "sv": [
        "Vi sågs i går",
        "Vi ses imorgon",
        "På måndag flyttar vi",
        "För två dar sedan",
        "Det var förra veckan",
        "Vi har bott här i tre år",
        "Vi gifte oss i somras",
        "Klockan 7",
    ],
    "nb": [
        "Vi møttes i går",
        "På mandag flytter vi",
        "For to dager siden",
        "Det var forrige uke",
        "Vi har bodd her i tre år",
        "Vi giftet oss i fjor",
        "Klokka 7",
    ],
    "fi": ["Klo 7", "٣"],
}
SILENT = {
    "en": ["I like cheese", "The marchers mayhem", ""],
    "sv": ["Jag gillar ost", "Sedan gick vi", "Hon är vår granne"],
    "nb": ["Jeg liker ost", "Siden er grønn", "Hun er naboen vår"],
    "fi": ["Viime viikolla", "yesterday"],
}
ASKING = {
    "en": [
        "When did I move?",
        "What date is the exam?",
        "how long have I lived here",
        "Which month did we go?",
        "In what year was it?",
        "On which day is the party?",
        "How many weeks were left, by my count?",
        "Between the two trips, how many days passed?",
        "Can you tell me when Anna arrives?",
    ],
    "sv": [
        "När flyttade jag?",
        "Vilket datum är provet?",
        "Hur länge har jag bott här?",
        "Hur lång tid tog det?",
        "I vilken månad åkte vi?",
        "På vilken dag är festen?",
        "Hur många veckor var det kvar?",
        "Kan du berätta när Anna kommer?",
        "Hur dags går tåget?",
    ],
    "nb": [
        "Når flyttet jeg?",
        "Hvilken dato er prøven?",
        "Hvor lenge har jeg bodd her?",
        "Hvor lang tid tok det?",
        "I hvilken måned dro vi?",
        "Hvilket år var det?",
        "Hvor mange uker var det igjen?",
        "Kan du fortelle meg når Anna kommer?",
    ],
}
NOT_ASKING = {
    "en": ["Who fixed the boiler?", "How many dogs do I have?", "I left when she came, why?", "Whenever it rains?", ""],
    "sv": ["Vem lagade pannan?", "Hur många hundar har jag?", "Hon gick när jag kom, varför?", "Närmast bor?"],
    "nb": ["Hvem fikset kjelen?", "Hvor mange hunder har jeg?", "Hun gikk når jeg kom, hvorfor?", "Hvor bor jeg?"],
    "fi": ["Milloin muutin?", "When did I move?"],
}


def _rows(*tables: tuple[dict[str, list[str]], bool]) -> list[tuple[str, str, bool]]:
    return [(code, text, yes) for table, yes in tables for code, texts in table.items() for text in texts]


@pytest.mark.parametrize(("language", "text", "tells"), _rows((TELLING, True), (SILENT, False)))
def test_a_turn_tells_when(language: str, text: str, *, tells: bool) -> None:
    assert tells_when(text, language=language) == tells


@pytest.mark.parametrize(("language", "question", "when"), _rows((ASKING, True), (NOT_ASKING, False)))
def test_a_question_asks_when(language: str, question: str, *, when: bool) -> None:
    assert asks_when(question, language=language) == when


@given(st.text(st.characters(exclude_categories=())), st.sampled_from(["en", "sv", "nb", "da", ""]))
def test_any_text_is_read(text: str, language: str) -> None:
    assert tells_when(text, language=language) in (True, False)
    assert asks_when(text, language=language) in (True, False)


@pytest.mark.parametrize("language", ["en", "sv", "nb"])
@pytest.mark.parametrize("piece", [" ", "a", ".", "för ", "for abc ", "i ", "and "])
def test_a_turn_of_a_million_characters_is_read_in_linear_time(piece: str, language: str) -> None:
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    tells_when(text, language=language)
    asks_when(text, language=language)
    assert time.process_time() - start < 20
