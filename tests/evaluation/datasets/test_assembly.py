"""From turns and judged questions to documents and judgements."""

from __future__ import annotations

from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Benchmark, Dropped, Query, Unit
from memory_rag.evaluation.datasets.assembly import Judged, Reading, benchmark_of
from memory_rag.turns import Role, Turn


def test_a_turns_document_has_the_turns_id() -> None:
    benchmark = _benchmark([_turn("t1"), _turn("t2")], [Judged(Query("q1", "?", "c"), {"t2": 2})], unit="turn")

    assert [(d.doc_id, d.conversation_id, d.turns[0].turn_id) for d in benchmark.documents] == [
        ("t1", "c", "t1"),
        ("t2", "c", "t2"),
    ]
    assert benchmark.qrels == {"q1": {"t2": 2}}


def test_a_sessions_document_holds_its_turns_and_has_the_highest_of_their_grades() -> None:
    turns = [_turn("t1", session="c/s1"), _turn("t2", session="c/s2"), _turn("t3", session="c/s1")]

    benchmark = _benchmark(turns, [Judged(Query("q1", "?", "c"), {"t1": 1, "t3": 3})], unit="session")

    assert [(d.doc_id, [t.turn_id for t in d.turns]) for d in benchmark.documents] == [
        ("c/s1", ["t1", "t3"]),
        ("c/s2", ["t2"]),
    ]
    assert benchmark.qrels == {"q1": {"c/s1": 3}}


def test_sessions_of_one_name_in_two_conversations_stay_apart() -> None:
    turns = [_turn("t1", session="2026-04-10"), _turn("t2", session="2026-04-10", conversation="d")]

    benchmark = _benchmark(turns, [], unit="session")

    assert [document.doc_id for document in benchmark.documents] == ["c/2026-04-10", "d/2026-04-10"]


def test_a_query_without_grades_is_unanswerable() -> None:
    benchmark = _benchmark([_turn("t1")], [Judged(Query("q1", "?", "c"), {})], unit="turn")

    assert benchmark.answerable() == ()
    assert [query.query_id for query in benchmark.unanswerable()] == ["q1"]


@pytest.mark.parametrize(
    ("turns", "judged", "said"),
    [
        (["t1", "t1"], [], "x: the document id 't1' comes twice"),
        (["t1"], ["q", "q"], "x: the query id 'q' comes twice"),
    ],
)
def test_ids_that_come_twice_are_refused(turns: list[str], judged: list[str], said: str) -> None:
    with pytest.raises(ImportFormatError, match=said):
        _benchmark([_turn(found) for found in turns], [Judged(Query(q, "?", "c"), {}) for q in judged], unit="turn")


def test_a_judgement_on_what_is_not_there_is_refused() -> None:
    with pytest.raises(ImportFormatError, match="x: 't9' is judged, but no document has this id"):
        _benchmark([_turn("t1")], [Judged(Query("q1", "?", "c"), {"t9": 1})], unit="turn")


@pytest.mark.parametrize("about", ["c", "no such conversation"])
def test_a_query_about_another_conversation_than_its_evidence_is_refused(about: str) -> None:
    turns = [_turn("t1"), _turn("t2", conversation="d")]
    said = f"x: the query 'q1' is about conversation '{about}', but what answers it, 't2', is in 'd'; leave out its"

    with pytest.raises(ImportFormatError, match=said):
        _benchmark(turns, [Judged(Query("q1", "?", about), {"t2": 1})], unit="turn")
    # About all of them, it may be anywhere.
    assert _benchmark(turns, [Judged(Query("q1", "?", ""), {"t2": 1})], unit="turn").qrels == {"q1": {"t2": 1}}


def test_an_unknown_unit_is_refused() -> None:
    unit: Any = "page"
    with pytest.raises(ImportFormatError, match="unknown unit 'page'; a document is one of: turn, session"):
        _benchmark([_turn("t1")], [], unit=unit)


def _turn(turn_id: str, *, session: str = "c/s", conversation: str = "c") -> Turn:
    return Turn(turn_id, conversation, session, 0, Role.USER, "Ada", "hello")


def _benchmark(turns: list[Turn], judged: list[Judged], *, unit: Unit) -> Benchmark:
    return benchmark_of(Reading("x", "0" * 64, turns, judged, Dropped(), {}), unit=unit)
