"""A report in the hand: its answer, its means, its charts, and what a notebook shows of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memory_rag import BenchmarkReport
from memory_rag.errors import ImportFormatError, QueryError
from memory_rag.evaluation.report_file import over_pools, write_report
from memory_rag.evaluation.report_summary import summarized
from tests.evaluation.made_report import HOSTILE, made_benchmark, made_report
from tests.html.reading import shown_by


@pytest.fixture(scope="module")
def report() -> BenchmarkReport:
    pools = over_pools(made_report(pool="conversation"), made_report(pool="memory"))
    return BenchmarkReport(pools, {query.query_id: query.text for query in made_benchmark().answerable()})


def test_it_says_who_is_best_in_each_pool(report: BenchmarkReport) -> None:
    assert report.pools == ("conversation", "memory")
    assert report.answer(pool="conversation").startswith(
        "keyword comes first, but 30 questions can't tell it from dense"
    )
    assert report.answer() == report.answer(pool="memory")


def test_a_mean_comes_with_its_interval(report: BenchmarkReport) -> None:
    mean = report.mean("hybrid", "recall@5", pool="conversation")

    assert mean["low"] is not None
    assert mean["high"] is not None
    assert mean["low"] <= mean["mean"] <= mean["high"]
    assert report.mean("hybrid", pool="conversation") == mean


def test_what_is_not_in_it_is_named_with_what_is(report: BenchmarkReport) -> None:
    with pytest.raises(QueryError, match="no retriever 'best'; it has: keyword, dense, hybrid"):
        report.mean("best")
    with pytest.raises(QueryError, match=r"no measure 'recall@7'; it has: recall@1"):
        report.mean("hybrid", "recall@7")
    with pytest.raises(QueryError, match="not on the pool 'all'; it is on: conversation, memory"):
        report.of("all")
    with pytest.raises(QueryError, match="no chart 'pie'; it has: recall-at-k, categories"):
        report.chart("pie")
    with pytest.raises(QueryError, match="not compared by 'rr@10', but by: recall@5, success@5"):
        report.comparisons(measure="rr@10")


def test_a_notebook_shows_answer_table_and_intervals(report: BenchmarkReport) -> None:
    shown = shown_by(report).text

    assert shown.startswith("Recall on made30 questions, 6 conversations, 120 turns")
    assert shown.index("Within the question's own conversation") < shown.index("Across the whole memory")
    assert report.answer(pool="conversation") in shown
    assert "95 % intervals" in shown


def test_a_notebook_shows_pairs_wins_and_charts(report: BenchmarkReport) -> None:
    pairs, wins, chart = shown_by(report.comparisons()).text, shown_by(report.wins()), report.chart("recall-at-k")

    assert "keyword – dense" in pairs
    assert "p, Holm" in pairs
    assert "keyword alone" in wins.text
    assert "script" not in wins.elements
    assert HOSTILE.replace("\ud83d", "\ufffd") in wins.text
    assert chart.svg.count("<svg ") == 1
    assert "Recall by how far one looks" in chart._repr_html_()


def test_charts_side_by_side_share_no_id(report: BenchmarkReport) -> None:
    ids = [
        set(re.findall(r' id="([^"]+)"', report.chart(name)._repr_html_()))
        for name in ("ranks", "recall-at-k", "categories")
    ]

    assert all(ids)
    assert len(set.union(*ids)) == sum(map(len, ids))


def test_its_page_is_whole(report: BenchmarkReport) -> None:
    page = report.page()

    assert page.startswith("<!doctype html>")
    assert page.count("<svg") >= 6


def test_it_is_read_from_a_folder_a_report_and_a_summary(report: BenchmarkReport, tmp_path: Path) -> None:
    write_report(tmp_path / "report.json", report.report)
    write_report(tmp_path / "summary" / "made.json", summarized(report.report))

    whole, same = BenchmarkReport.read(tmp_path), BenchmarkReport.read(tmp_path / "report.json")
    short = BenchmarkReport.read(tmp_path / "summary" / "made.json")

    assert whole.report == same.report == report.report
    assert short.answer() == report.answer()
    assert shown_by(short).text == shown_by(report).text
    assert "<svg" in short.chart("recall-at-k").svg
    with pytest.raises(
        QueryError, match=r"a summary of a report has no single questions; read the run's own report.json"
    ):
        short.wins()
    with pytest.raises(QueryError, match="no chart 'ranks'"):
        short.chart("ranks")


def test_a_file_that_is_no_report_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    path.write_text("{}", encoding="utf-8")

    with pytest.raises(ImportFormatError, match=r"notes\.json"):
        BenchmarkReport.read(path)
    with pytest.raises(
        ImportFormatError, match=r"as a report \(No such file or directory\); make one with: .* bench run"
    ):
        BenchmarkReport.read(tmp_path / "absent.json")
