"""What is left of a question without the words that are about asking."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.text.frames import matter_of, without_frame

LEFT = {
    "en": {
        "Can you tell me when Anna arrives?": "when Anna arrives?",
        "Can you walk me through the order in which I brought up different aspects of my move throughout our "
        "conversations, in order? Mention ONLY and ONLY five items.": "my move?",
        "Could you give me a comprehensive summary of how my garden has developed over time?": "my garden?",
        "What did I say about the kitchen?": "What about the kitchen?",
        "Please remind me what we’d agreed on": "what we’d agreed on",
        "Which dogs have I mentioned in our chats, and why?": "Which dogs, and why?",
        "Can you give me a quick summary of the trip?": "the trip?",
        "Which points have I raised about the rent?": "Which points about the rent?",
        "Which worries have I shared with you?": "Which worries with you?",
        "In what order did I bring up different aspects of my move?": "my move?",
        "Throughout our conversations": "",
    },
    "sv": {
        "Kan du lista i vilken ordning jag tog upp olika delar av flytten i våra samtal?": "flytten?",
        "Kan du berätta för mig när Anna kommer?": "när Anna kommer?",
        "Vad var det jag sa om köket?": "köket?",
        "Vad sa jag om köket?": "Vad köket?",
        "Sammanfatta hur trädgården har förändrats över tid.": "trädgården.",
        "Ge mig en kort sammanfattning av allt om bröllopet": "om bröllopet",
        "Vilka hundar har jag nämnt under våra samtal?": "Vilka hundar?",
        "Kan du ta mig igenom bytet av jobb?": "bytet av jobb?",
        "Vilka recept pratade vi om? Nämn bara fem saker.": "Vilka recept?",
        "Vad tog jag upp om hyran?": "Vad hyran?",
        "Vad berättade jag för dig om knäet?": "Vad knäet?",
        "Hur gick flytten, i tur och ordning?": "Hur gick flytten?",
        "Under hela vårt samtal, vilka böcker nämnde du?": "vilka böcker?",
        "Ge en översikt över hur min träning har utvecklats över tid": "min träning",
        "Skulle du kunna påminna mig om vad läkaren sa?": "vad läkaren sa?",
        "Vad sa läkaren om provsvaren när vi pratade om det?": "Vad sa läkaren om provsvaren när det?",
        "Minns du vad katten heter?": "vad katten heter?",
        "Vilka städer dök upp i samtalen?": "Vilka städer dök upp?",
    },
    "nb": {
        "Kan du liste opp i hvilken rekkefølge jeg tok opp ulike deler av flyttingen i samtalene våre?": "flyttingen?",
        "Kan du fortelle meg når Anna kommer?": "når Anna kommer?",
        "Hva var det jeg sa om kjøkkenet?": "kjøkkenet?",
        "Hva sa jeg om kjøkkenet?": "Hva kjøkkenet?",
        "Oppsummer hvordan hagen har endret seg over tid.": "hagen.",
        "Gi meg en kort oppsummering av alt om bryllupet": "om bryllupet",
        "Hvilke hunder har jeg nevnt i løpet av våre samtaler?": "Hvilke hunder?",
        "Kan du ta meg gjennom byttet av jobb?": "byttet av jobb?",
        "Hvilke oppskrifter snakket vi om? Nevn bare fem ting.": "Hvilke oppskrifter?",
        "Hva tok jeg opp om husleia?": "Hva husleia?",
        "Hva fortalte jeg deg om kneet?": "Hva kneet?",
        "Gi en oversikt over hvordan treningen min har utviklet seg over tid": "treningen min",
        "Kunne du minnet meg på hva legen sa?": "hva legen sa?",
        "Husker du hva katten heter?": "hva katten heter?",
    },
}
UNCHANGED = {
    "en": [
        "What have I raised in my garden?",
        "Who did we share a cabin with?",
        "Did I bring up the boxes from the cellar?",
        "What have I discussed with Ann?",
        "What did the physio say in the session with Tom?",
        "Would you walk the dog?",
        "When did Anna  move to Lund?",
        "What is the order number?",
        "I'd like a summary ",
        "  Who fixed the boiler ?",
        "Did the mayor say no?",
        "",
    ],
    "sv": [
        "Vad tog jag upp ur jorden?",
        "Har jag tagit upp potatisen?",
        "Vilka språk har jag talat?",
        "Vem pratade vi med på stationen?",
        "Vad frågade jag läkaren om?",
        "Vad har jag berättat för min mamma?",
        "När flyttade Anna  till Lund?",
        "Vilket ordernummer har jag?",
        "Vad heter min syster?",
        "Har jag ordning på papperen hemma?",
        "Gick jag igenom samtalsterapi?",
        "Vem sa nej?",
    ],
    "nb": [
        "Hva tok jeg opp av jorda?",
        "Har jeg tatt opp lån?",
        "Hvilke språk har jeg snakket?",
        "Hvem snakket vi med på stasjonen?",
        "Hva spurte jeg legen om?",
        "Hva har jeg fortalt mammaen min?",
        "Når flyttet Anna  til Bergen?",
        "Hva heter søsteren min?",
        "Hvem sa nei?",
        "Har jeg orden på papirene?",
    ],
    "fi": ["Can you tell me when Anna arrives?"],
    "": ["Can you tell me when Anna arrives?"],
}


@pytest.mark.parametrize(
    ("language", "question", "left"), [(code, *pair) for code, pairs in LEFT.items() for pair in pairs.items()]
)
def test_a_question_loses_its_frame(language: str, question: str, left: str) -> None:
    assert without_frame(question, language=language) == left


@pytest.mark.parametrize(
    ("language", "question"), [(code, question) for code, questions in UNCHANGED.items() for question in questions]
)
def test_a_question_without_a_frame_stays_as_it_is(language: str, question: str) -> None:
    assert without_frame(question, language=language) == question


def test_white_space_is_tidied_only_where_something_was_cut() -> None:
    assert without_frame("Which  dogs  did I mention  , and\nwhy?", language="en") == "Which  dogs, and\nwhy?"


@given(st.text(st.characters(exclude_categories=())), st.sampled_from(["en", "sv", "nb", "da", ""]))
def test_what_is_left_of_any_text_is_no_longer_than_it(text: str, language: str) -> None:
    assert len(without_frame(text, language=language)) <= len(text)


@given(st.lists(st.sampled_from(["did I say", "in order", ",", ".", "?", " ", "Rome", "\n", "in our chats"])))
def test_only_words_of_the_frame_and_marks_are_cut(parts: list[str]) -> None:
    question = " ".join(parts)
    assert without_frame(question, language="en").count("Rome") == question.count("Rome")


@pytest.mark.parametrize("language", ["en", "sv", "nb"])
@pytest.mark.parametrize("piece", [" ", "a", "clear ", "in order ", "i had ", "en kort och ", "in our chats, "])
def test_a_text_of_a_million_characters_is_read_in_linear_time(piece: str, language: str) -> None:
    start = time.process_time()
    without_frame(piece * (1_000_000 // len(piece)), language=language)
    assert time.process_time() - start < 20


ABOUT = {
    "en": {
        "How is the maths going?": "the maths?",
        "How did the interview go?": "the interview?",
        "How's it going with the kitchen?": "the kitchen?",
        "What did we agree on about the rent?": "about the rent?",
        "Is there any news on the boat?": "the boat?",
        "Where did we land in Spain?": "Where did we land in Spain?",
        "What did we land on for the name?": "for the name?",
        "Where is Anna going?": "Where is Anna going?",
        "How do we go there?": "How do we go there?",
        "Can you tell me how the move is going?": "how the move is going?",
    },
    "sv": {
        "Hur går det med matten?": "matten?",
        "Hur har det gått med att hitta lägenhet?": "hitta lägenhet?",
        "Vad kom vi fram till om hyran?": "hyran?",
        "Vad var det jag skulle köpa till båten?": "köpa till båten?",
        "Vilken färg bestämde vi oss för?": "Vilken färg?",
        "Vad landade vi i om hyran?": "hyran?",
        "När landade vi på Mallorca?": "När landade vi på Mallorca?",
        "När var det jag skulle till frisören?": "När var det jag skulle till frisören?",
        "Hur går man till stationen?": "Hur går man till stationen?",
    },
    "nb": {
        "Hvordan går det med matten?": "matten?",
        "Hvordan har det gått med å finne leilighet?": "finne leilighet?",
        "Hva ble vi enige om når det gjelder husleia?": "husleia?",
        "Hva var det jeg skulle kjøpe til båten?": "kjøpe til båten?",
        "Kom vi fram til et navn?": "et navn?",
        "Når landet vi på Gran Canaria?": "Når landet vi på Gran Canaria?",
        "Hvordan går man til stasjonen?": "Hvordan går man til stasjonen?",
    },
}


@pytest.mark.parametrize(
    ("language", "question", "about"), [(code, *pair) for code, pairs in ABOUT.items() for pair in pairs.items()]
)
def test_what_a_question_is_about_is_left(language: str, question: str, about: str) -> None:
    assert matter_of(question, language=language) == about


@pytest.mark.parametrize(
    ("language", "question"), [("en", "How is the maths going?"), ("sv", "Hur går det med matten?")]
)
def test_how_a_matter_stands_is_no_word_about_asking(language: str, question: str) -> None:
    assert without_frame(question, language=language) == question
