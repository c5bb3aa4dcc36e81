"""Reciprocal rank fusion."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.fusion import reciprocal_rank_fusion

RANKINGS = st.lists(st.permutations("abcdefg").flatmap(lambda p: st.integers(0, 7).map(lambda n: p[:n])), max_size=4)


@given(RANKINGS, st.integers(1, 9), st.integers(1, 100))
def test_a_score_is_the_sum_of_reciprocal_ranks_and_ties_come_by_id(
    rankings: list[list[str]], k: int, rank_constant: int
) -> None:
    fused = reciprocal_rank_fusion(rankings, k=k, rank_constant=rank_constant)

    exact = {
        found: sum(Fraction(1, rank_constant + 1 + ranking.index(found)) for ranking in rankings if found in ranking)
        for found in {found for ranking in rankings for found in ranking}
    }
    expected = sorted(exact, key=lambda found: (-exact[found], found))[:k]
    assert [found for found, _ in fused] == expected
    assert [score for _, score in fused] == pytest.approx([float(exact[found]) for found in expected])


@given(RANKINGS.flatmap(lambda rankings: st.tuples(st.just(rankings), st.permutations(rankings))))
def test_the_order_of_the_rankings_does_not_matter_to_the_last_bit(
    both: tuple[list[list[str]], list[list[str]]],
) -> None:
    rankings, shuffled = both

    assert reciprocal_rank_fusion(rankings, k=9) == reciprocal_rank_fusion(shuffled, k=9)


def test_nothing_fused_is_nothing() -> None:
    assert reciprocal_rank_fusion([], k=3) == []
    assert reciprocal_rank_fusion([[], []], k=3) == []


def test_the_rank_constant_is_sixty_by_default() -> None:
    assert reciprocal_rank_fusion([["a"]], k=1) == [("a", 1 / 61)]
