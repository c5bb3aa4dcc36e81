"""Which turns state a lasting wish, and which questions ask of the past."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.text.wishes import asks_of_the_past, states_wish

WISHES = {
    "en": [
        "Always answer in bullet points",
        "always use metric units when I ask about cooking",
        "Please always show the formula.",
        "Thanks! Never suggest pork.",
        "That was fine.\n  Never use emojis",
        "I prefer short answers",
        "For travel I'd prefer the train",
        "I’d really prefer tea",
        "i usually prefer Python",
        "Never proceed without asking me",
        "Always have a second option ready",
        "Always in Swedish, please",
    ],
    "sv": [
        "Svara alltid på svenska",
        "Använd alltid metriska mått när jag frågar om mat.",
        "Tack! Föreslå aldrig fläsk.",
        "Snälla, skriv alltid kort",
        "Ge mig alltid källan",
        "Alltid svara i punktform",
        "Jag föredrar korta svar",
        "När jag reser föredrar jag tåg",
        "Jag skulle föredra te",
        "Jag vill alltid ha exempel med",
        "Jag vill att du alltid visar formeln",
        "Jag åker helst tåg",
        "Var alltid kortfattad",
    ],
    "nb": [
        "Svar alltid på norsk",
        "Bruk aldri emojier",
        "Takk! Foreslå aldri svinekjøtt.",
        "Vennligst skriv alltid kort",
        "Vær så snill å alltid vise formelen",
        "Gi meg alltid kilden",
        "Jeg foretrekker korte svar",
        "Når jeg reiser, foretrekker jeg tog",
        "Jeg vil alltid ha med eksempler",
        "Jeg vil at du alltid viser formelen",
        "Jeg tar helst toget",
    ],
}
NO_WISHES = {
    "en": [
        "I have always lived here",
        "She never called",
        "Never mind.",
        "Never mind, I found it",
        "Never again!",
        "Always a pleasure",
        "Never heard of it",
        "Always wanted to go there. Never been.",
        "I like short answers",
        "You prefer tea?",
        "It's nearly always late",
        "",
    ],
    "sv": [
        "Jag har alltid bott här",
        "Hon ringde aldrig",
        "Aldrig har jag sett något liknande",
        "Nästan alltid är det kö",
        "Går alltid upp tidigt",
        "Jag gillar korta svar",
        "Hur som helst gick det bra",
        "När som helst",
    ],
    "nb": [
        "Jeg har alltid bodd her",
        "Hun ringte aldri",
        "Aldri har jeg sett noe lignende",
        "Nesten alltid er det kø",
        "Og alltid var det kø",
        "Jeg liker korte svar",
        "Når som helst",
    ],
}
PAST = {
    "en": [
        "What did I say about the kitchen?",
        "Which books have I read?",
        "What was the recipe?",
        "How many times have we talked about Rome?",
        "Summarize our conversations about tax",
        "Didn’t I mention a dog?",
        "I've bought a stove; which one?",
        "How many days do I have to finish the book?",
        "How is my progress so far?",
    ],
    "sv": [
        "Vad sa jag om köket?",
        "När flyttade jag till Lund?",
        "Vad köpte vi till festen?",
        "Kan du berätta vilken färg jag valde till hallen?",
        "Påminn mig om när vi flyttade",
        "Var bodde jag innan?",
        "Var var vi i somras?",
        "Vad var det jag sa om bilen?",
        "Vilken dag var mötet?",
        "Hur gammal var hunden?",
        "Vilka böcker har jag läst?",
        "Har jag någonsin nämnt en hund?",
        "Vad har vi pratat om hittills?",
        "Sammanfatta våra samtal om skatten",
        "Hur många gånger gick jag till tandläkaren?",
    ],
    "nb": [
        "Hva sa jeg om kjøkkenet?",
        "Når flyttet jeg til Bergen?",
        "Hva kjøpte vi til festen?",
        "Kan du fortelle hvilken farge jeg valgte til gangen?",
        "Minn meg på når vi flyttet",
        "Hvor bodde jeg før?",
        "Hva var det jeg sa om bilen?",
        "Hvilken dag var møtet?",
        "Hvilke bøker har jeg lest?",
        "Har jeg noen gang nevnt en hund?",
        "Hva har vi snakket om så langt?",
        "Oppsummer samtalene våre om skatten",
        "Hvor mange ganger gikk jeg til tannlegen?",
    ],
}
NOW = {
    "en": [
        "Can you suggest a recipe for tonight?",
        "How do I set up the database?",
        "What should I pack for Rome?",
        "Do you have any tips for the interview?",
        "I have to write a letter, how do I begin?",
        "I'm planning a trip, what would you recommend?",
        "",
    ],
    "sv": [
        "Kan du föreslå ett recept?",
        "Hur ställer jag in databasen?",
        "Vad borde jag packa till Rom?",
        "Kunde du hjälpa mig med intervjun?",
        "Vad måste jag tänka på?",
        "Kan du visa hur jag borde skriva brevet?",
        "Har du några tips inför intervjun?",
        "Har du lust att skriva ett tal?",
        "Har vi något kvar att göra?",
        "Var kan jag köpa en begagnad cykel?",
        "Var är det billigast att tanka?",
        "Var tredje dag ska jag träna, hur lägger jag upp det?",
        "Jag har svårt att sova, vad kan jag göra?",
        "Jag har en fest på lördag, vad ska jag laga?",
    ],
    "nb": [
        "Kan du foreslå en oppskrift?",
        "Hvordan setter jeg opp databasen?",
        "Hva burde jeg pakke til Roma?",
        "Kan du vise hvordan jeg burde skrive brevet?",
        "Kunne du hjelpe meg med intervjuet?",
        "Har du noen tips til intervjuet?",
        "Har du lyst til å skrive en tale?",
        "Har du mulighet til å forklare det?",
        "Hvor kan jeg kjøpe en brukt sykkel?",
        "Hva er det beste du kan anbefale?",
        "Hva vet du om varmepumper?",
        "Jeg har vondt for å sove, hva kan jeg gjøre?",
    ],
}


def _rows(*tables: tuple[dict[str, list[str]], bool]) -> list[tuple[str, str, bool]]:
    return [(code, text, yes) for table, yes in tables for code, texts in table.items() for text in texts]


@pytest.mark.parametrize(("language", "text", "wish"), _rows((WISHES, True), (NO_WISHES, False)))
def test_a_turn_states_a_lasting_wish(language: str, text: str, *, wish: bool) -> None:
    assert states_wish(text, language=language) == wish


@pytest.mark.parametrize(("language", "question", "past"), _rows((PAST, True), (NOW, False)))
def test_a_question_asks_of_the_past_or_for_help_now(language: str, question: str, *, past: bool) -> None:
    assert asks_of_the_past(question, language=language) == past


def test_a_language_without_known_words_states_no_wish_and_asks_of_no_past() -> None:
    assert not states_wish("Always. Vastaa aina suomeksi", language="fi")
    assert not asks_of_the_past("What did I say?", language="fi")


@given(st.text(st.characters(exclude_categories=())), st.sampled_from(["en", "sv", "nb", "da", ""]))
def test_any_text_is_read(text: str, language: str) -> None:
    assert states_wish(text, language=language) in (True, False)
    assert asks_of_the_past(text, language=language) in (True, False)


@given(st.text("\n .!?alwysneverplijgtdksv'", max_size=40))
def test_an_english_wish_is_what_the_plain_pattern_finds(text: str) -> None:
    told = r"(?!,? (?:again|ever|an?|i|seen|knew|got|went|(?!(?:need|speed)\b)\w+ed)\b)"
    plain = rf"(?:\A|[.!?\n])\s*(?:please )?(?:always|never)\b{told}|\bi(?:'d| would)?(?: really| also)? prefer\b"
    assert states_wish(text, language="en") == (re.search(plain, text, re.IGNORECASE) is not None)


@pytest.mark.parametrize("language", ["en", "sv", "nb"])
@pytest.mark.parametrize(
    "piece", ["\n", " ", ".", "a", "jag ", "i would ", ". please ", "har jag ", "inte ", "hur ", "helst prefer "]
)
def test_a_turn_of_a_million_characters_is_read_in_linear_time(piece: str, language: str) -> None:
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    states_wish(text, language=language)
    asks_of_the_past(text, language=language)
    assert time.process_time() - start < 20
