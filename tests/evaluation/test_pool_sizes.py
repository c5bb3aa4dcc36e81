"""Pools of n conversations: which they are, and what is measured in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.evaluation.pool_sizes import SizedPools, asked_of_sizes, size_points, sizes_of, unmeasured_sizes
from tests.evaluation.made_report import made_benchmark


@given(n_conversations=st.integers(1, 13), n=st.integers(1, 13), seed=st.integers(0, 3))
def test_every_question_has_a_pool_of_the_size_with_its_own_conversation(
    n_conversations: int, n: int, seed: int
) -> None:
    benchmark = made_benchmark(n_conversations=n_conversations)
    pools = SizedPools(benchmark, n, seed=seed)

    for query in benchmark.answerable():
        pool = pools.conversations(query, "memory")
        assert query.conversation_id in pool
        assert len(set(pool)) == len(pool) == min(n, n_conversations)
        assert {document.conversation_id for document in pools.candidates(query, "memory")} == set(pool)
        same = [other for other in benchmark.answerable() if pools.key(other, "memory") == pools.key(query, "memory")]
        assert {pools.conversations(other, "memory") for other in same} == {pool}


def test_pools_are_drawn_with_the_seed() -> None:
    benchmark = made_benchmark(n_conversations=9)
    query = benchmark.answerable()[0]

    drawn = [SizedPools(benchmark, 3, seed=seed).conversations(query, "memory") for seed in (0, 0, 1, 2)]

    assert drawn[0] == drawn[1]
    assert len({frozenset(pool) for pool in drawn}) > 1


@pytest.mark.parametrize(
    ("n", "sizes", "missing"),
    [
        (1, (1,), "recall in pools of 5, 50 and 500 conversations: the data have 1"),
        (5, (1, 5), "recall in pools of 50 and 500 conversations: the data have 5"),
        (20, (1, 5, 20), "recall in pools of 50 and 500 conversations: the data have 20"),
        (60, (1, 5, 50, 60), "recall in pools of 500 conversations: the data have 60"),
        (501, (1, 5, 50, 500, 501), ""),
    ],
)
def test_sizes_go_as_far_as_the_data(n: int, sizes: tuple[int, ...], missing: str) -> None:
    benchmark = made_benchmark(n_conversations=n)

    assert sizes_of(benchmark) == sizes
    assert unmeasured_sizes(benchmark) == missing


def test_many_questions_are_thinned_evenly() -> None:
    asked = asked_of_sizes(made_benchmark(n_conversations=200))

    assert len(asked) == len({query.query_id for query in asked}) == 500
    assert {query.conversation_id for query in asked} == {f"c{number}" for number in range(200)}


def test_a_point_is_the_mean_over_the_questions_and_a_missing_hit_is_0() -> None:
    benchmark = made_benchmark()
    queries = benchmark.answerable()
    run = {query.query_id: [next(iter(benchmark.qrels[query.query_id]))] for query in queries}
    nothing: dict[str, list[str]] = {query.query_id: [] for query in queries}

    points = size_points(
        {"half": run, "none": nothing},
        benchmark=benchmark,
        queries=queries,
        by="recall@5",
        n_conversations=3,
        n_turns=60,
        seed=0,
    )

    assert points["half"] == {"n_conversations": 3, "n_turns": 60, "mean": 0.5, "low": 0.5, "high": 0.5, "n": 30}
    assert points["none"]["mean"] == 0.0


def test_turns_are_counted_on_average_over_the_questions() -> None:
    benchmark = made_benchmark()

    assert SizedPools(benchmark, 4, seed=0).turns_on_average(benchmark.answerable()) == 80
