"""What is remembered of a turn keeps to its rule."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.evaluation.datasets.remembered_words import WordSense, exact_words, half_remembered
from memory_rag.text.word_bounds import words
from memory_rag.turns import Role, Turn

TEXT = (
    "Yesterday the neighbours planted seven apple trees along the northern fence of their meadow, "
    "and they were whistling the whole afternoon because the ground was so soft."
)
VOCABULARY = {"plants", "planting", "plan", "meadows", "whistle", "treetops", "apples", "fences", "neighbourly"}
KNOWN = dict.fromkeys(sorted(VOCABULARY | {word.of(TEXT).casefold() for word in words(TEXT)}), 1)
SENSE = WordSense(("en",), KNOWN)


@given(seed=st.integers())
def test_exact_words_stand_in_the_turn(seed: int) -> None:
    found = exact_words(_turn(TEXT), SENSE, Random(seed))

    assert found is not None
    assert found.query == found.origin
    assert found.query in TEXT
    assert 5 <= len(words(found.query)) <= 12


@given(seed=st.integers())
def test_half_remembered_words_are_the_turns_other_forms_of_them_or_the_memorys(seed: int) -> None:
    found = half_remembered(_turn(TEXT), SENSE, Random(seed))

    assert found is not None
    assert found.origin in TEXT
    said = [word.of(found.origin) for word in words(found.origin)]
    assert 12 <= len(said) <= 20
    asked = found.query.split()
    assert 2 <= len(asked) <= len(said)
    assert sum(map(SENSE.is_content, asked)) >= 2
    assert {word.casefold() for word in asked} <= set(KNOWN)
    # Common words are left out, never mistaken.
    assert all(word in said for word in asked if not SENSE.is_content(word))


def test_of_a_very_long_turn_whole_words_from_anywhere_are_remembered() -> None:
    numbered = [f"word{number:06}" for number in range(60_000)]
    turn = _turn(" ".join(numbered))
    sense = WordSense(("en",), dict.fromkeys(numbered, 1))

    made = [found for seed in range(40) if (found := exact_words(turn, sense, Random(seed)))]

    places = [int(found.query.split()[0].removeprefix("word")) for found in made]
    for found, place in zip(made, places, strict=True):
        n = len(found.query.split())
        assert found.query == " ".join(numbered[place : place + n])
        assert 5 <= n <= 12
    assert min(places) < 20_000
    assert max(places) > 40_000


def test_words_are_dropped_changed_mistaken_and_turned_round() -> None:
    made = [found for seed in range(300) if (found := half_remembered(_turn(TEXT), SENSE, Random(seed)))]

    asked = {word for found in made for word in found.query.split()}
    assert {"planted", "plants", "planting", "meadows"} <= asked
    # No form of a word said: only a mistake brings it.
    assert "treetops" in asked
    assert all(len(found.query.split()) < len(found.origin.split()) for found in made)
    in_order = [_is_in_order(found.query.split(), found.origin.split()) for found in made]
    assert 0.1 < sum(in_order) / len(made) < 0.9
    content = [sum(map(SENSE.is_content, found.query.split())) for found in made]
    of_turn = [sum(map(SENSE.is_content, found.origin.replace(",", "").split())) for found in made]
    assert sum(content) / sum(of_turn) == pytest.approx(0.5, abs=0.04)


def test_the_same_seed_remembers_the_same() -> None:
    assert half_remembered(_turn(TEXT), SENSE, Random(7)) == half_remembered(_turn(TEXT), SENSE, Random(7))
    assert WordSense(("en",), dict(reversed(KNOWN.items()))).drawn(Random(7)) == SENSE.drawn(Random(7))


def test_a_word_of_many_turns_is_mistaken_for_more_often() -> None:
    sense = WordSense(("en",), {"kayak": 9, "piano": 1, "the": 90})

    drawn = [sense.drawn(Random(seed)) for seed in range(400)]

    assert set(drawn) == {"kayak", "piano"}
    assert drawn.count("kayak") / 400 == pytest.approx(0.9, abs=0.05)
    assert WordSense(("en",), {"the": 3}).drawn(Random(0)) is None


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("planted", ["planting", "plants"]),
        ("Planted", ["planting", "plants"]),
        ("meadow", ["meadows"]),
        ("whistling", ["whistle"]),
        ("apple", ["apples"]),
        ("trees", []),  # treetops differs in more than its ending
        ("the", []),
        ("4711-ZX", []),
    ],
)
def test_other_forms_begin_alike_and_differ_in_their_endings(word: str, forms: list[str]) -> None:
    assert SENSE.other_forms(word) == forms


def test_a_turn_without_enough_words_gives_nothing() -> None:
    for text in ("", "one two three four", "the of and to in at on"):
        assert exact_words(_turn(text), SENSE, Random(0)) is None
        assert half_remembered(_turn(text), SENSE, Random(0)) is None


def test_line_breaks_are_no_part_of_what_is_asked() -> None:
    text = "Buy oats,\n\ntwo lemons\nand   cheap coffee"

    found = exact_words(_turn(text), SENSE, Random(0))

    assert found is not None
    assert "\n" not in found.query
    assert found.query in "Buy oats, two lemons and cheap coffee"


def test_common_words_depend_on_the_languages() -> None:
    assert not WordSense(("sv",), {}).is_content("och")
    assert WordSense(("en",), {}).is_content("och")
    assert not WordSense(("sv", "en"), {}).is_content("The")
    assert not WordSense(("en",), {}).is_content("€")


def _is_in_order(asked: list[str], said: list[str]) -> bool:
    """Whether the words asked that the turn has stand in its order."""
    places = [said.index(word) for word in asked if said.count(word) == 1]
    return places == sorted(places)


def _turn(text: str) -> Turn:
    return Turn("t1", "c", "s", 0, Role.USER, "Ada", text)
