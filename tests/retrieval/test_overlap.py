"""The simple baselines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from memory_rag.retrieval.overlap import overlap_scores, rank_bm25_scores

TEXTS = st.lists(st.lists(st.sampled_from(["A", "b", "c."])).map(" ".join), max_size=6)


def test_overlap_is_the_share_of_the_questions_distinct_words() -> None:
    scores = overlap_scores("Red red KAYAK trip", ["a red kayak", "red", "blue", "", "trip kayak red kayak"])

    assert scores.tolist() == pytest.approx([2 / 3, 1 / 3, 0, 0, 1])


@given(TEXTS)
def test_a_question_without_a_word_overlaps_with_nothing(texts: list[str]) -> None:
    assert overlap_scores(" \n", texts).tolist() == [0.0] * len(texts)


@given(TEXTS, st.lists(st.sampled_from(["a", "B", "z"])).map(" ".join))
def test_rank_bm25_is_called_as_people_call_it(texts: list[str], query: str) -> None:
    scores = rank_bm25_scores(query, texts)

    tokens = [text.lower().split() for text in texts]
    expected = BM25Okapi(tokens).get_scores(query.lower().split()).tolist() if any(tokens) else [0.0] * len(texts)
    assert scores.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("texts", [[], [""], ["", " "]])
def test_rank_bm25_of_no_words_is_zero_and_no_error(texts: list[str]) -> None:
    """rank-bm25 itself divides by zero."""
    assert rank_bm25_scores("kayak", texts).tolist() == [0.0] * len(texts)


def test_its_trap_is_kept_a_word_in_one_of_two_turns_scores_zero() -> None:
    assert rank_bm25_scores("kayak", ["kayak", "tax"]).tolist() == [0.0, 0.0]
