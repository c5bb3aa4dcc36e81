"""The table of words remembered says what the results hold."""

from __future__ import annotations

from typing import Any

from memory_rag.evaluation.known_items import known_items_table


def _mean(value: float) -> dict[str, Any]:
    return {"mean": value, "low": value - 0.05, "high": value + 0.05, "n": 10, "by": "query"}


def _retriever(value: float) -> dict[str, Any]:
    kinds = {"exact words": value, "half-remembered": value - 0.1}
    return {
        "measures": {"recall@1": _mean(value - 0.2)},
        "by_category": {kind: {"recall@10": _mean(v), "ndcg@10": _mean(v - 0.2)} for kind, v in kinds.items()},
    }


def test_a_row_is_a_history_a_pool_and_a_retriever() -> None:
    table = known_items_table(
        {
            "words-locomo": {
                "dataset": {"n_queries": 400, "n_turns": 5882},
                "pools": {"memory": {"retrievers": {"keyword": _retriever(0.75), "hybrid": _retriever(0.85)}}},
            }
        }
    )

    rows = [line for line in table.splitlines() if line.startswith("| LoCoMo")]
    assert [row.split(" | ")[0] for row in rows] == [
        "| LoCoMo, whole memory: hybrid",
        "| LoCoMo, whole memory: keyword",
    ]
    assert rows[0].split(" | ")[1:] == [
        ".650 [.600, .700]",
        ".850 [.800, .900]",
        ".650 [.600, .700]",
        ".750 [.700, .800]",
        ".550 [.500, .600] |",
    ]
    assert table.endswith("Means [95 % interval]. LoCoMo: 400 questions of 5,882 turns.")


def test_what_was_not_asked_is_missing_and_no_zero() -> None:
    found = _retriever(0.85)
    del found["by_category"]["half-remembered"]
    table = known_items_table(
        {
            "words-beam": {
                "dataset": {"n_queries": 1, "n_turns": 2},
                "pools": {"memory": {"retrievers": {"dense": found}}},
            }
        }
    )

    assert table.splitlines()[2].endswith("| - | - |") or "–" in table.splitlines()[2]
