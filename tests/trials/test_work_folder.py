from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memory_rag.errors import StoreError
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.settings import Settings
from memory_rag.trials.query_vectors import RememberingEmbedder
from memory_rag.trials.work_folder import benchmark_memory
from tests.trials.made_talks import HashedWords


def test_the_same_turns_find_their_memory_and_their_vectors_again(talks: Benchmark, tmp_path: Path) -> None:
    engine = HashedWords()
    for _ in range(2):
        embedder = RememberingEmbedder(engine, tmp_path)
        with benchmark_memory(talks, tmp_path, settings=Settings(), embedder=embedder) as memory:
            memory.embed()
            assert [turn.turn_id for turn in memory.turns()] == [turn.turn_id for turn in talks.turns()]

    assert engine.n_turns == 108


def test_other_turns_lie_in_another_memory(talks: Benchmark, tmp_path: Path) -> None:
    fewer = replace(talks, documents=talks.documents[:50])
    folders = set()
    for benchmark in (talks, fewer):
        with benchmark_memory(benchmark, tmp_path, settings=Settings(), embedder=None) as memory:
            folders.add(memory.folder)
            assert len(memory) == len(benchmark.documents)

    assert len(folders) == 2


def test_a_folder_with_other_turns_in_it_is_refused(talks: Benchmark, tmp_path: Path) -> None:
    with benchmark_memory(talks, tmp_path, settings=Settings(), embedder=None) as memory:
        memory.add("One more.")

    with pytest.raises(StoreError, match="holds 109 turns where locomo has 108; delete the folder"):
        benchmark_memory(talks, tmp_path, settings=Settings(), embedder=None)


def test_a_question_is_embedded_once_also_by_a_later_run(tmp_path: Path) -> None:
    engine = HashedWords()
    first = RememberingEmbedder(engine, tmp_path)
    vectors = first.embed_queries(["where is the kayak", "and the piano", "where is the kayak"])
    spent = first.embedding_ms("and the piano")
    first.save()
    # One more to load the model, which is no part of a question's time.
    assert engine.n_queries == 3

    later = RememberingEmbedder(engine, tmp_path)
    assert np.array_equal(later.embed_queries(["where is the kayak", "and the piano"]), vectors[:2])
    assert later.embedding_ms("and the piano") == spent
    assert engine.n_queries == 3


def test_no_question_has_no_vector(tmp_path: Path) -> None:
    assert RememberingEmbedder(HashedWords(), tmp_path).embed_queries([]).shape == (0, 32)


def test_a_damaged_file_of_vectors_is_made_anew(tmp_path: Path) -> None:
    first = RememberingEmbedder(HashedWords(), tmp_path)
    vectors = first.embed_queries(["where is the kayak"])
    first.save()
    [file] = tmp_path.glob("questions-*.npz")
    file.write_bytes(file.read_bytes()[:40])

    assert np.array_equal(RememberingEmbedder(HashedWords(), tmp_path).embed_queries(["where is the kayak"]), vectors)
