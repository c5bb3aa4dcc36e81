"""What is asked of a memory with its embedder is kept, cross-validation and why it was refused included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.kept_rankings import KeptRankings
from memory_rag.evaluation.pools import Pools
from memory_rag.evaluation.runner import Trial
from memory_rag.evaluation.weights_origin import shipped_weights
from memory_rag.memory import Memory
from memory_rag.retrieval.signals import WEIGHTS
from memory_rag.settings import Settings
from memory_rag.trials.contest import Contest, Side, Telling, embed_side
from memory_rag.trials.growing import ask_of_sizes
from memory_rag.trials.query_vectors import RememberingEmbedder
from memory_rag.trials.work_folder import benchmark_memory
from tests.trials.made_talks import HashedWords

REFUSED = "no question has its evidence among the candidates, so there is nothing to fit weights to"


@pytest.fixture
def side(talks: Benchmark, tmp_path: Path) -> Iterator[Side]:
    with benchmark_memory(talks, tmp_path / "work", settings=Settings(language="en"), embedder=None) as memory:
        yield Side(memory=memory, embedder=None, weights=WEIGHTS, origin=shipped_weights())


def asked(benchmark: Benchmark, side: Side, kept: KeptRankings, notes: list[str]) -> tuple[Trial, Contest]:
    trial = Trial(benchmark, ("conversation", "memory"), kept=kept)
    contest = Contest(trial, side, Pools(benchmark), ("hybrid", "hybrid-cv"), Telling(note=notes.append))
    contest.ask()
    return trial, contest


def test_cross_validated_rankings_are_kept_in_every_pool(talks: Benchmark, side: Side, tmp_path: Path) -> None:
    kept = KeptRankings(tmp_path / "stopped", {})
    trial, contest = asked(talks, side, kept, [])
    ask_of_sizes(trial, [contest], retrievers=("hybrid", "hybrid-cv"), progress=None)
    kept.close()

    again = KeptRankings(tmp_path / "stopped", {})
    found = {pool: len(again.of(pool, "hybrid-cv")) for pool in ("conversation", "memory")}
    assert found == {"conversation": 36, "memory": 36}
    assert [point["n_conversations"] for point in trial.pool_sizes["hybrid-cv"]] == [1, 3]
    taken_up, of_kept = asked(talks, side, again, [])
    assert taken_up.runs == trial.runs
    assert of_kept.weights == contest.weights


def test_how_long_it_takes_to_embed_is_told_though_every_turn_is_very_long(tmp_path: Path) -> None:
    said = [f"{thing} and bread " * 1_400 for thing in ("kayak", "piano", "ferry")]
    embedder = RememberingEmbedder(HashedWords(), tmp_path)
    notes = list[str]()
    with Memory.open(tmp_path / "memory", embedder=embedder) as memory:
        for text in said:
            memory.add(text)
        embed_side(
            Side(memory=memory, embedder=embedder, weights=WEIGHTS, origin=shipped_weights()),
            Telling(note=notes.append),
        )
        (note,) = notes
        dense = memory.indexes.dense()
        assert dense is not None
        assert len(dense.pending(memory.indexes.keyword.table)) == 0

    assert re.fullmatch(r"3 turns to embed, about \d+ s; a stopped run is taken up again", note)


def test_where_nothing_can_be_fitted_it_is_said_kept_and_not_tried_again(
    talks: Benchmark, side: Side, tmp_path: Path
) -> None:
    silent = replace(talks, queries=tuple(replace(query, text="?!") for query in talks.queries))
    kept, notes = KeptRankings(tmp_path / "stopped", {}), list[str]()
    trial, contest = asked(silent, side, kept, notes)
    kept.close()

    assert set(trial.runs["memory"]) == {"hybrid"}
    assert contest.not_measured == [f"hybrid-cv, {pool}: {REFUSED}" for pool in ("conversation", "memory")]
    assert notes == [f"hybrid-cv, pool {pool}, is left out: {REFUSED}" for pool in ("conversation", "memory")]
    # The same memory, but questions that could be fitted to: what was kept decides.
    _, again = asked(talks, side, KeptRankings(tmp_path / "stopped", {}), [])
    assert again.not_measured == contest.not_measured
