"""On a server LoCoMo's turns are found as well as in a folder: held in the process, and left on the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from memory_rag.embedding.minilm import MiniLmEmbedder
from memory_rag.evaluation.benchmark import Benchmark, Query
from memory_rag.evaluation.datasets.registry import load
from memory_rag.evaluation.measures import measure
from memory_rag.evaluation.pools import limited
from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within
from memory_rag.trials.known_texts import KnownTexts
from tests.postgres_server import PostgresServer

K: Final = 10
QUESTIONS: Final = 900
"""Of 300, recall would be within one and a half points by chance alone."""
WITHIN: Final = 0.01
POOLS: Final = ("conversation", "memory")
Found = dict[str, list[list[str]]]
"""Pool to the ids that each question finds."""


@pytest.fixture(scope="module")
def locomo(data_dir: Path) -> Benchmark:
    """All turns, and questions evenly spread over all."""
    return limited(load("locomo", data_dir / "locomo10.json"), QUESTIONS)


@pytest.fixture(scope="module")
def opened(
    postgres: PostgresServer, locomo: Benchmark, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Memory]]:
    """A memory at a place with all turns, embedded; each text is embedded once for all memories."""
    embedder = KnownTexts(MiniLmEmbedder())
    turns = [replace(turn, source=None, recalled=True) for turn in locomo.turns()]
    with ExitStack() as memories:

        def fill(place: str | Path, resident: int = 0) -> Memory:
            memory = Memory.open(
                place,
                embedder=embedder,
                language="en",
                clock=lambda: datetime(2024, 1, 1, tzinfo=UTC),
                resident=resident,
            )
            memories.enter_context(memory)
            memory.add_many(turns)
            assert memory.embed() == len(turns)
            return memory

        yield fill


@pytest.fixture(scope="module")
def in_a_folder(opened: Callable[..., Memory], locomo: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> Found:
    return _found(opened(tmp_path_factory.mktemp("locomo") / "memory"), locomo)


def _found(memory: Memory, benchmark: Benchmark) -> Found:
    def asked(query: Query, within: Within) -> list[str]:
        return [hit.turn.turn_id for hit in memory.search(query.text, k=K, within=within, floor=False).hits]

    return {
        "conversation": [asked(query, Within(conversation=query.conversation_id)) for query in benchmark.answerable()],
        "memory": [asked(query, Within()) for query in benchmark.answerable()],
    }


def _recall(found: list[list[str]], benchmark: Benchmark) -> float:
    recall = measure(f"recall@{K}")
    asked = zip(benchmark.answerable(), found, strict=True)
    return float(np.mean([recall.value_of(benchmark.qrels[query.query_id], ids) for query, ids in asked]))


def test_turns_held_in_the_process_are_ranked_as_in_a_folder(
    opened: Callable[..., Memory], locomo: Benchmark, in_a_folder: Found, postgres: PostgresServer
) -> None:
    found = _found(opened(postgres.new_database(), resident=len(tuple(locomo.turns()))), locomo)

    assert found == in_a_folder


def test_turns_left_on_the_server_are_found_as_well(
    opened: Callable[..., Memory], locomo: Benchmark, in_a_folder: Found, postgres: PostgresServer
) -> None:
    found = _found(opened(postgres.new_database(), resident=0), locomo)

    for pool in POOLS:
        here, there = _recall(found[pool], locomo), _recall(in_a_folder[pool], locomo)
        assert there > 0.8
        assert abs(here - there) <= WITHIN, f"{pool}: {here:.4f} on the server, {there:.4f} in a folder"
