"""What a benchmark knows of its conversations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory_rag.evaluation.benchmark import Benchmark, Document, Query
from memory_rag.evaluation.datasets import locomo
from memory_rag.evaluation.datasets.conversations import people_of, spoken_order, twins_of_evidence
from memory_rag.turns import Role, Turn

Made = Callable[[str, Any], Path]


def test_the_people_of_locomos_conversations_are_known(data_dir: Path) -> None:
    people = people_of(locomo.load(data_dir / "locomo10.json"))

    assert len(people) == 10
    assert people["conv-26"] == ("Caroline", "Melanie")
    assert {len(speakers) for speakers in people.values()} == {2}


def test_locomos_turns_are_in_spoken_order(data_dir: Path) -> None:
    spoken = spoken_order(locomo.load(data_dir / "locomo10.json", unit="session"))

    natives = [turn.source.native_id for turn in spoken["conv-26"] if turn.source]
    assert natives[:2] == ["D1:1", "D1:2"]
    assert natives[-1] == "D19:15"


def test_the_same_words_in_another_conversation_are_a_twin_of_evidence() -> None:
    said = {"a/1": "the ferry", "a/2": "noted", "b/1": "the ferry", "b/2": "the key", "a/3": "the ferry"}
    documents = tuple(
        Document(doc_id, doc_id[0], (Turn(doc_id, doc_id[0], "s", 0, Role.USER, "Ada", text),))
        for doc_id, text in said.items()
    )
    queries = (Query("q1", "?", "a"), Query("q2", "?", "b"), Query("q3", "?", ""))
    qrels = {"q1": {"a/1": 1}, "q2": {"b/2": 1}, "q3": {"a/1": 1, "b/1": 1}}

    twins = twins_of_evidence(Benchmark("x", "turn", "0" * 64, documents, queries, qrels))

    assert twins == {"q1": frozenset({"b/1"})}
