"""Vectors leave an embedder as unit-length copies; one without a direction is refused by name (case G06)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.embedding.embedder import (
    Distinct,
    Vectors,
    as_embedded,
    check_lengths,
    checked_vectors,
    mean_of_passages,
)
from memory_rag.embedding.minilm import MiniLmEmbedder
from memory_rag.errors import EmbedderError
from memory_rag.turns import Span


def test_a_long_vector_is_no_nearer_than_a_short_one_and_the_arrays_given_stay_as_they_were() -> None:
    given_turns = np.array([[0.2, 0.0], [0.6, 0.9]], np.float32)
    given_query = np.array([[1.0, 0.0]], np.float32)
    before = given_turns.copy(), given_query.copy()

    turns = checked_vectors(given_turns, n=2, dim=2, names=["v1", "v2"])
    query = checked_vectors(given_query, n=1, dim=2)

    assert (turns @ query[0]).tolist() == pytest.approx([1.0, 0.55470], abs=1e-5)
    assert np.array_equal(given_turns, before[0])
    assert np.array_equal(given_query, before[1])


@pytest.mark.parametrize(
    ("row", "reason"),
    [([0.0, 0.0], "is all zeros"), ([np.nan, 1.0], "is not finite"), ([1.0, -np.inf], "is not finite")],
)
def test_a_vector_without_a_direction_is_refused_by_the_name_of_its_turn(row: list[float], reason: str) -> None:
    with pytest.raises(EmbedderError, match=rf"^the vector of 't7' {reason}, so it has no direction"):
        checked_vectors([[1.0, 0.0], row], n=2, dim=2, names=["t6", "t7"])


def test_without_names_the_texts_are_counted_from_one() -> None:
    with pytest.raises(EmbedderError, match=r"^the vector of text 2 of 2 is all zeros"):
        checked_vectors([[1.0, 0.0], [0.0, 0.0]], n=2, dim=2)


@pytest.mark.parametrize("given", [np.ones((2, 3)), np.ones((3, 2)), np.ones(4), np.ones((0, 2))])
def test_another_shape_than_asked_for_is_refused(given: Vectors) -> None:
    with pytest.raises(EmbedderError, match=r"2 vectors of dim 2 were expected, shape \(2, 2\), but .* gave shape"):
        checked_vectors(given, n=2, dim=2)


def test_no_vectors_keep_their_dim() -> None:
    assert checked_vectors([], n=0, dim=5).shape == (0, 5)


@given(
    st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3).filter(any),
        min_size=1,
        max_size=5,
    )
)
def test_every_finite_vector_but_zero_becomes_one_of_length_one(rows: list[list[float]]) -> None:
    vectors = checked_vectors(rows, n=len(rows), dim=3)

    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1).tolist() == pytest.approx([1.0] * len(rows), abs=1e-6)


@given(st.lists(st.text(max_size=2)))
def test_distinct_texts_and_their_places_give_the_texts_back(texts: list[str]) -> None:
    distinct = Distinct.of(texts)

    assert [distinct.texts[place] for place in distinct.places] == texts
    assert len(set(distinct.texts)) == len(distinct.texts)


def test_a_text_over_the_limit_is_named_by_its_place() -> None:
    with pytest.raises(
        EmbedderError,
        match=r"^text 2 of 3, 'long', has 9 tokens, but m reads at most 8; embed its passages\(text\) instead",
    ):
        check_lengths(["short", "long", "longer"], n_tokens=[8, 9, 10], most=8, reader="m")


def test_a_long_question_is_the_mean_of_its_passages_and_a_short_one_is_itself() -> None:
    def halves(text: str) -> tuple[Span, ...]:
        return (Span(0, 1), Span(1, 2)) if len(text) == 2 else (Span(0, len(text)),)

    def embed(texts: object) -> Vectors:
        known = {"a": [1, 0], "b": [0, 1], "c": [0, 1]}
        return np.array([known[text] for text in list(texts)], np.float32)  # type: ignore[call-overload]

    found = mean_of_passages(["ab", "c"], passages=halves, embed=embed)

    assert found.tolist() == [pytest.approx([0.70711, 0.70711], abs=1e-5), [0, 1]]


class _ReadsSpeaker(MiniLmEmbedder):
    reads_speaker = True


@pytest.mark.parametrize(
    ("speaker", "expected"),
    [
        ("Ann", "Ann: hello"),
        ("", "hello"),
        ("  ", "hello"),
        ("A\ud800n", "A\ufffdn: hello"),
        ("é" * 100, "é" * 32 + ": hello"),
    ],
)
def test_a_speaker_is_named_before_the_text_for_a_model_that_reads_it(speaker: str, expected: str) -> None:
    assert as_embedded("hello", speaker=speaker, embedder=_ReadsSpeaker()) == expected
    assert as_embedded("hello", speaker=speaker, embedder=MiniLmEmbedder()) == "hello"
