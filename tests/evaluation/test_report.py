"""A report holds what was measured, says what was not, and comes back from its file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError, QueryError
from memory_rag.evaluation.answer import answer_of
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.comparable import comparable, compare_reports, differences_between
from memory_rag.evaluation.report import build_report
from memory_rag.evaluation.report_file import (
    by_pool,
    check_report,
    over_pools,
    read_report,
    with_pool_sizes,
    write_report,
)
from memory_rag.evaluation.report_shape import PoolSize, Report, Weights
from memory_rag.evaluation.weights_origin import BEAM_100K, LOCOMO, is_in_sample, shipped_weights
from tests.evaluation.made_report import DEPTH, SHA256, made_benchmark, made_report, made_runs

ISSUE_KEYS = {"benchmark", "pool", "dataset", "retrievers", "comparisons"}


@pytest.fixture(scope="module")
def report() -> Report:
    return made_report()


def test_a_report_has_the_shape_that_others_read(report: Report) -> None:
    assert report.keys() >= ISSUE_KEYS
    assert report["dataset"].keys() >= {"name", "sha256", "n_queries", "n_turns"}
    assert list(report["retrievers"]) == ["keyword", "dense", "hybrid", "random", "oracle"]
    for retriever in report["retrievers"].values():
        assert retriever["measures"]["recall@5"].keys() >= {"mean", "low", "high", "n"}
    assert report["retrievers"]["hybrid"]["weights"] == {"source": "shipped", "fitted_on": [SHA256]}
    assert report["retrievers"]["dense"]["weights"] is None
    assert report["retrievers"]["keyword"]["latency_ms"] == {"p50": 2.0, "p95": pytest.approx(2.9)}
    assert report["retrievers"]["dense"]["latency_ms"] is None
    for compared in report["comparisons"]:
        assert compared.keys() >= {"a", "b", "measure", "difference", "low", "high", "p", "p_holm"}


def test_every_mean_is_that_of_its_values_per_query(report: Report) -> None:
    assert len(report["queries"]) == 30
    for name, retriever in report["retrievers"].items():
        for measure, mean in retriever["measures"].items():
            values = report["per_query"][name][measure]
            assert len(values) == mean["n"] == 30
            assert mean["mean"] == pytest.approx(sum(values) / 30)
            assert mean["by"] == "conversation"
            assert mean["low"] is not None
            assert mean["high"] is not None
            assert mean["low"] <= mean["mean"] + 1e-12
            assert mean["mean"] <= mean["high"] + 1e-12
            assert len(mean["by_query"]) == 2


def test_a_query_without_hits_scores_0_and_is_counted(report: Report) -> None:
    keyword = report["retrievers"]["keyword"]

    assert keyword["without_hits"] == 1
    assert report["queries"][0] == "c0/q0"
    assert {values[0] for values in report["per_query"]["keyword"].values()} == {0.0}
    assert report["first_rank"]["keyword"][0] is None
    assert report["retrievers"]["dense"]["without_hits"] == 0


def test_the_bounds_are_marked_and_not_compared(report: Report) -> None:
    assert [name for name, one in report["retrievers"].items() if one["bound"]] == ["random", "oracle"]
    assert {one[side] for one in report["comparisons"] for side in ("a", "b")} == {"keyword", "dense", "hybrid"}
    assert report["family"] == len(report["comparisons"]) == 3 * 2


def test_categories_and_conversations_share_out_the_queries(report: Report) -> None:
    dense = report["retrievers"]["dense"]

    assert {part: means["recall@5"]["n"] for part, means in dense["by_category"].items()} == {
        "1 <b>facts</b>": 18,
        "2 order": 12,
    }
    assert {part: means["recall@5"]["n"] for part, means in dense["by_conversation"].items()} == dict.fromkeys(
        [f"c{n}" for n in range(6)], 5
    )
    # Within one conversation there is only the query to resample.
    assert dense["by_conversation"]["c0"]["recall@5"]["by"] == "query"


def test_the_evidence_of_a_role_counts_alone() -> None:
    benchmark = made_benchmark()
    users_turns_only = {
        query.query_id: [t for t in benchmark.qrels[query.query_id] if int(t.partition("/t")[2]) % 2 == 0]
        for query in benchmark.answerable()
    }
    report = made_report(benchmark=benchmark, runs={"users": users_turns_only})

    by_role = report["retrievers"]["users"]["by_role"]
    # One of the two turns of evidence is the user's, the other the assistant's.
    assert by_role["user"]["recall@5"]["mean"] == 1.0
    assert by_role["assistant"]["recall@5"]["mean"] == 0.0
    assert by_role["user"]["recall@5"]["n"] == by_role["assistant"]["recall@5"]["n"] == 30
    assert report["retrievers"]["users"]["measures"]["recall@5"]["mean"] == 0.5


def test_too_few_conversations_are_not_resampled() -> None:
    benchmark = made_benchmark(n_conversations=4)
    mean = made_report(benchmark=benchmark)["retrievers"]["dense"]["measures"]["recall@5"]

    assert mean["by"] == "query"
    assert "by_query" not in mean


def test_a_single_query_has_a_mean_and_no_interval() -> None:
    benchmark = made_benchmark(n_conversations=1)
    qrels = {"c0/q1": benchmark.qrels["c0/q1"]}
    one = Benchmark("one", "turn", SHA256, benchmark.documents, benchmark.queries, qrels)
    runs = {"dense": {"c0/q1": ["c0/t1"]}, "keyword": {"c0/q1": ["c0/t2"]}}

    report = made_report(benchmark=one, runs=runs)

    mean = report["retrievers"]["dense"]["measures"]["recall@5"]
    assert (mean["mean"], mean["low"], mean["high"], mean["n"]) == (0.5, None, None, 1)
    assert report["comparisons"][0]["difference"] == 0.5
    assert report["comparisons"][0]["low"] is None


def test_successes_are_compared_by_mcnemar_and_say_who_won(report: Report) -> None:
    by_success = [one for one in report["comparisons"] if one["measure"] == "success@5"]
    keyword, hybrid = (report["per_query"][name]["success@5"] for name in ("keyword", "hybrid"))

    (found,) = (one for one in by_success if (one["a"], one["b"]) == ("keyword", "hybrid"))
    assert found["test"] == "mcnemar"
    pairs = list(zip(keyword, hybrid, strict=True))
    assert found["outcome"] == {
        "won": pairs.count((1.0, 0.0)),
        "lost": pairs.count((0.0, 1.0)),
        "both": pairs.count((1.0, 1.0)),
        "neither": pairs.count((0.0, 0.0)),
        "union": 1 - pairs.count((0.0, 0.0)) / 30,
    }
    assert {one["test"] for one in report["comparisons"] if one["measure"] == "recall@5"} == {"randomization"}
    assert all(one["p"] <= one["p_holm"] for one in report["comparisons"])


@pytest.mark.parametrize(
    ("source", "fitted_on", "marked"),
    [("shipped", [SHA256], True), ("file", ["x", SHA256], True), ("cv", [SHA256], False), ("shipped", ["x"], False)],
)
def test_weights_that_have_seen_the_data_are_marked(source: Any, fitted_on: list[str], marked: bool) -> None:
    assert is_in_sample({"source": source, "fitted_on": fitted_on}, benchmark=made_benchmark()) is marked


def test_fewer_than_five_questions_have_no_interval() -> None:
    benchmark = made_benchmark()
    few = replace(benchmark, queries=benchmark.queries[:4])

    report = made_report(benchmark=few, runs=made_runs(few, good={"dense": 1.0, "hybrid": 0.0}))

    means = report["retrievers"]["dense"]
    for mean in (means["measures"]["recall@5"], means["by_category"]["1 <b>facts</b>"]["recall@5"]):
        assert (mean["mean"], mean["low"], mean["high"]) == (1.0, None, None)
    assert {(one["low"], one["high"]) for one in report["comparisons"]} == {(None, None)}
    assert not answer_of(report).is_clear


def test_a_retriever_without_weights_is_never_in_sample(report: Report) -> None:
    assert is_in_sample(None, benchmark=made_benchmark()) is False
    assert [name for name, one in report["retrievers"].items() if one["in_sample"]] == ["hybrid"]


def test_the_shipped_weights_have_seen_locomo_and_beam(data_dir: Path) -> None:
    from memory_rag.evaluation.datasets import beam, locomo

    assert shipped_weights() == {"source": "shipped", "fitted_on": [LOCOMO, BEAM_100K]}
    assert locomo.load(data_dir / "locomo10.json").sha256 == LOCOMO
    assert beam.load(data_dir / "beam" / "100K").sha256 == BEAM_100K


def test_a_conversation_cut_out_of_locomo_has_been_seen_too(data_dir: Path, tmp_path: Path) -> None:
    from memory_rag.evaluation.datasets import locomo

    samples = json.loads((data_dir / "locomo10.json").read_bytes())
    (tmp_path / "cut.json").write_text(json.dumps(samples[3:4]), encoding="utf-8")
    cut = locomo.load(tmp_path / "cut.json", unit="session")
    file: Weights = {"source": "file", "fitted_on": [BEAM_100K]}

    assert cut.sha256 != LOCOMO
    assert is_in_sample(shipped_weights(), benchmark=cut)
    assert not is_in_sample(file, benchmark=cut)
    assert not is_in_sample(shipped_weights(), benchmark=made_benchmark())


def test_what_could_not_be_measured_is_said(report: Report) -> None:
    # Fifteen hits of one to twenty words never fill 500 words.
    assert report["not_measured"] == [
        "recall@k beyond k = 10: rankings of 15 hits",
        *(
            f"recall at {budget} tokens: 15 hits don't fill it for every question (keyword, dense, hybrid, random); "
            "a greater depth does"
            for budget in ("500", "1,000", "2,000")
        ),
        "1 question without evidence: whether nothing is rightly found for them",
    ]
    assert [name for name in report["definitions"] if "tokens" in name] == []


def test_a_budget_that_the_rankings_fill_is_measured() -> None:
    benchmark = made_benchmark()
    report = build_report(
        benchmark,
        {"oracle": made_runs(benchmark)["oracle"]},
        pool="conversation",
        depth=DEPTH,
        provenance={},
        tokens={document.doc_id: 300 for document in benchmark.documents},
        measures=("recall@5",),
        compared=("recall@5",),
    )

    means = report["retrievers"]["oracle"]["measures"]
    assert means["recall@500tokens"]["mean"] == 0.5
    assert means["recall@1000tokens"]["mean"] == 1.0
    assert "at most 1,000 tokens" in report["definitions"]["recall@1000tokens"]


@pytest.mark.parametrize(
    ("measures", "depth", "said"),
    [
        (("recall@16",), 15, "recall@16 looks at 16 hits, but the runs have 15"),
        (("recall@20",), 40, "recall@20 says nothing about query 'c0/q0': its pool has 20 candidates"),
        (("hits@5",), 15, "unknown measure 'hits@5'"),
    ],
)
def test_a_measure_that_would_mean_nothing_is_refused(measures: tuple[str, ...], depth: int, said: str) -> None:
    benchmark = made_benchmark()

    with pytest.raises(QueryError, match=said):
        build_report(
            benchmark,
            made_runs(benchmark),
            pool="conversation",
            depth=depth,
            provenance={},
            measures=measures,
            compared=("recall@5",),
        )


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({"c9/q0": ["c0/t0"]}, "run 'odd' answers a query 'c9/q0' that made doesn't have"),
        (
            {"c0/q0": ["t0"]},
            "run 'odd' ranks 't0' for query 'c0/q0', but made has no such turn; its ids are as in 'c0/t0'",
        ),
        ({"c0/q0": ["c1/t0"]}, "run 'odd' ranks 'c1/t0' for query 'c0/q0', which is of another conversation"),
    ],
)
def test_a_run_on_other_candidates_is_refused(run: dict[str, list[str]], said: str) -> None:
    with pytest.raises(QueryError, match=said):
        made_report(runs={"odd": run})


def test_hits_of_other_conversations_are_candidates_of_the_whole_memory() -> None:
    report = made_report(pool="memory", runs={"odd": {"c0/q0": ["c1/t0", "c0/t0"]}})

    assert report["pool"] == "memory"
    assert report["first_rank"]["odd"][0] == 2


def test_a_question_about_all_conversations_may_be_answered_from_any() -> None:
    benchmark = made_benchmark()
    anywhere = tuple(replace(query, conversation_id="") for query in benchmark.queries)
    asked = replace(benchmark, queries=anywhere)

    report = made_report(benchmark=asked, runs={"odd": {"c0/q0": ["c1/t0", "c0/t0"]}})

    assert report["first_rank"]["odd"][0] == 2
    # They are of no conversation, so there is none to resample.
    assert report["retrievers"]["odd"]["measures"]["recall@5"]["by"] == "query"


def test_nothing_to_score_is_refused() -> None:
    benchmark = made_benchmark()
    unanswered = Benchmark("none", "turn", SHA256, benchmark.documents, benchmark.queries, {})

    with pytest.raises(QueryError, match="none has 0 questions with evidence"):
        made_report(benchmark=unanswered, runs={"dense": {}})
    with pytest.raises(QueryError, match="there is no run 'hybrid'; runs are: dense"):
        build_report(
            benchmark,
            {"dense": {}},
            pool="memory",
            depth=50,
            provenance={},
            weights={"hybrid": shipped_weights()},
        )


def test_a_report_is_the_same_each_time_and_with_another_seed_another() -> None:
    assert made_report() == made_report()
    assert made_report(seed=1)["retrievers"]["dense"]["measures"] != made_report()["retrievers"]["dense"]["measures"]


def test_a_report_comes_back_from_its_file(tmp_path: Path, report: Report) -> None:
    write_report(tmp_path / "out" / "report.json", report)

    assert read_report(tmp_path / "out" / "report.json") == report


def test_ids_of_any_kind_come_back_and_numbers_stand_on_one_line(tmp_path: Path, report: Report) -> None:
    odd = ["\ud83d", "[\n 1, 2 ]", "[ 1, 2 ]", "", "\u2028", *report["queries"][5:]]
    write_report(tmp_path / "report.json", {**report, "queries": odd})

    assert read_report(tmp_path / "report.json")["queries"] == odd
    text = (tmp_path / "report.json").read_text("utf-8")
    assert '"recall@1": [0, 0.5' in text or '"recall@1": [0, 0' in text
    assert max(map(len, text.splitlines())) < 700


def test_both_pools_are_one_object_each(tmp_path: Path, report: Report) -> None:
    memory = made_report(pool="memory")
    both = over_pools(report, memory)
    write_report(tmp_path / "report.json", both)

    read = read_report(tmp_path / "report.json")
    assert read == both
    assert "pools" in read
    assert list(read["pools"]) == ["conversation", "memory"]
    assert read["pools"]["memory"].keys() >= ISSUE_KEYS
    assert "per_query" not in read
    assert [one["pool"] for one in by_pool(read)] == ["conversation", "memory"]
    assert by_pool(read)[1]["retrievers"] == memory["retrievers"]
    assert by_pool(report) == [report]


def test_pools_of_different_runs_are_not_joined(report: Report) -> None:
    with pytest.raises(QueryError, match="differ in 'settings'; run both alike"):
        over_pools(report, made_report(pool="memory", seed=1))
    with pytest.raises(QueryError, match="2 reports, but on 1 pools"):
        over_pools(report, report)


def test_sizes_of_the_pool_rise(report: Report) -> None:
    sizes: list[PoolSize] = [
        {"n_conversations": n, "n_turns": 20 * n, "mean": 0.5, "low": 0.4, "high": 0.6, "n": 30} for n in (50, 5)
    ]

    grown = with_pool_sizes(report, {"dense": sizes})

    assert [one["n_conversations"] for one in grown["pool_sizes"]["dense"]] == [5, 50]
    assert check_report(json.loads(json.dumps(grown))) == grown


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda value: value.pop("retrievers"), "report has no 'retrievers'"),
        (
            lambda value: value["dataset"].update(n_queries="30"),
            "report.dataset.n_queries is '30', but should be a whole",
        ),
        (
            lambda value: value["retrievers"]["dense"]["measures"]["recall@5"].update(mean=float("nan")),
            r"report.retrievers\['dense'\].measures\['recall@5'\].mean is nan, but should be a finite number",
        ),
        (
            lambda value: value["retrievers"]["dense"].update(weights={"source": "guessed"}),
            "should be 'shipped' or 'cv'",
        ),
        (lambda value: value.update(pool="other"), "report.pool is 'other', but should be 'conversation' or 'memory'"),
        (lambda value: value["queries"].pop(), "report has 29 queries, but categories has 30 values"),
        (
            lambda value: value["per_query"]["dense"]["recall@5"].pop(),
            r"report has 30 queries, but per_query\['dense'\]\['recall@5'\] has 29 values",
        ),
        (lambda value: value["first_rank"]["dense"].append("1"), r"first_rank\['dense'\]\[30\] is '1'"),
        (lambda value: value.update(format=2), "report has format 2, but this release reads format 1"),
    ],
)
def test_a_broken_report_is_refused_with_the_place(report: Report, break_it: Callable[[Any], Any], said: str) -> None:
    value = json.loads(json.dumps(report))
    break_it(value)

    with pytest.raises(ImportFormatError, match=said):
        check_report(value)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '"report"'])
def test_a_file_that_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "report.json").write_text(text, encoding="utf-8")

    with pytest.raises(ImportFormatError, match=r"report\.json"):
        read_report(tmp_path / "report.json")


def test_keys_that_a_later_release_adds_are_let_through(report: Report) -> None:
    value = {**json.loads(json.dumps(report)), "mood": "good"}

    assert check_report(value) == value


def test_reports_on_the_same_data_are_comparable(report: Report) -> None:
    assert comparable(report, made_report()) == []


def test_reports_that_measure_different_things_are_refused_and_say_how(report: Report) -> None:
    other = made_report(pool="memory", seed=1)
    other["dataset"] = {**other["dataset"], "sha256": "7" * 64, "unit": "session"}
    other["queries"] = [*other["queries"][:-1], "c9/q9"]

    found = differences_between(report, other)

    assert found == [
        "data (sha256): 555555555555 and 777777777777",
        "unit: turn and session",
        "pool: conversation and memory",
        "seed: 0 and 1",
        "questions: 30 and 30, 29 in both",
    ]
    with pytest.raises(
        QueryError, match=r"don't measure the same thing: data .* compare them all the same with --force"
    ):
        comparable(report, other)
    assert comparable(report, other, force=True) == found


@pytest.mark.parametrize(
    ("setting", "other", "said"),
    [
        ("depth", 20, "depth: 15 and 20"),
        ("measure", "ndcg@5", "measure: recall@5 and ndcg@5"),
        ("token_counter", None, "token counter: words and None"),
    ],
)
def test_reports_with_other_settings_are_refused(report: Report, setting: str, other: Any, said: str) -> None:
    unlike = made_report()
    unlike["settings"] = {**unlike["settings"], setting: other}  # type: ignore[misc]

    with pytest.raises(QueryError, match=said):
        comparable(report, unlike)


def test_reports_whose_questions_have_the_same_ids_and_other_words_are_refused(report: Report) -> None:
    benchmark = made_benchmark()
    first, *others = benchmark.queries
    reworded = replace(benchmark, queries=(replace(first, text="In other words?"), *others))
    judged = replace(benchmark, qrels={**benchmark.qrels, first.query_id: {"c0/t3": 1}})

    for other in (reworded, judged):
        with pytest.raises(QueryError, match=r"words of the questions \(sha256\): "):
            comparable(report, made_report(benchmark=other))
    # A report of an earlier release doesn't tell.
    earlier = made_report(benchmark=reworded)
    del earlier["dataset"]["questions_sha256"]
    assert comparable(report, earlier) == []


def test_reports_without_a_common_question_are_never_compared(report: Report) -> None:
    other: Report = {**made_report(), "queries": [f"other {n}" for n in range(30)]}

    with pytest.raises(QueryError, match="have no question in common"):
        comparable(report, other, force=True)


def test_two_reports_are_compared_retriever_by_retriever(report: Report) -> None:
    benchmark = made_benchmark()
    better = made_report(benchmark=benchmark, runs=made_runs(benchmark, good={"dense": 0.95, "new": 0.5}))

    found = compare_reports(report, better, measures=["recall@5"], names=("before", "after"))

    assert [(one["a"], one["b"]) for one in found] == [("dense (before)", "dense (after)")]
    before, after = (one["retrievers"]["dense"]["measures"]["recall@5"]["mean"] for one in (report, better))
    assert found[0]["difference"] == pytest.approx(before - after)
    assert found[0]["p_holm"] < 0.01


def test_only_shared_questions_retrievers_and_measures_are_compared(report: Report) -> None:
    fewer = made_benchmark(n_conversations=5)
    small = made_report(benchmark=fewer)

    found = compare_reports(report, small, measures=["recall@5"], force=True)

    assert [one["n"] for one in found] == [25, 25, 25]
    assert [one["a"] for one in found] == ["keyword (a)", "dense (a)", "hybrid † (a)"]
    with pytest.raises(QueryError, match="report 'a' has no recall@7 for 'keyword'"):
        compare_reports(report, report, measures=["recall@7"])
    with pytest.raises(QueryError, match="no retriever is in both"):
        compare_reports(report, made_report(runs={"new": {}}), measures=["recall@5"])
