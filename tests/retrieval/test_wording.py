"""Words that were said bring back the turn that says them, and a phrase the turn that says it as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.retrieval.ranking import Ranking

TALK = (
    "We have to dig deep in the fourth quarter and win the game.",
    "Deep water, the quarter moon, and we dig clams: the fourth game of it!",
    "The fourth of May, a deep blue quarter of the sky.",
    "A game of cards in the deep winter, to win a quarter.",
    "Naïve as I was, I paid the  whole\nrent for May.",
    "The rent is due. May is a month.",
    "Bread, butter, beans and barley.",
)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory.open(tmp_path / "m", embedder="none", language="en")
    for text in TALK:
        memory.add(text)
    return memory


def best(ranking: Ranking) -> str:
    return ranking[0].turn.text


def test_a_turn_that_says_the_very_words_comes_before_one_that_has_them_all(memory: Memory) -> None:
    found = memory.search("dig deep in the fourth quarter")

    assert best(found) == TALK[0]
    assert found[0].signals["literal"] == 30.0
    assert found[0].signals["wording"] == 20.0
    assert {hit.signals["literal"] for hit in found.hits[1:]} == {0.0}
    assert found.evidence == "strong"


def test_case_white_space_and_composition_do_not_part_a_phrase(memory: Memory) -> None:
    for phrase in ("PAID THE WHOLE RENT", "nai\u0308ve as I was, I paid", "  whole rent for May. "):
        assert memory.search(phrase)[0].signals["literal"] == 30.0
        assert best(memory.search(phrase)) == TALK[4]


def test_a_question_may_quote_what_was_said(memory: Memory) -> None:
    for question in (
        'Who said "the fourth of May"?',
        "When did I say “the fourth of May”?",
        "Var stod «the fourth of May»?",
    ):
        found = memory.search(question)
        assert best(found) == TALK[2]
        assert found[0].signals["literal"] == 30.0
        assert found[0].signals["wording"] == 0.0


def test_words_half_remembered_count_by_how_many_a_turn_holds(memory: Memory) -> None:
    found = memory.search("barley beans breakfast")

    assert best(found) == TALK[6]
    assert 10.0 < found[0].signals["wording"] < 20.0
    assert found[0].signals["literal"] == 0.0


def test_a_question_is_not_ranked_by_the_share_of_its_words(memory: Memory) -> None:
    assert {hit.signals["wording"] for hit in memory.search("What did I say about the rent for May?")} == {0.0}


def test_a_long_question_that_was_asked_before_is_found_as_it_stands(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "q", embedder="none", language="en") as memory:
        asked = memory.add("Which bakery on Mill Lane sells rye bread on Sundays?")
        memory.add(
            "The bakery on Mill Lane sells rye bread, on Sundays too, and so does the other bakery on Mill Lane."
        )

        found = memory.search("which bakery on Mill Lane sells rye bread on sundays")

        assert (found[0].turn.turn_id, found[0].signals["literal"]) == (asked.turn_id, 30.0)
        assert found[1].signals["literal"] == 0.0


def test_so_is_one_of_many_words_few_of_which_have_content(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "q", embedder="none", language="en") as memory:
        said = memory.add("Lots of joy. By the way, how is your garden doing? I have not been there for so long.")
        memory.add("Joy, joy, joy: there is lots of it, and lots of joy in the garden.")

        found = memory.search("lots of joy. By the way, how is your")

        assert (found[0].turn.turn_id, found[0].signals["literal"]) == (said.turn_id, 30.0)
        assert found[1].signals["literal"] == 0.0


def test_a_short_question_is_not_looked_for_as_it_stands(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "q", embedder="none", language="en") as memory:
        memory.add("Where is the rye bread?")

        assert memory.search("where is the rye bread")[0].signals["literal"] == 0.0


def test_one_word_is_no_phrase(memory: Memory) -> None:
    assert {hit.signals["literal"] for hit in memory.search("rent")} == {0.0}


def test_a_phrase_is_found_in_a_long_turn_among_thousands(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m", embedder="none", language="en") as memory:
        long = "gravel and moss. " * 300 + "The lamp in the hall is broken. " + "gravel and moss. " * 300
        said = memory.add(long)
        for number in range(2200):
            memory.add(f"lamp hall broken lamp hall broken {number}" if number % 10 == 0 else f"nothing {number}")

        found = memory.search("lamp in the hall is broken", k=1)

        assert found.turn_ids == (said.turn_id,)
        assert "lamp in the hall" in found[0].span.of(long)


def test_what_is_left_out_or_forgotten_says_nothing(memory: Memory) -> None:
    first = memory.search("dig deep in the fourth quarter")[0].turn
    memory.forget([first.turn_id])

    assert {hit.signals["literal"] for hit in memory.search("dig deep in the fourth quarter", floor=False)} == {0.0}
