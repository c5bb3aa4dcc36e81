"""Long texts become overlapping passages that end where a reader would pause; nothing falls between them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.embedding.passages import PassageShape, passages_that_fit, split_passages, spread_starts
from memory_rag.errors import SettingsError
from memory_rag.turns import Span

SMALL = PassageShape(size=10, overlap=3)


def word_starts(text: str) -> list[int]:
    return [word.start() for word in re.finditer(r"\w+", text)]


def said(text: str, *, shape: PassageShape = SMALL) -> list[str]:
    return [span.of(text) for span in split_passages(word_starts(text), text=text, shape=shape)]


def test_a_text_that_fits_is_one_passage_as_it_stands() -> None:
    text = "  one two three four five six seven eight nine ten \n"

    assert split_passages(word_starts(text), text=text, shape=SMALL) == (Span(0, len(text)),)
    assert split_passages([], text="", shape=SMALL) == (Span(0, 0),)


def test_a_passage_repeats_the_end_of_the_one_before() -> None:
    assert said("a b c d e f g h i j k l m n o p q") == [
        "a b c d e f g h i j",
        "h i j k l m n o p q",
    ]


def test_a_passage_ends_with_a_sentence_if_one_ends_in_its_last_fifth() -> None:
    assert said("a b c d e f g h. i j k l m n o")[0] == "a b c d e f g h."
    assert said("a b c d e f g. h i j k l m n o")[0] == "a b c d e f g. h i j"


def test_a_line_ends_before_a_sentence_does() -> None:
    assert said("a b c d e f g h\ni. j k l m n o")[0] == "a b c d e f g h"


@pytest.mark.parametrize("end", [".", "!", "?", "…", '."', ".)", "。", "。」"])
def test_sentences_end_in_many_ways(end: str) -> None:
    gap = "" if end[0] == "。" else " "

    assert said(f"a b c d e f g h i{end}{gap}j k l m n o")[0] == f"a b c d e f g h i{end}".rstrip()


def test_a_number_or_a_name_with_a_dot_is_no_end() -> None:
    assert said("a b c d e f g 2.4 j k l m n o")[0] == "a b c d e f g 2.4 j"


def test_the_last_passage_is_never_a_crumb() -> None:
    text = " ".join("abcdefghijk")

    assert said(text) == ["a b c d e f g h i j", "g h i j k"]


@given(
    st.text(alphabet="ab .\n。\u0301\x07", max_size=400),
    st.integers(8, 40).flatmap(lambda size: st.builds(PassageShape, st.just(size), st.integers(0, size // 2))),
)
def test_passages_hold_every_character_but_white_space_and_no_more_words_than_allowed(
    text: str, shape: PassageShape
) -> None:
    starts = word_starts(text)
    spans = split_passages(starts, text=text, shape=shape)

    held = {place for span in spans for place in range(span.start, span.end)}
    assert [place for place in range(len(text)) if place not in held and not text[place].isspace()] == []
    assert all(sum(span.start <= start < span.end for start in starts) <= shape.size for span in spans)
    assert [span.start for span in spans] == sorted({span.start for span in spans})
    assert [span.end for span in spans] == sorted({span.end for span in spans})


def test_a_passage_that_counts_too_many_tokens_alone_is_halved() -> None:
    spans = passages_that_fit(
        "abcdefgh", starts=lambda text: [0], count=lambda text: 2 * len(text), shape=SMALL, most=6
    )

    assert spans == (Span(0, 2), Span(2, 4), Span(4, 6), Span(6, 8))


def test_passages_of_a_text_with_surrogate_pairs_are_places_in_the_stored_text() -> None:
    stored = "\ud83d\ude00 " * 20

    spans = passages_that_fit(
        stored,
        starts=lambda text: [word.start() for word in re.finditer(r"\S", text)],
        count=lambda text: 1,
        shape=SMALL,
        most=10,
    )

    assert spans[0] == Span(0, 29)
    assert [span.of(stored) for span in spans][:1] == [" ".join(["\ud83d\ude00"] * 10)]
    assert spans[-1].end == len(stored) - 1


def test_tokens_without_places_are_spread_over_their_word() -> None:
    assert list(spread_starts("ab  abcd", count=len)) == [0, 1, 4, 5, 6, 7]
    assert list(spread_starts("abcd", count=lambda word: 2)) == [0, 2]
    assert list(spread_starts("x" * 20, count=lambda word: 1)) == [0, 16]
    assert list(spread_starts(" \n", count=len)) == []


@pytest.mark.parametrize(("size", "overlap"), [(7, 0), (10, 6), (10, -1)])
def test_a_shape_that_could_not_go_forward_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(SettingsError, match=f"got size {size} and overlap {overlap}"):
        PassageShape(size, overlap)


def test_a_shape_shrinks_for_a_model_that_reads_less_and_says_what_it_is() -> None:
    assert str(PassageShape()) == "p126-16"
    assert PassageShape().within(254) == PassageShape(126, 16)
    assert PassageShape().within(48) == PassageShape(48, 12)
