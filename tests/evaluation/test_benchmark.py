"""A benchmark knows which questions can be answered, and what is a candidate for each."""

from __future__ import annotations

from dataclasses import replace

from memory_rag.evaluation.benchmark import Dropped, Query, missing_judgements, summary_of
from tests.evaluation.made_report import made_benchmark


def test_a_question_is_answerable_if_anything_is_relevant_to_it() -> None:
    benchmark = replace(
        made_benchmark(n_conversations=1),
        queries=tuple(Query(query_id, "Who?", "c0") for query_id in ("graded", "nothing", "zero", "negative")),
        qrels={"graded": {"c0/t0": 0, "c0/t1": 2}, "zero": {"c0/t0": 0}, "negative": {"c0/t0": -1}},
    )

    assert [query.query_id for query in benchmark.answerable()] == ["graded"]
    assert [query.query_id for query in benchmark.unanswerable()] == ["nothing", "zero", "negative"]


def test_the_pool_of_a_question_is_its_conversation_or_the_whole_memory() -> None:
    benchmark = made_benchmark(n_conversations=3)
    query = benchmark.queries[-2]
    anywhere, nowhere = replace(query, conversation_id=""), replace(query, conversation_id="c9")

    own = [document.doc_id for document in benchmark.pool_of(query, pool="conversation")]
    assert own == [f"c2/t{n}" for n in range(20)]
    assert benchmark.pool_of(query, pool="memory") == benchmark.documents
    assert benchmark.pool_of(anywhere, pool="conversation") == benchmark.documents
    assert benchmark.pool_of(nowhere, pool="conversation") == ()


def test_what_is_dropped_is_counted_by_reason_with_three_places() -> None:
    dropped = Dropped()
    for number in range(5):
        dropped.add("evidence id of no turn", f"q{number}")
    dropped.add("question without evidence", "q9", count=7)

    assert dropped.as_json() == [
        {"reason": "question without evidence", "count": 7, "where": ["q9"]},
        {"reason": "evidence id of no turn", "count": 5, "where": ["q0", "q1", "q2"]},
    ]


def test_a_dry_run_says_what_is_kept_and_what_is_dropped() -> None:
    assert summary_of(made_benchmark(n_conversations=2)) == {
        "name": "made",
        "unit": "turn",
        "sha256": "5" * 64,
        "n_conversations": 2,
        "n_documents": 40,
        "n_turns": 40,
        "n_queries": 11,
        "n_answerable": 10,
        "categories": {"1 <b>facts</b>": 6, "2 order": 4},
        "denominators": {},
        "made": {},
        "dropped": [{"reason": "evidence id of no turn", "count": 1, "where": ["c1/q9"]}],
    }


def test_judgements_on_what_is_not_there_are_found() -> None:
    documents = made_benchmark(n_conversations=1).documents

    assert missing_judgements(documents, {"q": {"c0/t0": 1, "c9/t0": 1, "c8/t0": 0}}) == ["c8/t0", "c9/t0"]
