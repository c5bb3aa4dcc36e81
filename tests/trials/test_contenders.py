"""What is measured is what a search finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.datasets.registry import load
from memory_rag.evaluation.pools import Pools
from memory_rag.evaluation.report_shape import PoolName
from memory_rag.evaluation.retrievers import Contender
from memory_rag.evaluation.tuning import spread
from memory_rag.evaluation.weights_origin import shipped_weights
from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.weights_file import WeightsFile, read_weights
from memory_rag.settings import Settings
from memory_rag.trials.contenders import MemoryRetrievers
from memory_rag.trials.contest import Side, Telling
from memory_rag.trials.query_vectors import RememberingEmbedder
from memory_rag.trials.tuned import tuned_weights
from memory_rag.trials.work_folder import benchmark_memory
from tests.trials.made_talks import HashedWords, locomo_file

POOLS: tuple[PoolName, ...] = ("conversation", "memory")


@pytest.fixture
def memory(talks: Benchmark, tmp_path: Path) -> Iterator[Memory]:
    remembering = RememberingEmbedder(HashedWords(), tmp_path / "work")
    with benchmark_memory(talks, tmp_path / "work", settings=Settings(language="en"), embedder=remembering) as opened:
        opened.embed()
        yield opened


@pytest.fixture
def retrievers(talks: Benchmark, memory: Memory) -> MemoryRetrievers:
    return made(talks, memory)


def made(talks: Benchmark, memory: Memory) -> MemoryRetrievers:
    embedder = memory.indexes.embedder
    assert isinstance(embedder, RememberingEmbedder)
    return MemoryRetrievers(memory, talks, Pools(talks), embedder=embedder, origin=shipped_weights())


def named(contenders: list[Contender]) -> dict[str, Contender]:
    return {contender.name: contender for contender in contenders}


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("mode", ["keyword", "dense", "rrf", "hybrid"])
def test_a_retriever_ranks_as_the_mode_of_its_name(
    talks: Benchmark, memory: Memory, retrievers: MemoryRetrievers, mode: str, pool: PoolName
) -> None:
    contender = named([*retrievers.by_words(), *retrievers.by_meaning()])[mode]
    # On the day on which the talks end.
    searched = Memory(
        memory.folder,
        settings=memory.settings,
        embedder=memory.indexes.embedder,
        clock=lambda: datetime(2023, 5, 3, 20, tzinfo=UTC),
    )
    with searched:
        for query in talks.answerable():
            within = Within(conversation=query.conversation_id if pool == "conversation" else None)
            expected = searched.search(query.text, k=20, mode=mode, within=within, floor=False).turn_ids

            assert tuple(contender.rank(query, pool, 20).doc_ids) == expected


def test_a_file_of_an_older_release_ranks_by_the_signals_that_it_names(
    talks: Benchmark, memory: Memory, tmp_path: Path
) -> None:
    path = tmp_path / "older.toml"
    # Fewer signals than there are now, in another order, one switched off.
    path.write_text(
        "[weights]\nlength = 0.4\nspeaker = 2.0\ndense = 1.5\nvoice = 0.0\nkeyword = 3.0\n", encoding="utf-8"
    )
    older = read_weights(path)
    embedder = memory.indexes.embedder
    assert isinstance(embedder, RememberingEmbedder)
    found = MemoryRetrievers(
        memory,
        talks,
        Pools(talks),
        embedder=embedder,
        weights=older.weights,
        origin={"source": "file", "fitted_on": []},
    )
    hybrid = named(found.by_meaning())["hybrid"]
    searched = Memory(
        memory.folder,
        settings=replace(memory.settings, weights=str(path)),
        embedder=embedder,
        clock=lambda: datetime(2023, 5, 3, 20, tzinfo=UTC),
    )

    with searched:
        for query in talks.answerable():
            hits = searched.search(query.text, k=20, within=Within(), floor=False)
            assert tuple(hybrid.rank(query, "memory", 20).doc_ids) == hits.turn_ids
            assert set(hits[0].signals) == {"keyword", "dense", "speaker", "length"}
    assert dict(found.weights) == {"keyword": 3.0, "dense": 1.5, "speaker": 2.0, "length": 0.4}


def test_weights_are_tuned_from_a_file_of_an_older_release_signal_by_signal(talks: Benchmark, memory: Memory) -> None:
    embedder = memory.indexes.embedder
    assert isinstance(embedder, RememberingEmbedder)

    def tuned(weights: dict[str, float]) -> WeightsFile:
        side = Side(memory=memory, embedder=embedder, weights=weights, origin={"source": "file", "fitted_on": ["a"]})
        return tuned_weights(talks, side, pools=["conversation"], telling=Telling())

    found = tuned({"keyword": 3.0, "dense": 1.5, "speaker": 2.0})

    assert list(found.weights) == ["keyword", "dense", "speaker"]
    assert found.fitted_on == ["a", talks.sha256]
    assert tuned({"speaker": 2.0, "voice": 0.0, "dense": 1.5, "keyword": 3.0}) == found


def test_all_retrievers_rank_only_the_candidates_of_the_pool(talks: Benchmark, retrievers: MemoryRetrievers) -> None:
    for contender in [*retrievers.by_words(), *retrievers.by_meaning()]:
        for query in talks.answerable()[:5]:
            own = {document.doc_id for document in talks.pool_of(query, pool="conversation")}

            assert set(contender.rank(query, "conversation", 100).doc_ids) <= own
            assert len(contender.rank(query, "memory", 100).doc_ids) <= 100


def test_cross_validated_weights_rank_each_conversation_without_having_seen_it(
    talks: Benchmark, retrievers: MemoryRetrievers
) -> None:
    retrievers.by_meaning()
    examples = [one for query in talks.answerable() for one in retrievers.example(query, "conversation")]

    found = retrievers.cross_validated(examples)

    contender = retrievers.by_conversation(found)
    assert set(found) == {"talk-0", "talk-1", "talk-2"}
    assert found["talk-0"] != found["talk-1"]
    assert contender.weights == {"source": "cv", "fitted_on": [talks.sha256]}
    assert len(contender.rank(talks.queries[0], "conversation", 10).doc_ids) == 10
    assert all(low <= mean <= high for low, mean, high in spread(found).values())


def test_a_session_is_as_good_as_its_best_turn(tmp_path: Path, memory: Memory) -> None:
    sessions = load("locomo", locomo_file(tmp_path), unit="session")
    by_turn = {t.turn_id: d.doc_id for d in sessions.documents for t in d.turns}
    turns = load("locomo", locomo_file(tmp_path))
    query = sessions.answerable()[0]
    expected = dict.fromkeys(
        by_turn[turn] for turn in named(made(turns, memory).by_words())["keyword"].rank(query, "memory", 200).doc_ids
    )

    found = named(made(sessions, memory).by_words())["keyword"].rank(query, "memory", 200)

    assert list(found.doc_ids) == list(expected)


def test_without_an_embedder_there_is_hybrid_by_signals_alone(talks: Benchmark, tmp_path: Path) -> None:
    with benchmark_memory(talks, tmp_path / "none", settings=Settings(), embedder=None) as memory:
        found = MemoryRetrievers(memory, talks, Pools(talks), embedder=None, origin=shipped_weights())

        assert [contender.name for contender in found.by_meaning()] == ["hybrid"]


def test_a_question_without_a_word_has_no_hits(talks: Benchmark, retrievers: MemoryRetrievers) -> None:
    silent = replace(talks.queries[0], query_id="silent", text="?!")

    for contender in [*retrievers.by_words(), *retrievers.by_meaning()]:
        assert contender.rank(silent, "memory", 10).doc_ids == []
