"""What a notebook shows of hits, quotes, verdicts and comparisons."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_rag import Memory, Quotes, Verdicts
from tests.html.reading import shown_by

PRICE = "Let us say the price is 49 euro for the first season."
HOSTILE = "<img src=x onerror=alert(1)> said &amp; done \ud83d"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory", embedder="none") as opened:
        opened.add(PRICE, speaker="Ebba", conversation_id="pricing")
        opened.add("Noted: 49 euro.", role="assistant", conversation_id="pricing")
        yield opened


def test_a_search_shows_the_question_its_hits_and_where_they_were_said(memory: Memory) -> None:
    shown = shown_by(memory.search("what did I say about the price?")).text

    assert shown.startswith("what did I say about the price?")
    assert PRICE in shown
    assert " · t1 · pricing · score " in shown


def test_a_search_that_finds_nothing_says_so(memory: Memory) -> None:
    assert "Not found: nothing that was said answers this." in shown_by(memory.search("zebra")).text


def test_one_hit_is_shown_by_itself(memory: Memory) -> None:
    assert PRICE in shown_by(memory.search("price")[0]).text


def test_quotes_show_how_well_they_fit_and_what_differs(memory: Memory) -> None:
    exact = shown_by(memory.quote("price is 49 euro")).text
    near = shown_by(memory.quote("the price is 94 euro for the first season"))

    assert "exact" in exact
    assert "characters 15 to 31" in exact
    assert "changed: “94” asked for, “49” said" in near.text
    assert "mark" in near.elements


def test_words_that_nobody_said_are_shown_as_such(memory: Memory) -> None:
    quotes = memory.quote("a loaf never costs more than sixty")

    assert quotes == ()
    assert "Not found: nobody said these words" in shown_by(quotes).text


def test_a_corrected_turn_is_marked(memory: Memory) -> None:
    memory.correct("t1", text="Let us say the price is 54 euro.")

    assert re.search(r" · corrected \d{4}-\d\d-\d\d", shown_by(memory.quote("the price is 54 euro")).text)


def test_quotes_are_a_tuple_that_can_be_copied_and_sent(memory: Memory) -> None:
    quotes = memory.quote("price is 49 euro")

    assert isinstance(quotes, tuple)
    for copied in (copy.copy(quotes), copy.deepcopy(quotes), pickle.loads(pickle.dumps(quotes))):
        assert isinstance(copied, Quotes)
        assert (copied, copied.query) == (quotes, "price is 49 euro")


def test_verdicts_show_each_quotation_with_what_the_memory_says(memory: Memory) -> None:
    verdicts = memory.verify("You said “the price is 49 euro for the first season” and “it was always free of charge”.")

    shown = shown_by(verdicts).text
    assert shown.index("verbatim") < shown.index("the price is 49 euro") < shown.index("not found")
    assert "said to be the user's" in shown


def test_an_answer_without_quotations_has_no_verdicts(memory: Memory) -> None:
    assert shown_by(memory.verify("Forty-nine.")).text == "There is no quotation in this answer."
    assert Verdicts() == ()


def test_a_comparison_is_drawn_and_shows_the_words_of_the_first(memory: Memory) -> None:
    shown = shown_by(memory.compare("what about the price?"))

    assert {"svg", "line", "circle"} <= shown.elements
    assert "keyword 1, dense –, hybrid 1" in shown.text
    assert PRICE in shown.text


def test_a_comparison_without_any_hit_says_so(memory: Memory) -> None:
    assert "None of the modes finds anything." in shown_by(memory.compare("")).text


def test_what_was_said_is_never_markup(memory: Memory) -> None:
    memory.add(HOSTILE, speaker="<b>Eve</b>", conversation_id="<i>x</i>")

    for thing in (memory.search("done"), memory.compare("done"), memory.quote("said &amp; done"), memory.stats()):
        assert shown_by(thing).elements.isdisjoint({"img", "b onerror", "i"})
    assert "<img src=x onerror=alert(1)> said &amp; done" in shown_by(memory.search("done")).text


def test_a_memory_and_its_health_are_shown(memory: Memory) -> None:
    for number in range(13):
        memory.add("Hello.", conversation_id=f"talk-{number:02}")

    stats, checkup = shown_by(memory.stats()).text, shown_by(memory.doctor()).text

    assert "15 turns in 14 conversations" in stats
    assert "and 2 earlier ones" in stats
    assert checkup.startswith(("All is well", "Something is wrong"))
    assert "words" in checkup


def test_an_empty_memory_is_shown(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "empty", embedder="none") as empty:
        assert "0 turns in 0 conversations" in shown_by(empty.stats()).text
