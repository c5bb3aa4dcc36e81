"""Whether somebody asks for what was said before: on labelled utterances, and what must never be mistaken."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.evaluation.asking import HALVES, Labelled, asking_trial
from memory_rag.evaluation.tables import load_results
from memory_rag.prompt.asking_for_details import Need, need_of_details

ROOT = Path(__file__).parents[2]
LABELLED = Labelled.read([ROOT / "eval" / "ask-details.jsonl", ROOT / "eval" / "ask-details-2.jsonl"])
COUNTS = asking_trial(LABELLED.utterances, need_of=lambda text: need_of_details(text, languages=()).value)


def need(text: str, *languages: str) -> Need:
    return need_of_details(text, languages=languages)


@pytest.mark.parametrize(
    ("half", "language", "least"),
    [
        ("test", "en", 0.91),
        ("test", "sv", 0.80),
        ("test", "nb", 0.86),
        ("test", "all", 0.86),
        ("second", "en", 0.85),
        ("second", "sv", 0.85),
        ("second", "nb", 0.85),
        ("dev", "en", 0.97),
        ("dev", "sv", 0.97),
        ("dev", "nb", 0.97),
    ],
)
def test_at_least_so_many_of_the_labelled_utterances_are_told_right(half: str, language: str, least: float) -> None:
    asking, other = COUNTS[half][language]["asking"], COUNTS[half][language]["other"]
    right = asking.get("asked", 0) + sum(other.values()) - other.get("asked", 0)

    assert right / (sum(asking.values()) + sum(other.values())) >= least


@pytest.mark.parametrize("half", HALVES)
def test_nobody_who_asks_for_what_was_said_is_refused_a_search(half: str) -> None:
    assert COUNTS[half]["all"]["asking"].get("none", 0) == 0


def test_half_of_the_others_are_spared_a_search() -> None:
    other = COUNTS["test"]["all"]["other"]

    assert other["none"] / sum(other.values()) >= 0.5


def test_the_committed_result_is_what_the_rules_give_now() -> None:
    committed = load_results(ROOT / "eval" / "results")["ask-details"]

    assert committed["result"] == COUNTS
    assert committed["dataset"]["sha256"] == LABELLED.sha256


@pytest.mark.parametrize(
    "text",
    [
        "Tog vi den norra eller södra leden till slut?",
        "Ble det toroms eller treroms vi la inn bud på?",
        "Was it the blue one or the green one we ordered?",
        "Hur kom det sig att vi strök resan?",
        "Det där med skrivaren, vad hade du för lösning?",
        "Koden til garasjen?",
        "Skriv ett mejl där jag påminner Berit om det vi kom överens om",
        "Notera att jag flyttar. Vad sa jag om hyran?",
        "Husk: hva sa jeg om husleia?",
        "Remember what I told you about Ann",
        "what did I *actually* say about pricing?",
        "What did I say about “pricing”?",
        "so, remind me: who was the plumber?",
        "My sister called. What was the name of her new dog again?",
        "Vad sa jag egentligen om priset?",
        "Hva sa jeg egentlig om prisen?",
        "Hvad sagde du? Husker du min kode?",
    ],
)
def test_what_was_said_is_asked_for(text: str) -> None:
    assert need(text) is Need.ASKED


@pytest.mark.parametrize(
    "text",
    [
        "thanks!",
        "Tack så mycket, toppen!",
        "Tusen takk!",
        "hi there",
        "go on",
        "From now on, answer in Swedish.",
        "Notera att vi valde den blå.",
        "Husk at jeg heller vil ha korte svar",
        "Make a note that we agreed on Thursday",
        "Oversett til tysk: vi snakket om det i går",
        "fortsätt där du slutade",
        'Translate "what did I say about pricing?" into German',
        "What did you just say?",
        "how do I reverse a list in python",
        "Shorten this: we decided on Tuesday that the price stays. I told you so.",
        "",
        " \n\t",
        "?!",
        "👍",
        "\0\ud800",
    ],
)
def test_something_else_is_wanted(text: str) -> None:
    assert need(text) is Need.NONE


@pytest.mark.parametrize(
    "text",
    [
        "Hur går det med matten?",
        "Theo got the job!",
        "Was habe ich über den Preis gesagt?",
        "前に値段について何と言った？",
    ],
)
def test_of_others_it_is_unclear_and_the_evidence_decides(text: str) -> None:
    assert need(text, "en", "de", "ja") is Need.UNCLEAR


def test_the_memorys_own_language_counts_before_those_that_are_looked_for() -> None:
    assert need("Was hat sie gesagt?", "de") is Need.UNCLEAR
    assert need("vad sa jag?", "sv") is Need.ASKED
    assert need("vad sa jag?", "en") is Need.ASKED


@given(st.text())
def test_any_text_is_told_of(text: str) -> None:
    assert need(text) in Need
    assert need(text) is need(text)


@pytest.mark.parametrize(
    "text",
    ["“" * 9_000, "a(" * 9_000, "x" * 90_000, "again" + " " * 9_000 + "x", "har jag redan " * 900, '"' * 9_999],
)
def test_a_long_and_odd_text_takes_no_longer_than_its_two_ends(text: str) -> None:
    began = time.process_time()
    need(text)

    assert time.process_time() - began < 0.5


def test_of_a_long_turn_its_start_and_its_end_are_read() -> None:
    log = "2026-04-10 08:00 all is well.\n" * 9_000

    assert need(f"{log}\nWhat did I tell you about the boiler?") is Need.ASKED
