"""Tables of a memory on a server: each part of a turn is counted once, and what many take is reckoned from it."""

from __future__ import annotations

from typing import Any

import pytest

from memory_rag.evaluation.speed_postgres_tables import speed_postgres_tables


def _timing(median: float) -> dict[str, float]:
    return {"median_ms": median, "p95_ms": 2 * median, "mean_ms": median, "least_ms": median, "n": 200}


def _sizes(n_turns: int, *, turns: float) -> dict[str, Any]:
    parts = {
        "turns": turns,
        "turns, indexes": 100,
        "changes": 50,
        "vectors": 2000,
        "vectors, indexes": 150,
        "vectors, hnsw": 1000,
        "words": 300,
        "words, indexes": 50,
        "words, bm25": 250,
    }
    return {"n_turns": n_turns, "postgres": parts}


@pytest.fixture
def found() -> dict[str, Any]:
    ways = {"sqlite": _timing(4), "held": _timing(5), "on the server": _timing(12.5)}
    return {
        "provenance": {"settings": {"amount": {"n_owners": 100, "n_turns": 1000}}},
        "result": {
            "sizes": [_sizes(10_000, turns=350), {**_sizes(100_000, turns=300), "sqlite": 2700, "text": 180}],
            "open": ways,
            "hybrid": ways,
            "add": {
                "sqlite": _timing(0.06),
                "sqlite full": _timing(0.6),
                "held": {**_timing(2.5), "n": 300},
                "a round trip": _timing(0.1),
            },
            "large": {"n_turns": 200_000, "first_ms": 900, "on the server": _timing(30)},
            "server": {"server_version": "18.6", "vector": "0.8.1", "shared_buffers": "1GB", "fsync": "on"},
        },
    }


def test_times_stand_beside_those_of_a_folder(found: dict[str, Any]) -> None:
    table = speed_postgres_tables(found)["speed-postgres"]

    assert "| hybrid search | 4.00, 8.00 | 5.00, 10.0 | 12.5, 25.0 |" in table
    assert "| add, durable against a power cut | 0.600, 1.20 | 2.50, 5.00 | the same |" in table
    assert "| hybrid search of one owner's 200,000 turns | – | – | 30.0, 60.0 |" in table
    assert "100,000 turns of 100 owners; 200 questions" in table
    assert "PostgreSQL 18.6, vector 0.8.1, shared_buffers 1GB, fsync on" in table


def test_without_a_large_owner_there_is_no_row_of_it(found: dict[str, Any]) -> None:
    found["result"]["large"] = None

    assert "one owner's" not in speed_postgres_tables(found)["speed-postgres"]


def test_each_part_of_a_turn_is_counted_once(found: dict[str, Any]) -> None:
    table = speed_postgres_tables(found)["speed-postgres-space"]

    assert "| words, with their log and indexes | 450 |" in table
    assert "| vectors (float32) and their keys | 2,150 |" in table
    assert "| index of terms (BM25) | 250 |" in table
    assert "| all | 4,200 |" in table
    assert "| the same memories in folders (SQLite) | 2,700 |" in table


def test_what_many_turns_take_is_reckoned_and_checked_by_the_largest_run(found: dict[str, Any]) -> None:
    table = speed_postgres_tables(found)["postgres-sizing"]

    # 4,250 bytes a turn; both indexes 1,250; 1.25 TB of them by 179 GB a node, 4.25 TB by 2.8 TB.
    assert "| 1,000,000,000 | 500 GB | 2.15 TB | 1.00 TB | 350 GB | 250 GB | 4.25 TB | 1.25 TB | 7 |" in table
    assert "| 1,000,000 | 0.500 GB |" in table
    assert table.count("| 1 |") == 3
    assert "**A calculation**, from the 4,250 bytes a turn that were measured at 10,000 turns" in table
    assert "Checked by a run at 100,000: the calculation says 0.425 GB, it took 0.420 GB (+1.2 %)" in table
