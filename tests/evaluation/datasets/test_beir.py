"""Folders as BEIR's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.datasets import beir

Made = Callable[[str, Any], Path]
MadeLines = Callable[[str, list[Any]], Path]


@pytest.fixture
def folder(made: Made, made_lines: MadeLines) -> Path:
    """A data set of three documents and five queries, with one split."""
    made_lines(
        "herbs/corpus.jsonl",
        [
            {"_id": "d1", "title": "Basil", "text": "wants sun", "metadata": {}},
            {"_id": "d 2", "title": "", "text": "mint wants shade"},
            {"_id": "d3", "text": "sage wants sand"},
            {"_id": "d1", "title": "Basil", "text": "again"},
        ],
    )
    made_lines("herbs/queries.jsonl", [{"_id": f"q{n}", "text": f"what wants {n}?"} for n in range(1, 6)])
    rows = [
        "query-id\tcorpus-id\tscore",
        "q1\td1\t2",
        "q1\td 2\t0",
        "q2\td 2\t1",
        "q2\td9\t1",
        "q3\td9\t1",
        "q4\td3\t0",
    ]
    return made("herbs/qrels/test.tsv", "\n".join([*rows, "q9\td1\t1\n"])).parents[1]


def test_documents_are_titles_and_texts_under_their_own_ids(folder: Path) -> None:
    benchmark = beir.load(folder)

    assert [(document.doc_id, document.turns[0].text) for document in benchmark.documents] == [
        ("d1", "Basil wants sun"),
        ("d 2", "mint wants shade"),
        ("d3", "sage wants sand"),
    ]
    assert {document.conversation_id for document in benchmark.documents} == {"beir-herbs"}
    assert len({document.turns[0].session_id for document in benchmark.documents}) == 3


def test_a_first_line_whose_grade_is_no_whole_number_is_no_heading(folder: Path, made: Made) -> None:
    made("herbs/qrels/test.tsv", "q1\td1\t1.0\nq2\td3\t1\n")
    with pytest.raises(ImportFormatError, match=r"line 1: grade '1\.0' is no whole number"):
        beir.load(folder)


def test_judgements_above_zero_are_kept(folder: Path) -> None:
    benchmark = beir.load(folder)

    assert benchmark.qrels == {"q1": {"d1": 2}, "q2": {"d 2": 1}}
    assert [query.query_id for query in benchmark.unanswerable()] == ["q4"]
    assert benchmark.denominators == {"judged in test.tsv": 5, "with a relevant document": 2}


def test_what_does_not_fit_together_is_counted(folder: Path) -> None:
    assert beir.load(folder).dropped.counts == {
        "turn whose id came before": 1,
        "judged id of no document": 2,
        "question without evidence": 1,
        "query without judgements": 1,
        "judgements of no query": 1,
    }


def test_both_pools_are_the_same(folder: Path) -> None:
    benchmark = beir.load(folder)
    query = benchmark.queries[0]

    assert benchmark.pool_of(query, pool="conversation") == benchmark.pool_of(query, pool="memory")


def test_a_split_is_named_when_there_are_several(folder: Path, made: Made) -> None:
    made("herbs/qrels/dev.tsv", "query-id\tcorpus-id\tscore\nq5\td3\t1\n")

    assert list(beir.load(folder).qrels) == ["q1", "q2"]
    assert list(beir.load(folder, split="dev").qrels) == ["q5"]
    with pytest.raises(ImportFormatError, match=r"herbs has no split 'train'; name one of: dev, test"):
        beir.load(folder, split="train")


def test_a_grade_that_is_no_number_is_named(folder: Path, made: Made) -> None:
    made("herbs/qrels/test.tsv", "q1\td1\t1\nq2\td1\tyes\n")

    with pytest.raises(ImportFormatError, match=r"test\.tsv, line 2: grade 'yes' is no whole number"):
        beir.load(folder)


def test_what_is_no_such_folder_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match=r"corpus\.jsonl is no folder; BEIR's have corpus\.jsonl"):
        beir.load(folder / "corpus.jsonl")
    with pytest.raises(ImportFormatError, match=r"has no qrels/\*\.tsv"):
        beir.load(tmp_path)
