"""The set that is in the package, and others of its shape."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import summary_of
from memory_rag.evaluation.datasets import chats
from memory_rag.importers.turn_lines import export_lines
from memory_rag.turns import Conversation, Role, Source, Turn

MadeLines = Callable[[str, list[Any]], Path]


def test_the_shipped_set_is_whole() -> None:
    told = summary_of(chats.load())

    assert told["n_conversations"] >= 8
    assert told["n_turns"] >= 600
    assert told["n_queries"] >= 120
    assert {found["reason"] for found in told["dropped"]} == {"turn that search leaves out"}
    assert told["denominators"]["unanswerable"] > 0


def test_native_ids_are_evidence_and_what_search_leaves_out_is_no_document(folder: Path) -> None:
    benchmark = chats.load(folder)

    assert [document.doc_id for document in benchmark.documents] == ["allotment/a-1", "allotment/a-2"]
    assert benchmark.qrels == {"allotment/q1": {"allotment/a-1": 1, "allotment/a-2": 1}}
    assert benchmark.queries[0].category == "half-remembered"
    assert [query.query_id for query in benchmark.unanswerable()] == ["allotment/q2"]
    assert benchmark.denominators == {"with evidence": 1, "unanswerable": 1}


def test_evidence_that_is_not_there_is_counted(folder: Path, made_lines: MadeLines) -> None:
    made_lines("set/questions.jsonl", [_question(["a-9"]), _question(["a-1", "a-3"])])

    benchmark = chats.load(folder)

    assert benchmark.dropped.counts == {
        "turn that search leaves out": 1,
        "evidence id of no turn": 2,
        "question without evidence": 1,
    }


def test_a_question_of_no_chat_is_named(folder: Path, made_lines: MadeLines) -> None:
    made_lines("set/questions.jsonl", [_question([]) | {"conversation_id": "garden"}])

    with pytest.raises(ImportFormatError, match=r"questions\.jsonl, line 1: a question needs a 'query', the"):
        chats.load(folder)


@pytest.fixture
def folder(tmp_path: Path, made_lines: MadeLines) -> Path:
    """Three turns, the last one hidden from search, and two questions."""
    turns = [
        Turn("", "allotment", "s1", 0, Role.USER, "Ada", "The beans go in bed four.", source=Source("own", "a-1")),
        Turn("", "allotment", "s1", 1, Role.ASSISTANT, "Assistant", "Beans in four.", source=Source("own", "a-2")),
        Turn("", "allotment", "s1", 2, Role.TOOL, "weather", "12 °C", source=Source("own", "a-3"), recalled=False),
    ]
    made_lines("set/questions.jsonl", [_question(["a-1", "a-2"]), _question([])])
    path = tmp_path / "set" / "chats.jsonl"
    path.write_text("".join(export_lines([Conversation("allotment")], turns)), encoding="utf-8")
    return path.parent


def _question(evidence: list[str]) -> dict[str, Any]:
    return {
        "query": "which bed were they for?",
        "conversation_id": "allotment",
        "evidence": evidence,
        "category": "half-remembered",
        "language": "en",
        "role": "both",
    }
