"""What a sentence tells, by its words, in English, Swedish and Norwegian."""

from __future__ import annotations

import pytest

from memory_rag.summaries.cues import kind_of, reason_in
from memory_rag.summaries.summary import Kind


@pytest.mark.parametrize(
    ("language", "sentence", "kind"),
    [
        ("en", "We decided to charge 49 euro.", Kind.DECISION),
        ("en", "I've chosen SQLite because it's light.", Kind.DECISION),
        ("en", "Let's go with the blue jars.", Kind.DECISION),
        ("en", "Have we decided on the price?", Kind.POINT),
        ("en", "I prefer trains to planes.", Kind.PREFERENCE),
        ("en", "Always answer in Swedish.", Kind.PREFERENCE),
        ("en", "I’m allergic to nuts.", Kind.PREFERENCE),
        ("en", "My name is Ebba.", Kind.FACT),
        ("en", "I'm not sure whether the hall is free.", Kind.QUESTION),
        ("en", "I still need to call Mats.", Kind.TODO),
        ("en", "The weather was fine.", Kind.POINT),
        ("sv", "Vi kör 49 euro för första säsongen.", Kind.DECISION),
        ("sv", "Vi har bestämt oss för Göteborg.", Kind.DECISION),
        ("sv", "Jag föredrar tåg framför flyg.", Kind.PREFERENCE),
        ("sv", "Jag är allergisk mot nötter.", Kind.PREFERENCE),
        ("sv", "Jag heter Ebba.", Kind.FACT),
        ("sv", "Jag vet inte om lokalen är ledig.", Kind.QUESTION),
        ("sv", "Jag måste ringa Mats i morgon.", Kind.TODO),
        ("sv", "Det blir kallt i morgon.", Kind.POINT),
        ("nb", "Vi ble enige om 49 euro.", Kind.DECISION),
        ("nb", "Vi går for den blå fargen.", Kind.DECISION),
        ("nb", "Jeg foretrekker tog.", Kind.PREFERENCE),
        ("nb", "Jeg spiser ikke kjøtt.", Kind.PREFERENCE),
        ("nb", "Jeg heter Ingrid.", Kind.FACT),
        ("nb", "Jeg er ikke sikker på om lokalet er ledig.", Kind.QUESTION),
        ("nb", "Husk å ringe Mats.", Kind.TODO),
        ("nb", "Det var fint vær.", Kind.POINT),
        ("fr", "Nous avons choisi le train.", Kind.POINT),
    ],
)
def test_a_cue_tells_what_a_sentence_is(language: str, sentence: str, kind: Kind) -> None:
    assert kind_of(sentence, language=language) is kind


@pytest.mark.parametrize(
    ("language", "sentence", "reason"),
    [
        ("en", "We chose Postgres because it handles many writers.", "because it handles many writers"),
        ("sv", "Vi valde tåget eftersom det är billigare.", "eftersom det är billigare"),
        ("nb", "Vi valgte toget fordi det er billigere.", "fordi det er billigere"),
        ("en", "We chose Postgres.", ""),
    ],
)
def test_the_reason_of_a_decision_is_in_its_own_words(language: str, sentence: str, reason: str) -> None:
    assert reason_in(sentence, language=language) == reason
