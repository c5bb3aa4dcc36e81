"""The most similar stretch of a text is found whole, wherever it stands and however long the text is."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.differences import Difference
from memory_rag.retrieval.near import MOST_COMPARED, joined_by_ellipsis, nearest, pieces_of
from memory_rag.turns import Span


def test_the_stretch_holds_the_words_that_were_put_in() -> None:
    found = nearest("The flat is to be let", "Know that the flat is not to be let before June.", threshold=85)

    assert found is not None
    assert found.span == Span(10, 35)
    assert found.similarity == pytest.approx(91.3)
    assert found.differences == (Difference("negation", "", "not"),)


def test_nothing_below_the_threshold_is_found() -> None:
    assert nearest("the price is 49 euro", "we went to the sea", threshold=85) is None
    assert nearest("the price is 49 euro", "the price is 59 euro", threshold=96) is None
    assert nearest("?!", "?!", threshold=0) is None
    assert nearest("words", "", threshold=0) is None


def test_a_stretch_in_a_long_text_is_found_by_its_words() -> None:
    chance = random.Random(4)
    text = " ".join(f"w{chance.randrange(4000)}" for _ in range(300_000))
    passage = text[700_000:700_400].partition(" ")[2].rpartition(" ")[0]

    found = nearest(passage.replace(" ", " und ", 2), text, threshold=85)

    assert found is not None
    assert found.span.of(text) == passage
    assert found.differences == (Difference("extra", "", ""),) or {d.kind for d in found.differences} == {"missing"}


def test_a_stretch_in_a_long_text_without_spaces_is_found() -> None:
    chance = random.Random(5)
    text = "".join(chr(0x4E00 + chance.randrange(3000)) for _ in range(60_000))
    passage = text[31_000:31_040]

    found = nearest(passage[:20] + "字" + passage[20:], text, threshold=85)

    assert found is not None
    assert found.span == Span(31_000, 31_040)


def test_a_long_wording_is_compared_in_bounded_time_and_a_longer_one_not_at_all() -> None:
    chance = random.Random(6)
    text = " ".join(f"w{chance.randrange(4000)}" for _ in range(300_000))
    wording = text[500_000 : 500_000 + MOST_COMPARED - 100].replace("w1", "x1", 9)
    began = time.process_time()

    found = nearest(wording, text, threshold=85)

    assert found is not None
    assert abs(found.span.start - 500_000) < 10
    assert nearest(wording + " more" * 100, text, threshold=85) is None
    assert time.process_time() - began < 20


@pytest.mark.parametrize(
    ("wording", "pieces"),
    [
        ("The flat is ... to be let", ["the flat is", "to be let"]),
        ("The flat […] is (...) let…", ["the flat", "is", "let"]),
        ("no ellipsis. None", []),
        ("... …", []),
    ],
)
def test_pieces_are_what_ellipses_join(wording: str, pieces: list[str]) -> None:
    assert pieces_of(wording) == pieces


def test_pieces_are_found_in_order_and_the_shortest_stretch_is_chosen() -> None:
    found = joined_by_ellipsis(["the flat", "let"], "The flat, I mean the FLAT is not  let. Let it be.")

    assert found is not None
    assert found.span == Span(17, 37)
    assert found.differences == (Difference("negation", "...", "is not"),)


@pytest.mark.parametrize(
    "text", ["let the flat", "the flat is to let" + "ter", "the flat" + " and so on" * 40 + " let", "the flats, let"]
)
def test_pieces_elsewhere_far_away_or_inside_words_are_not_joined(text: str) -> None:
    assert joined_by_ellipsis(["the flat", "let"], text) is None


@given(st.text(max_size=50), st.text(max_size=50), st.floats(0, 100))
def test_a_stretch_lies_in_the_text_and_reaches_the_threshold(wording: str, text: str, threshold: float) -> None:
    found = nearest(wording, text, threshold=threshold)

    if found is not None:
        assert found.span.end <= len(text)
        assert round(threshold, 2) <= found.similarity <= 100
