"""BEAM as a benchmark, in each of its layouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.datasets import beam

Made = Callable[[str, Any], Path]


def test_beams_documents_and_questions_are_all_there(data_dir: Path) -> None:
    benchmark = beam.load(data_dir / "beam" / "100K")

    assert (len(benchmark.documents), len(benchmark.queries), len(benchmark.answerable())) == (5732, 395, 355)
    assert Counter(query.category for query in benchmark.unanswerable()) == {"abstention": 40}
    assert benchmark.dropped.counts == {"question without evidence": 5}
    assert benchmark.denominators == {"questions in the files": 400, "with evidence": 355, "abstention": 40}
    roles = Counter(
        document.turns[0].role.value
        for document in benchmark.documents
        for graded in benchmark.qrels.values()
        if document.doc_id in graded
    )
    assert roles == {"user": 841, "assistant": 253}


def test_the_generators_mark_is_stored_and_left_out_of_what_is_indexed(made: Made) -> None:
    _chat(made, "100K/1", [_message(0, "Where is the key? ->-> 1,1"), _message(1, "In the jar.")])

    (first, _) = beam.load(made("100K/1/probing_questions.json", {}).parents[1]).documents

    assert first.turns[0].text == "Where is the key? ->-> 1,1"
    assert first.turns[0].searchable == "Where is the key?"


def test_evidence_may_be_a_list_or_lists_under_names(made: Made) -> None:
    _chat(made, "100K/1", [_message(number, "x") for number in range(4)])
    probing = {
        "information_extraction": [{"question": "a", "source_chat_ids": [1, 7]}],
        "temporal_reasoning": [{"question": "b", "source_chat_ids": {"first": [0], "second": [[2], 3]}}],
        "abstention": [{"question": "c"}],
        "summarization": [{"question": "d", "source_chat_ids": []}],
    }

    benchmark = beam.load(made("100K/1/probing_questions.json", probing).parents[1])

    assert benchmark.qrels == {
        "beam-100K-1/information_extraction/1": {"beam-100K-1/1": 1},
        "beam-100K-1/temporal_reasoning/1": {"beam-100K-1/0": 1, "beam-100K-1/2": 1, "beam-100K-1/3": 1},
    }
    assert [query.query_id for query in benchmark.unanswerable()] == ["beam-100K-1/abstention/1"]
    assert benchmark.dropped.counts == {"evidence id of no turn": 1, "question without evidence": 1}


def test_the_questions_may_lie_in_a_folder_of_their_own_as_in_the_data_sets_repository(made: Made) -> None:
    _chat(made, "1M/3", [_message(5, "x")])
    probing = {"knowledge_update": [{"question": "a", "source_chat_ids": {"original": [5]}}]}
    path = made("1M/3/probing_questions/probing_questions.json", probing).parents[2]

    assert beam.load(path).qrels == {"beam-1M-3/knowledge_update/1": {"beam-1M-3/5": 1}}


def test_a_chat_of_ten_million_tokens_is_a_list_of_plans(made: Made) -> None:
    plans = [
        {"plan-1": [{"batch_number": 1, "turns": [[_message(0, "first")]]}]},
        {"plan-2": [{"batch_number": 1, "turns": [[_message(1, "second")], [_message(2, "third")]]}]},
    ]
    made("10M/1/chat.json", plans)
    probing = {"event_ordering": [{"question": "a", "source_chat_ids": [0, 2]}]}

    benchmark = beam.load(made("10M/1/probing_questions/probing_questions.json", probing).parents[2])

    assert [(d.turns[0].text, d.turns[0].session_id) for d in benchmark.documents] == [
        ("first", "beam-10M-1/plan-1_batch_1"),
        ("second", "beam-10M-1/plan-2_batch_1"),
        ("third", "beam-10M-1/plan-2_batch_1"),
    ]
    assert benchmark.qrels == {"beam-10M-1/event_ordering/1": {"beam-10M-1/0": 1, "beam-10M-1/2": 1}}
    assert benchmark.dropped.counts == {}


def test_plans_that_were_rows_of_a_table_have_a_null_for_every_other_plan(made: Made) -> None:
    plans = [
        {"plan-1": [{"batch_number": 1, "turns": [[_message(0, "first")]]}], "plan-2": None, "plan-10": None},
        {"plan-1": None, "plan-2": [[_message(1, "second"), _message(2, "third")]], "plan-10": None},
        {"plan-1": None, "plan-2": None, "plan-10": [{"batch_number": 1, "turns": [[_message(3, "fourth")]]}]},
    ]
    made("10M/2/chat.json", plans)
    probing = {"event_ordering": [{"question": "a", "source_chat_ids": [0, 2, 3]}]}

    benchmark = beam.load(made("10M/2/probing_questions/probing_questions.json", probing).parents[2])

    assert [(d.turns[0].text, d.turns[0].session_id) for d in benchmark.documents] == [
        ("first", "beam-10M-2/plan-1_batch_1"),
        ("second", "beam-10M-2/plan-2_batch_2"),
        ("third", "beam-10M-2/plan-2_batch_2"),
        ("fourth", "beam-10M-2/plan-10_batch_1"),
    ]
    assert len(benchmark.qrels["beam-10M-2/event_ordering/1"]) == 3
    assert benchmark.dropped.counts == {}


def test_of_a_chat_that_its_authors_cut_what_is_left_is_read(made: Made) -> None:
    _chat(made, "500K/1", [_message(0, "kept"), _message(1, "kept too"), _message(2, "cut off")])
    made(
        "500K/1/chat_trunecated.json", [{"batch_number": 1, "turns": [[_message(0, "kept"), _message(1, "kept too")]]}]
    )
    probing = {"information_extraction": [{"question": "a", "source_chat_ids": [1]}]}

    benchmark = beam.load(made("500K/1/probing_questions.json", probing).parents[1])

    assert [document.doc_id for document in benchmark.documents] == ["beam-500K-1/0", "beam-500K-1/1"]
    assert benchmark.qrels == {"beam-500K-1/information_extraction/1": {"beam-500K-1/1": 1}}


def test_a_message_id_that_comes_twice_is_no_evidence(made: Made) -> None:
    _chat(made, "1M/5", [_message(0, "x"), _message(1, "y"), _message(0, "z")])
    probing = {"information_extraction": [{"question": "a", "source_chat_ids": [0]}]}

    benchmark = beam.load(made("1M/5/probing_questions.json", probing).parents[1])

    assert [document.doc_id for document in benchmark.documents] == ["beam-1M-5/0", "beam-1M-5/1", "beam-1M-5/0#2"]
    assert benchmark.queries == ()
    assert benchmark.dropped.counts == {
        "message kept, but: message id repeated, numbered": 1,
        "evidence id of several turns": 1,
        "question without evidence": 1,
    }


def test_chats_come_in_the_order_of_their_numbers(made: Made) -> None:
    for number in (10, 9, 1):
        _chat(made, f"100K/{number}", [_message(0, "x")])
        path = made(f"100K/{number}/probing_questions.json", {}).parents[1]

    benchmark = beam.load(path)

    assert [d.conversation_id for d in benchmark.documents] == ["beam-100K-1", "beam-100K-9", "beam-100K-10"]


def test_a_folder_of_sizes_asks_for_one_of_them(made: Made) -> None:
    path = _chat(made, "beam/100K/1", [_message(0, "x")]).parents[2]

    with pytest.raises(
        ImportFormatError,
        match=r"beam holds no numbered BEAM chats such as 1/chat\.json; name one of its sizes: 100K",
    ):
        beam.load(path)


def test_a_chat_without_questions_is_named(made: Made) -> None:
    path = _chat(made, "100K/1", [_message(0, "x")]).parents[1]

    with pytest.raises(ImportFormatError, match=r"100K/1 has no probing_questions\.json"):
        beam.load(path)


def test_a_folder_that_is_no_chat_is_counted(made: Made) -> None:
    _chat(made, "100K/1", [_message(0, "x")])
    made("100K/notes/readme.txt", "none of it")

    benchmark = beam.load(made("100K/1/probing_questions.json", {}).parents[1])

    assert benchmark.dropped.as_json() == [
        {"reason": "folder that is no numbered chat", "count": 1, "where": ["notes"]}
    ]


def _chat(made: Made, folder: str, messages: list[dict[str, Any]]) -> Path:
    return made(f"{folder}/chat.json", [{"batch_number": 1, "turns": [messages]}])


def _message(number: int, content: str) -> dict[str, Any]:
    return {"role": ("user", "assistant")[number % 2], "id": number, "content": content}
