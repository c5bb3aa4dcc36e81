"""Anybody's judgements on turns in JSON Lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.datasets import trec
from memory_rag.evaluation.runs import qrels_lines
from memory_rag.importers.turn_lines import export_lines
from memory_rag.turns import Conversation, Role, Source, Turn

Made = Callable[[str, Any], Path]
MadeLines = Callable[[str, list[Any]], Path]


def test_an_export_is_judged_by_its_turn_ids(made: Made) -> None:
    turns = [
        Turn("t1", "trip 7", "s", 0, Role.USER, "Ada", "We take the ferry."),
        Turn("t2", "trip 7", "s", 1, Role.ASSISTANT, "Assistant", "Noted.", source=Source("notes", "n2", '{"a": 1}')),
        Turn("t3", "home", "s", 0, Role.USER, "Ada", "The key is in the jar."),
    ]
    made("set/turns.jsonl", "".join(export_lines([Conversation("trip 7"), Conversation("home")], turns)))
    made("set/queries.tsv", "q1\tWhich way do we go?\nq2\tWhere is the key?\n")
    path = made("set/qrels.txt", "".join(qrels_lines({"q1": {"t1": 1, "t2": 1}, "q2": {"t3": 2}})))

    benchmark = trec.load(path.parent)

    assert [(document.doc_id, document.conversation_id) for document in benchmark.documents] == [
        ("t1", "trip 7"),
        ("t2", "trip 7"),
        ("t3", "home"),
    ]
    assert benchmark.qrels == {"q1": {"t1": 1, "t2": 1}, "q2": {"t3": 2}}
    assert [query.conversation_id for query in benchmark.queries] == ["", ""]


def test_ids_with_spaces_come_through_escaped_judgements(made: Made, made_lines: MadeLines) -> None:
    made_lines("set/turns.jsonl", [{"id": "trip 7/turn 3", "text": "We take the ferry."}])
    made_lines("set/queries.jsonl", [{"id": "q 1", "text": "Which way?"}])
    path = made("set/qrels.txt", "".join(qrels_lines({"q 1": {"trip 7/turn 3": 1}})))

    assert trec.load(path.parent).qrels == {"q 1": {"trip 7/turn 3": 1}}


def test_plain_lines_may_name_conversation_session_speaker_role_and_time(made: Made, made_lines: MadeLines) -> None:
    rows = [
        {"id": 1, "text": "hi", "conversation_id": "c", "session_id": "s", "speaker": "Ada", "said_at": "2026-01-02"},
        {"id": 2, "text": "hello", "conversation_id": "c", "session_id": "s", "role": "assistant"},
        {"id": 3, "text": "alone", "said_at": "soon"},
    ]
    turns = made_lines("turns.jsonl", rows)
    queries = made_lines(
        "q.jsonl", [{"query_id": "q1", "query": "who?", "conversation_id": "c", "category": "greeting"}]
    )
    qrels = made("judged.qrels", "q1 0 2 1\n")

    benchmark = trec.load(turns, queries=queries, qrels=qrels)

    first, second, third = (document.turns[0] for document in benchmark.documents)
    assert (first.speaker, first.session_id, first.said_at_text) == ("Ada", "s", "2026-01-02")
    assert (second.role, second.speaker, second.ordinal) == (Role.ASSISTANT, "assistant", 1)
    assert third.conversation_id.startswith("trec-")
    assert benchmark.dropped.counts == {"message kept, but: time not understood": 1}
    assert (benchmark.queries[0].conversation_id, benchmark.queries[0].category) == ("c", "greeting")


def test_of_a_pair_judged_twice_the_higher_grade_counts(made: Made, made_lines: MadeLines) -> None:
    made_lines("set/turns.jsonl", [{"id": "t1", "text": "x"}])
    made("set/queries.tsv", "q1\twhat?\n")
    path = made("set/qrels.txt", "q1 0 t1 2\nq1 0 t1 0\n")

    benchmark = trec.load(path.parent)

    assert benchmark.qrels == {"q1": {"t1": 2}}
    assert benchmark.dropped.counts == {"judgement given again": 1}


def test_an_export_says_what_it_skips(made: Made) -> None:
    text = "".join(export_lines([], [Turn("t1", "c", "s", 0, Role.USER, "Ada", "x")]))
    made("set/turns.jsonl", text + '{"turn": {"turn_id": "t2"}}\n{"other": 1}\n')
    made("set/queries.tsv", "q1\twhat?\n")
    path = made("set/qrels.txt", "q1 0 t1 1\n")

    benchmark = trec.load(path.parent)

    assert [document.doc_id for document in benchmark.documents] == ["t1"]
    assert benchmark.dropped.counts == {
        "message left out: no conversation_id and no session_id and no ordinal and no role and no text": 1,
        "message left out: neither a turn nor a conversation": 1,
    }


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("turns.jsonl", '{"id": "t1"}\n', r"turns\.jsonl, line 1: no text; a line needs both"),
        ("turns.jsonl", '{"text": "x"}\n', r"turns\.jsonl, line 1: no id; a line needs both"),
        ("queries.tsv", "what?\n", r"queries\.tsv, line 1: no JSON object, and no id, tab and text: 'what\?'"),
        ("queries.tsv", '{"id": "q1"}\n', r"queries\.tsv, line 1: a query needs an 'id' and a 'text'"),
        ("qrels.txt", "q1 t1\n", r"qrels\.txt, line 1: 2 fields; a judgement is 'query 0 document grade'"),
        ("qrels.txt", "q1 0 t1 x\n", r"qrels\.txt, line 1: grade 'x' is no whole number"),
        ("qrels.txt", f"q1 0 t1 {'9' * 5000}\n", r"qrels\.txt, line 1: grade '9+' is no whole number"),
        ("turns.jsonl", "[" * 100_000, r"turns\.jsonl, line 1: broken JSON"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(
    made: Made, made_lines: MadeLines, name: str, content: str, said: str
) -> None:
    made_lines("set/turns.jsonl", [{"id": "t1", "text": "x"}])
    made("set/queries.tsv", "q1\twhat?\n")
    made("set/qrels.txt", "q1 0 t1 1\n")
    path = made(f"set/{name}", content)

    with pytest.raises(ImportFormatError, match=said):
        trec.load(path.parent)


def test_a_missing_file_is_named(made_lines: MadeLines) -> None:
    path = made_lines("set/turns.jsonl", [{"id": "t1", "text": "x"}])

    with pytest.raises(
        ImportFormatError,
        match=r"set has no file of queries; it should be one of queries\.tsv, queries\.jsonl, or named",
    ):
        trec.load(path.parent)
