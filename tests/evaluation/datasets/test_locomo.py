"""LoCoMo as a benchmark: every turn a document, every question kept or counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.datasets import locomo

Made = Callable[[str, Any], Path]


def test_locomos_documents_and_questions_are_all_there(data_dir: Path) -> None:
    benchmark = locomo.load(data_dir / "locomo10.json")

    assert (len(benchmark.documents), len(benchmark.queries)) == (5882, 1982)
    assert benchmark.unanswerable() == ()
    assert Counter(query.category for query in benchmark.queries) == {
        "1 multi-hop": 282,
        "2 temporal": 321,
        "3 open-domain": 92,
        "4 single-hop": 841,
        "5 adversarial": 446,
    }
    assert benchmark.denominators == {
        "questions in the file": 1986,
        "with evidence": 1982,
        "with evidence, categories 1 to 4": 1536,
    }
    assert benchmark.sha256 == "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"


def test_what_is_dropped_of_locomo_is_counted_with_its_places(data_dir: Path) -> None:
    benchmark = locomo.load(data_dir / "locomo10.json")

    assert benchmark.dropped.as_json() == [
        {
            "reason": "question without evidence",
            "count": 4,
            "where": ["conv-26/q31", "conv-26/q47", "conv-50/q40"],
        },
        {
            "reason": "evidence id of no turn",
            "count": 2,
            "where": ["conv-42/q59: D10:19", "conv-47/q39: D4:36"],
        },
        {"reason": "evidence that is no id", "count": 1, "where": ["conv-42/q89: 'D'"]},
    ]


def test_locomos_sessions_are_documents_too(data_dir: Path) -> None:
    benchmark = locomo.load(data_dir / "locomo10.json", unit="session")

    assert (len(benchmark.documents), len(benchmark.answerable())) == (272, 1982)
    assert sum(len(document.turns) for document in benchmark.documents) == 5882
    assert benchmark.documents[0].doc_id == "conv-26/session_1"


def test_documents_are_in_spoken_order_under_the_data_sets_ids(made: Made) -> None:
    benchmark = locomo.load(made("locomo10.json", [_conversation([["D1:1"]], n_sessions=11)]))

    ids = [document.doc_id for document in benchmark.documents]
    assert ids[:3] == ["conv-1/D1:1", "conv-1/D1:2", "conv-1/D2:1"]
    assert ids[-1] == "conv-1/D11:2"
    first = benchmark.documents[0].turns[0]
    assert (first.turn_id, first.source and first.source.native_id) == ("conv-1/D1:1", "D1:1")


def test_evidence_is_mended_where_it_can_be(made: Made) -> None:
    path = made("locomo10.json", [_conversation([["D1:1; D2:2"], ["D1:02"], ["D:1:1", "D9:9"]])])

    benchmark = locomo.load(path)

    assert benchmark.qrels == {
        "conv-1/q1": {"conv-1/D1:1": 1, "conv-1/D2:2": 1},
        "conv-1/q2": {"conv-1/D1:2": 1},
        "conv-1/q3": {"conv-1/D1:1": 1},
    }
    assert benchmark.dropped.counts == {"evidence id of no turn": 1}


def test_a_question_left_without_evidence_is_dropped_and_the_others_keep_their_ids(made: Made) -> None:
    benchmark = locomo.load(made("locomo10.json", [_conversation([["D7:1"], [], ["D1:1"]])]))

    assert [query.query_id for query in benchmark.queries] == ["conv-1/q3"]
    assert benchmark.dropped.counts == {"evidence id of no turn": 1, "question without evidence": 2}
    assert benchmark.denominators["questions in the file"] == 3


def test_a_message_that_the_importer_leaves_out_is_counted(made: Made) -> None:
    conversation = _conversation([["D1:1"]])
    conversation["conversation"]["session_1"].append({"speaker": "Ada", "dia_id": "D1:3"})

    benchmark = locomo.load(made("locomo10.json", [conversation]))

    assert len(benchmark.documents) == 4
    assert benchmark.dropped.counts == {"message left out: no text": 1}


def test_a_category_without_a_name_keeps_its_number(made: Made) -> None:
    benchmark = locomo.load(made("locomo10.json", [_conversation([["D1:1"]], category=7)]))

    assert benchmark.queries[0].category == "7"


def test_a_file_of_another_shape_is_named(made: Made) -> None:
    with pytest.raises(ImportFormatError, match=r"other\.json is not LoCoMo: each of its items needs a 'conversation'"):
        locomo.load(made("other.json", [{"messages": []}]))


def test_a_category_may_be_written_as_digits(made: Made) -> None:
    benchmark = locomo.load(made("locomo10.json", [_conversation([["D1:1"]], category="4")]))

    assert benchmark.queries[0].category == "4 single-hop"


@pytest.mark.parametrize("wrong", [{"question": None}, {"question": 5}, {"category": None}, {"category": [4]}])
def test_a_question_of_another_shape_is_named(made: Made, wrong: dict[str, Any]) -> None:
    conversation = _conversation([["D1:1"]])
    conversation["qa"][0] |= wrong

    with pytest.raises(ImportFormatError, match="conv-1/q1 of LoCoMo has no 'question' or no 'category'"):
        locomo.load(made("locomo10.json", [conversation]))


@pytest.mark.parametrize("question", [5, "who?", None, ["who?"]])
def test_a_question_that_is_no_object_is_named(made: Made, question: Any) -> None:
    conversation = _conversation([["D1:1"]])
    conversation["qa"] = [question]

    with pytest.raises(ImportFormatError, match="conv-1/q1 of LoCoMo has no 'question' or no 'category'"):
        locomo.load(made("locomo10.json", [conversation]))


def _conversation(evidence: list[list[str]], *, n_sessions: int = 2, category: int | str = 4) -> dict[str, Any]:
    talk: dict[str, Any] = {"speaker_a": "Ada", "speaker_b": "Bo"}
    for number in range(1, n_sessions + 1):
        talk[f"session_{number}"] = [
            {"speaker": name, "dia_id": f"D{number}:{place}", "text": "hello"}
            for place, name in enumerate(("Ada", "Bo"), start=1)
        ]
        talk[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
    asked = [{"question": "who?", "answer": "x", "evidence": ids, "category": category} for ids in evidence]
    return {"sample_id": "conv-1", "conversation": talk, "qa": asked}
