"""The hub correction is one constant vector: the mean of generic questions, scaled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.embedding.generic_questions import (
    ENGLISH,
    GENERIC_QUESTIONS,
    NORWEGIAN,
    SWEDISH,
    hub_shift,
)
from memory_rag.embedding.minilm import MiniLmEmbedder


def test_the_shift_is_the_scaled_mean_of_the_questions() -> None:
    def embed(texts: Sequence[str]) -> Vectors:
        return np.array([[1, 0] if "?" in text else [0, 1] for text in [*texts, "", ""]], np.float32)

    n = len(GENERIC_QUESTIONS)
    assert np.allclose(hub_shift(embed, strength=0.5, dim=2), [0.5 * n / (n + 2), 0.5 * 2 / (n + 2)])


def test_strength_zero_asks_for_no_vector() -> None:
    def embed(texts: Sequence[str]) -> Vectors:
        raise AssertionError("nothing is embedded")

    assert hub_shift(embed, strength=0, dim=3).tolist() == [0, 0, 0]


def test_other_questions_may_be_given() -> None:
    def embed(texts: Sequence[str]) -> Vectors:
        return np.array([[len(text), 0] for text in texts], np.float32)

    assert hub_shift(embed, strength=2, dim=2, questions=["abc", "a"]).tolist() == [4, 0]


def test_the_questions_differ_and_come_in_three_languages() -> None:
    assert (len(ENGLISH), len(SWEDISH), len(NORWEGIAN)) == (16, 8, 8)
    assert len(set(GENERIC_QUESTIONS)) == 32
    assert all(question.endswith("?") for question in GENERIC_QUESTIONS)


def test_a_turn_that_is_near_to_any_question_falls_behind_the_one_that_is_meant(
    minilm: MiniLmEmbedder,
) -> None:
    turns = minilm.embed_turns(["That is a good question, what do you think?", "The boiler was replaced in May."])
    query = minilm.embed_queries(["What was done about the heating?"])[0]

    near, meant = turns @ query
    near_shifted, meant_shifted = turns @ (query - minilm.query_shift)

    assert meant - near < meant_shifted - near_shifted
    assert minilm.query_shift.shape == (384,)
    assert minilm.query_shift is minilm.query_shift
