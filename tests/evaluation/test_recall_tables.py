"""What the pages say of recall is what the summaries hold, in-sample or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory_rag.evaluation.answer import IN_SAMPLE_NOTE
from memory_rag.evaluation.markdown import share
from memory_rag.evaluation.recall_tables import recall_tables
from memory_rag.evaluation.report_file import over_pools, with_pool_sizes, write_report
from memory_rag.evaluation.report_shape import AnyReport, Mean, PoolSize
from memory_rag.evaluation.report_summary import summarized
from tests.evaluation.made_report import made_report

NAMES = ("recall", "recall-locomo", "recall-measures", "recall-pools", "recall-pairs")


@pytest.fixture(scope="module")
def report() -> AnyReport:
    memory = made_report(pool="memory")
    points: dict[str, list[PoolSize]] = {name: [_point(1, 0.75), _point(6, 0.5)] for name in ("keyword", "hybrid")}
    return over_pools(made_report(), with_pool_sizes(memory, points))


@pytest.fixture(scope="module")
def summary(report: AnyReport) -> dict[str, Any]:
    return summarized(report)


def _point(n: int, mean: float) -> PoolSize:
    return {"n_conversations": n, "n_turns": 20 * n, "mean": mean, "low": mean - 0.1, "high": mean + 0.1, "n": 30}


def test_a_summary_has_every_mean_and_no_question(report: AnyReport, summary: dict[str, Any], tmp_path: Path) -> None:
    write_report(tmp_path / "summary.json", summary)
    read = json.loads((tmp_path / "summary.json").read_bytes())

    assert read == summary
    assert "queries" not in read
    assert set(read["pools"]["memory"]).isdisjoint({"per_query", "first_rank"})
    assert read["provenance"] == report["provenance"]
    for pool, of_pool in read["pools"].items():
        full = report["pools"][pool]  # type: ignore[typeddict-item]
        assert [one["p_holm"] for one in of_pool["comparisons"]] == pytest.approx(
            [one["p_holm"] for one in full["comparisons"]], abs=1e-6
        )
        for name, found in of_pool["retrievers"].items():
            of_full = full["retrievers"][name]
            assert list(found["measures"]) == list(of_full["measures"])
            assert found["measures"]["recall@5"]["low"] == pytest.approx(
                of_full["measures"]["recall@5"]["low"], abs=1e-6
            )
            assert found["by_category"].keys() == of_full["by_category"].keys()
            assert found["in_sample"] == (name == "hybrid")


def test_every_table_of_recall_marks_what_is_in_sample(summary: dict[str, Any]) -> None:
    tables = recall_tables({"locomo": summary})

    assert tuple(tables) == NAMES
    for name, table in tables.items():
        assert table.endswith(f"{IN_SAMPLE_NOTE}."), name
        assert "†" in table.removesuffix(f"{IN_SAMPLE_NOTE}."), name


def test_a_cell_is_the_mean_with_its_interval(summary: dict[str, Any]) -> None:
    rows = _rows(recall_tables({"locomo": summary})["recall"])

    mean: Mean = summary["pools"]["memory"]["retrievers"]["hybrid"]["measures"]["recall@5"]
    assert mean["low"] is not None
    assert mean["high"] is not None
    assert rows[0] == ["retriever", "LoCoMo, own conversation", "LoCoMo, whole memory"]
    assert rows[2][0] == "hybrid"
    assert rows[2][2] == f"{share(mean['mean'])} † [{share(mean['low'])}, {share(mean['high'])}]"
    # From best to worst, bounds last.
    assert [row[0] for row in rows[2:]] == ["hybrid", "keyword", "dense", "oracle", "random"]


def test_what_a_set_does_not_have_is_a_dash_and_never_0(summary: dict[str, Any]) -> None:
    retrievers = summary["pools"]["memory"]["retrievers"]
    fewer = {**summary["pools"]["memory"], "retrievers": {name: retrievers[name] for name in ("keyword", "oracle")}}
    beam = {**summary, "pools": {"memory": {key: value for key, value in fewer.items() if key != "pool_sizes"}}}

    tables = recall_tables({"locomo": summary, "beam": beam})

    assert [row[-1] for row in _rows(tables["recall"]) if row[0] in ("hybrid", "dense")] == ["–", "–"]
    assert [row[0] for row in _rows(tables["recall-pools"])[2:]] == ["LoCoMo: keyword", "LoCoMo: hybrid"]


def test_categories_have_their_own_table_with_the_whole_memory_beside(summary: dict[str, Any]) -> None:
    rows = _rows(recall_tables({"locomo": summary})["recall-locomo"])

    assert rows[0] == ["category", "n", "hybrid", "keyword", "dense", "hybrid, whole memory"]
    assert [row[:2] for row in rows[2:]] == [["1 <b>facts</b>", "18"], ["2 order", "12"]]


def test_the_sizes_of_the_pool_are_columns(summary: dict[str, Any]) -> None:
    table = recall_tables({"locomo": summary})["recall-pools"]

    assert _rows(table)[0] == ["data and retriever", "1 conversation", "6 conversations"]
    assert _rows(table)[3] == ["LoCoMo: hybrid", ".750 † [.650, .850]", ".500 † [.400, .600]"]
    assert "LoCoMo: 20 / 120 turns on average, 30 questions" in table


def test_a_pair_is_told_with_who_finds_evidence_alone(summary: dict[str, Any]) -> None:
    [head, _, of_hybrid, first, *_] = _rows(recall_tables({"locomo": summary})["recall-pairs"])

    assert head[0] == "a - b"
    assert of_hybrid[0] == "LoCoMo, own conversation: hybrid † - keyword"
    assert first[0] == "LoCoMo, own conversation: keyword - dense"
    of_success = next(
        one
        for one in summary["pools"]["conversation"]["comparisons"]
        if (one["a"], one["b"], one["measure"]) == ("keyword", "dense", "success@5")
    )
    assert first[3:5] == [str(of_success["outcome"]["won"]), str(of_success["outcome"]["lost"])]


def _rows(table: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]
