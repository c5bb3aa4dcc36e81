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
SENSE = WordSense(("en",), VOCABULARY | set(TEXT.casefold().split()))


@given(seed=st.integers())
def test_exact_words_stand_in_the_turn(seed: int) -> None:
    found = exact_words(_turn(TEXT), SENSE, Random(seed))

    assert found is not None
    assert found.query == found.origin
    assert found.query in TEXT
    assert 5 <= len(words(found.query)) <= 12


@given(seed=st.integers())
def test_half_remembered_words_are_in_the_turns_order_and_each_is_a_word_or_begins_as_one(seed: int) -> None:
    found = half_remembered(_turn(TEXT), SENSE, Random(seed))

    assert found is not None
    assert found.origin in TEXT
    said = [word.of(found.origin) for word in words(found.origin)]
    assert 12 <= len(said) <= 20
    place = 0
    for word in found.query.split():
        while word != said[place] and word not in SENSE.other_forms(said[place]):
            place += 1
        place += 1
    assert sum(map(SENSE.is_content, found.query.split())) >= 3
    assert len(found.query.split()) <= len(said)


def test_some_words_are_dropped_and_some_are_changed() -> None:
    made = [half_remembered(_turn(TEXT), SENSE, Random(seed)) for seed in range(300)]

    asked = {word for found in made if found for word in found.query.split()}
    assert {"planted", "plants", "planting", "meadows"} <= asked
    assert all(len(found.query.split()) < len(found.origin.split()) for found in made if found)


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
    assert not WordSense(("sv",), ()).is_content("och")
    assert WordSense(("en",), ()).is_content("och")
    assert not WordSense(("sv", "en"), ()).is_content("The")
    assert not WordSense(("en",), ()).is_content("€")


def _turn(text: str) -> Turn:
    return Turn("t1", "c", "s", 0, Role.USER, "Ada", text)
