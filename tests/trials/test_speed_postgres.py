"""A memory on a server is measured beside a folder: the same turns in both, stored once and measured again."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.errors import MemoryRagError
from memory_rag.evaluation.speed_postgres_tables import SPEED_POSTGRES_TABLES, speed_postgres_tables
from memory_rag.memory import Memory
from memory_rag.trials.speed_postgres import Amount, speed_postgres_result
from tests.postgres_server import PostgresServer

AMOUNT = Amount(n_owners=10, n_turns=12, n_large=30, n_asked=2, n_questions=3, n_adds=2)


def _nothing(what: str, done: int, total: int) -> None:
    assert 0 < done <= total


def test_all_that_a_table_needs_is_measured_and_measured_again(postgres: PostgresServer, tmp_path: Path) -> None:
    url = postgres.new_database()
    assert speed_postgres_result(url, tmp_path, amount=AMOUNT, only_fill=True, tell=_nothing) is None
    with Memory.open(url, owner="speed owner 3", embedder="none", create=False) as memory:
        assert len(memory) == AMOUNT.n_turns

    first = speed_postgres_result(url, tmp_path, amount=AMOUNT, tell=_nothing)
    second = speed_postgres_result(url, tmp_path, amount=AMOUNT, tell=_nothing)

    for found in (first, second):
        assert found is not None
        result = found["result"]
        assert set(result["hybrid"]) == set(result["open"]) == {"sqlite", "held", "on the server"}
        assert result["hybrid"]["held"]["n"] == AMOUNT.n_asked * AMOUNT.n_questions
        assert result["add"]["held"]["n"] == AMOUNT.n_asked * AMOUNT.n_adds
        assert [sizes["n_turns"] for sizes in result["sizes"]] == [12, 150]
        assert {"turns", "vectors", "vectors, hnsw", "words"} <= set(result["sizes"][-1]["postgres"])
        assert result["large"]["n_turns"] == AMOUNT.n_large
        assert set(speed_postgres_tables(found)) == set(SPEED_POSTGRES_TABLES)
    with Memory.open(url, owner="speed owner 0", embedder="none", create=False) as memory:
        assert len(memory) == AMOUNT.n_turns + 2 * AMOUNT.n_adds


def test_a_place_that_holds_something_else_is_refused(postgres: PostgresServer, tmp_path: Path) -> None:
    url = postgres.new_database()
    with Memory.open(url, owner="speed owner 0", embedder="none") as memory:
        memory.add("not among the turns that are measured")

    with pytest.raises(MemoryRagError, match="'speed owner 0' holds something else; name an empty database"):
        speed_postgres_result(url, tmp_path, amount=AMOUNT, only_fill=True, tell=_nothing)
