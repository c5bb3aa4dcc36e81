"""Which texts ask, and which give words to be found."""

from __future__ import annotations

import pytest

from memory_rag.text.asking import is_asking

ALL = ("en", "sv", "nb", "da", "de")


@pytest.mark.parametrize(
    "text",
    [
        "What did Ada say about the boiler",
        "the boiler, the green one?",
        "And in which month did we go",
        "Did I tell you about the kayak",
        "Given my budget, suggest a tent",
        "I'm trying to decide between two laptops.",
        "Please list every city I visited",
        "Thanks! Could you remind me of the deadline",
        "Vad sa jag om hyran",
        "Hej, kan du sammanfatta planen",
        "När åker vi till fjällen",
        "Jag minns inte vad kocken heter",
        "Hva sa jeg om leien",
        "Skal vi ta toget til Bergen",
        "Minn meg på fristen",
        "Hvad sagde jeg om huslejen",
        "Wann fahren wir nach Hamburg",
        "请问房租是多少？",
    ],
)
def test_questions_and_requests_ask(text: str) -> None:
    assert is_asking(text, languages=ALL)


@pytest.mark.parametrize(
    "text",
    [
        "the rent for May",
        "dig deep in the fourth quarter",
        "ConnectionResetError on the staging server",
        "we were somewhat late for the whole thing",
        "hyran för maj",
        "kedjeregeln inför provet",
        "leien for mai",
        "toget til Bergen klokken åtte",
        "die Miete für Mai",
    ],
)
def test_words_that_were_said_ask_nothing(text: str) -> None:
    assert not is_asking(text, languages=ALL)


def test_in_a_language_that_is_not_known_every_text_asks() -> None:
    assert is_asking("le loyer de mai", languages=("fr",))
    assert not is_asking("le loyer de mai", languages=("fr", "en"))


def test_a_curly_apostrophe_is_an_apostrophe() -> None:
    assert is_asking("I don\u2019t remember the name of the hotel", languages=("en",))
