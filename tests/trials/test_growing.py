"""A run measures how recall changes with the size of the pool, by the same retrievers on the same questions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.pool_sizes import SizedPools
from memory_rag.evaluation.report_file import by_pool
from memory_rag.evaluation.report_shape import PoolName, Report
from memory_rag.evaluation.runner import Trial
from memory_rag.evaluation.weights_origin import shipped_weights
from memory_rag.retrieval.signals import WEIGHTS
from memory_rag.settings import Settings
from memory_rag.trials.contest import Side, Telling
from memory_rag.trials.query_vectors import RememberingEmbedder
from memory_rag.trials.running import RETRIEVERS, run_trial
from memory_rag.trials.work_folder import benchmark_memory
from tests.trials.made_talks import HashedWords

Ran = Callable[..., list[Report]]


@pytest.fixture
def ran(talks: Benchmark, tmp_path: Path) -> Ran:
    def run(*pools: PoolName, retrievers: tuple[str, ...] = RETRIEVERS) -> list[Report]:
        embedder = RememberingEmbedder(HashedWords(), tmp_path)
        with benchmark_memory(talks, tmp_path, settings=Settings(), embedder=embedder) as memory:
            side = Side(memory=memory, embedder=embedder, weights=WEIGHTS, origin=shipped_weights())
            return by_pool(run_trial(Trial(talks, pools), side, retrievers=retrievers, telling=Telling()))

    return run


def test_every_retriever_has_a_point_for_one_conversation_and_for_all(ran: Ran) -> None:
    own, memory = ran("conversation", "memory")

    assert "pool_sizes" not in own
    contenders = [name for name, found in memory["retrievers"].items() if not found["bound"]]
    assert sorted(memory["pool_sizes"]) == sorted(contenders)
    for name, points in memory["pool_sizes"].items():
        assert [(point["n_conversations"], point["n_turns"], point["n"]) for point in points] == [
            (1, 36, 36),
            (3, 108, 36),
        ]
        assert points[0]["mean"] == own["retrievers"][name]["measures"]["recall@10"]["mean"]
        assert points[1]["mean"] == memory["retrievers"][name]["measures"]["recall@10"]["mean"]


def test_a_size_that_no_pool_of_the_run_has_is_asked_and_gives_what_that_pool_gives(ran: Ran) -> None:
    names = ("overlap", "rank-bm25", "keyword", "dense", "rrf", "convex", "hybrid")
    own, _ = ran("conversation", "memory", retrievers=names)
    [alone] = ran("memory", retrievers=names)

    for name in names:
        asked = alone["pool_sizes"][name][0]
        assert asked["mean"] == pytest.approx(own["retrievers"][name]["measures"]["recall@10"]["mean"], abs=1e-12), name


def test_without_the_whole_memory_it_is_said_that_growth_is_not_measured(ran: Ran) -> None:
    [own] = ran("conversation", retrievers=("keyword",))

    assert "how recall changes with the number of conversations in the memory" in own["not_measured"]


def test_a_pool_of_two_of_three_conversations_ranks_the_turns_of_both(talks: Benchmark, tmp_path: Path) -> None:
    pools = SizedPools(talks, 2, seed=0)
    embedder = RememberingEmbedder(HashedWords(), tmp_path)
    with benchmark_memory(talks, tmp_path, settings=Settings(), embedder=embedder) as memory:
        memory.embed()
        side = Side(memory=memory, embedder=embedder, weights=WEIGHTS, origin=shipped_weights())
        ours = side.retrievers(Trial(talks, ("memory",)), pools)
        query = talks.answerable()[0]
        candidates = {document.doc_id for document in pools.candidates(query, "memory")}

        for contender in [*ours.by_words(), *ours.by_meaning()]:
            found = contender.rank(query, "memory", 100).doc_ids
            assert set(found) <= candidates
            assert {doc_id.partition("/")[0] for doc_id in found} == set(pools.conversations(query, "memory"))
