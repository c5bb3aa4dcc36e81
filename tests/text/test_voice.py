"""Whose words a question asks for, and whether a turn speaks of its speaker or asks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.text.voice import Voice, asks, first_person, voice_of, wants_overview

QUESTIONS: dict[str, dict[Voice, list[str]]] = {
    "en": {
        Voice.USER: [
            "What did I say about the kitchen?",
            "What's my sister's name?",
            "When did I move to Lund?",
            "Which books have I read this year?",
            "How much did I pay for my bike?",
            "Can you tell me what I said about the budget?",
            "Could you remind me when my flight leaves?",
            "Tell me what I ordered last week",
            "What did I tell you about my knee?",
            "Did I ever mention a dog to you?",
            "Do you remember my address?",
            "Do you know what I do for work?",
            "Please list the allergies I told you about.",
            "am i allergic to nuts?",
            "What was my question to you about Rome?",
            "I can’t remember which doctor I saw",
        ],
        Voice.ASSISTANT: [
            "What did you suggest for dinner?",
            "Which library did you recommend?",
            "What was your advice on the contract?",
            "What did you tell me about vitamin D?",
            "How many steps were in the plan you gave me?",
            "What did the assistant say about taxes?",
            "Show me the code you wrote",
            "Can you repeat what you said about sorting?",
            "What was the recipe you sent me on Monday?",
            "Have you explained recursion to me?",
            "What did you say about my diet?",
            "I wonder what you answered",
            "What did you say when I asked about fish?",
            "What did you say we should pack?",
        ],
        Voice.BOTH: [
            "What did we decide about the name?",
            "Where did we leave off?",
            "When did we talk about Rome?",
            "What have you and I agreed on?",
            "Our plan for the garden?",
        ],
        Voice.NOBODY: [
            "When did Caroline go to the support group?",
            "What is the capital of Peru?",
            "Can you tell me when Anna arrives?",
            "Remind me what the deadline is",
            "Show me everything about the lease",
            "Who fixed the boiler?",
            "Who won the US election?",
            "Does Karin dig in the garden?",
            "Where does the I-94 start?",
            "",
        ],
    },
    "sv": {
        Voice.USER: [
            "Vad sa jag om köket?",
            "Vad heter min syster?",
            "När flyttade jag till Lund?",
            "Kan du säga vad jag betalade för cykeln?",
            "Minns du var mina nycklar ligger?",
            "Kommer du ihåg vad min hund heter?",
            "Vad berättade jag för dig om knäet?",
            "Mina allergier?",
            "Vet du vad jag jobbar med?",
        ],
        Voice.ASSISTANT: [
            "Vad föreslog du till middag?",
            "Vilket bibliotek rekommenderade du?",
            "Vad var ditt råd om avtalet?",
            "Vad sa du till mig om vitamin D?",
            "Visa koden som du skrev",
            "Har du förklarat rekursion för mig?",
            "Jag undrar vad du svarade",
        ],
        Voice.BOTH: [
            "Vad bestämde vi om namnet?",
            "När pratade vi om Rom?",
            "Vår plan för trädgården?",
            "Vad har du och jag kommit överens om?",
        ],
        Voice.NOBODY: [
            "När gick Karin till läkaren?",
            "Kan du påminna mig om när tåget går?",
            "Berätta för mig om hyresavtalet",
            "Vad hände i Malmö?",
            "I vilken stad bor Erik?",
        ],
    },
    "nb": {
        Voice.USER: [
            "Hva sa jeg om kjøkkenet?",
            "Hva heter søsteren min?",
            "Kan du fortelle meg hva jeg betalte for sykkelen?",
            "Husker du når jeg flyttet til Bergen?",
            "Hva fortalte jeg deg om kneet?",
        ],
        Voice.ASSISTANT: [
            "Hva foreslo du til middag?",
            "Hva sa du til meg om vitamin D?",
            "Hva var rådet ditt om kontrakten?",
        ],
        Voice.BOTH: ["Hva ble vi enige om?", "Planen vår for hagen?"],
        Voice.NOBODY: [
            "Når dro Kari til legen?",
            "Kan du si meg når toget går?",
            "Hva skjedde i Oslo?",
            "Fortell meg om leiekontrakten",
        ],
    },
    "da": {
        Voice.USER: ["Hvad sagde jeg om køkkenet?", "Kan du fortælle mig, hvad min søster hedder?"],
        Voice.ASSISTANT: ["Hvad foreslog du til aftensmad?", "Hvad var dit råd?"],
        Voice.BOTH: ["Hvad blev vi enige om?"],
        Voice.NOBODY: ["Hvad skete der i Aarhus?", "Kan du sige mig, hvornår toget går?"],
    },
    "de": {
        Voice.USER: ["Was habe ich über die Küche gesagt?", "Kannst du mir sagen, wie meine Schwester heißt?"],
        Voice.ASSISTANT: ["Was hast du zum Abendessen vorgeschlagen?", "Was war dein Rat?"],
        Voice.BOTH: ["Was haben wir beschlossen?"],
        Voice.NOBODY: ["Was geschah in Berlin?", "Kannst du mir sagen, wann der Zug fährt?"],
    },
}


@pytest.mark.parametrize(
    ("language", "question", "voice"),
    [
        (language, question, voice)
        for language, voices in QUESTIONS.items()
        for voice, questions in voices.items()
        for question in questions
    ],
)
def test_a_question_asks_for_somebodys_words(language: str, question: str, voice: Voice) -> None:
    assert voice_of(question, language=language) is voice


def test_there_are_enough_questions_to_tell() -> None:
    assert sum(len(questions) for voices in QUESTIONS.values() for questions in voices.values()) >= 90


def test_a_language_without_known_pronouns_means_nobody() -> None:
    assert voice_of("Mitä minä sanoin?", language="fi") is Voice.NOBODY
    assert not first_person("Minä asun Turussa", language="fi")


@pytest.mark.parametrize(
    ("language", "text", "speaks_of_self"),
    [
        ("en", "I went home", True),
        ("en", "i went home", True),
        ("en", "It’s fine, I’ve seen it", True),
        ("en", "We painted the fence", True),
        ("en", "That is mine!", True),
        ("en", "They met us there", True),
        ("en", "The US team won", False),
        ("en", "You went home", False),
        ("en", "Take the I-95, i.e. the fast one", False),
        ("en", "Imagine that", False),
        ("sv", "Jag bor i Lund", True),
        ("sv", "Det var mitt fel", True),
        ("sv", "Hon bor i Lund", False),
        ("sv", "I Lund regnar det", False),
        ("sv", "Vi ses", True),
        ("nb", "Jeg bor i Oslo", True),
        ("nb", "Hun bor i Oslo", False),
        ("da", "Det er vores hus", True),
        ("de", "Ich wohne in Bonn", True),
        ("de", "Sie wohnt in Bonn", False),
        ("en", "", False),
    ],
)
def test_a_turn_speaks_of_its_speaker(language: str, text: str, *, speaks_of_self: bool) -> None:
    assert first_person(text, language=language) == speaks_of_self


@pytest.mark.parametrize(
    ("text", "asking"),
    [
        ("Where are you?", True),
        ("Var är du? Jag väntar.", True),
        ("どこですか？", True),
        ("أين أنت؟", True),
        ("Why? " + "Because " * 10, False),
        ("No.", False),
        ("See https://example.org/?id=4", False),
        ("Why?!", True),
        ("", False),
    ],
)
def test_a_turn_that_ends_with_a_question_asks(text: str, *, asking: bool) -> None:
    assert asks(text) == asking


@pytest.mark.parametrize(
    ("language", "question", "overview"),
    [
        ("en", "Can you summarize my plans?", True),
        ("en", "Give me a SUMMARY of it", True),
        ("en", "A quick recap, please", True),
        ("en", "What did I do last summer?", False),
        ("sv", "Sammanfatta mina planer", True),
        ("sv", "Kan du ge en översikt över flytten?", True),
        ("sv", "En kort sammanfattning, tack", True),
        ("sv", "Vad gjorde jag i somras?", False),
        ("nb", "Oppsummer planene mine", True),
        ("nb", "Kan du gi meg en oversikt over flyttingen?", True),
        ("nb", "Et kort sammendrag, takk", True),
        ("nb", "Hva gjorde jeg i sommer?", False),
        ("fi", "A summary of it", False),
        ("en", "", False),
    ],
)
def test_a_question_wants_an_overview(language: str, question: str, *, overview: bool) -> None:
    assert wants_overview(question, language=language) == overview


@given(st.text(st.characters(exclude_categories=())), st.sampled_from(sorted(QUESTIONS)))
def test_any_text_has_a_voice(text: str, language: str) -> None:
    assert voice_of(text, language=language) in Voice
    assert first_person(text, language=language) in (True, False)
    assert wants_overview(text, language=language) in (True, False)
