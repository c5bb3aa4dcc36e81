"""A report on the terminal: the answer, a table that fits, what it leaves out."""

from __future__ import annotations

import pytest

from memory_rag.evaluation.answer import answer_of
from memory_rag.evaluation.comparable import compare_reports
from memory_rag.evaluation.markdown import share
from memory_rag.evaluation.pools import POOLS
from memory_rag.evaluation.report_file import over_pools, with_pool_sizes
from memory_rag.evaluation.report_shape import PoolSize, Report
from memory_rag.evaluation.wording import in_brackets
from memory_rag.interfaces.cli.report_table import comparisons_text, report_text
from memory_rag.interfaces.cli.terminal import columns_of
from tests.evaluation.made_report import HOSTILE, made_benchmark, made_report, made_runs, one_conversation


@pytest.fixture(scope="module")
def report() -> Report:
    return made_report()


def test_the_answer_comes_first_and_the_in_sample_row_is_marked(report: Report) -> None:
    lines = report_text(report, width=110).splitlines()

    assert lines[0] == "made: within the question's own conversation"
    assert lines[1] == "30 questions, 6 conversations, 120 turns"
    assert lines[3] == answer_of(report).headline
    rows = [line.split()[0] for line in lines if line.startswith(" ") and "[" in line]
    assert [row for row in rows if row in report["retrievers"]] == ["hybrid", "keyword", "dense", "oracle", "random"]
    assert any(line.strip().startswith("hybrid †") for line in lines)
    assert "† in-sample: its weights were set or fitted after seeing these data." in lines
    assert "Questions without any hit count as 0: keyword 1." in lines


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(report: Report, width: int) -> None:
    text = report_text(over_pools(report, made_report(pool="memory")), width=width)

    assert max(map(columns_of, text.splitlines())) <= width
    assert "made: across the whole memory" in text


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_name_and_no_number_is_broken_over_two_lines(width: int) -> None:
    benchmark = made_benchmark()
    good = {"rank-bm25": 1.0, "hybrid-cv": 0.5, "hybrid-cv:multilingual": 0.4}
    report = made_report(benchmark=benchmark, runs=made_runs(benchmark, good=good))

    lines = report_text(report, width=width).splitlines()

    for name in (*good, "oracle"):
        row = next(line for line in lines if line.strip().startswith(f"{name} ") and "[" in line)
        mean = report["retrievers"][name]["measures"]["recall@5"]
        assert f"{share(mean['mean'])} {in_brackets(mean['low'], mean['high'])}" in row


def test_the_sizes_of_the_pool_have_a_table(report: Report) -> None:
    points: dict[str, list[PoolSize]] = {
        "hybrid": [
            {"n_conversations": n, "n_turns": 20 * n, "mean": mean, "low": None, "high": None, "n": 30}
            for n, mean in ((1, 0.9), (6, 0.8))
        ]
    }

    lines = report_text(with_pool_sizes(report, points), width=80).splitlines()

    place = lines.index("recall@5 as the memory grows:")
    assert next(line.split() for line in lines[place + 1 :] if line.strip()) == ["conversations", "1", "6"]
    assert any(line.split() == ["hybrid", "†", ".900", ".800"] for line in lines[place:])


def test_a_memory_of_one_conversation_is_shown_once(report: Report) -> None:
    pools = [made_report(pool=pool, benchmark=one_conversation()) for pool in POOLS]

    text = report_text(over_pools(*pools), width=80)

    assert "made: within the question's own conversation" in text
    assert "made: across the whole memory" not in text
    assert "Rules favour those who know them." in text
    assert "How questions of “1 <b>facts</b>” were made: by a <i>rule</i>." in text


def test_the_categories_have_a_table_of_as_many_retrievers_as_fit(report: Report) -> None:
    for width, shown in ((50, ["hybrid", "†"]), (60, ["hybrid", "†", "keyword", "dense"])):
        lines = report_text(report, width=width).splitlines()

        place = lines.index("recall@5 by category:")
        head, _, first, second = [line.split() for line in lines[place + 1 :] if line.strip()][:4]
        assert head == ["category", "n", *shown]
        assert first[:4] == ["1", "<b>facts</b>", "18", share(_of(report, "hybrid", "1 <b>facts</b>"))]
        assert second[:4] == ["2", "order", "12", share(_of(report, "hybrid", "2 order"))]


def test_measures_that_have_no_room_are_named(report: Report) -> None:
    narrow, wide = report_text(report, width=60), report_text(report, width=120)

    assert "Not shown for want of room: " in narrow
    assert "Not shown for want of room" not in wide
    assert "rr@5" in wide


def test_definitions_and_what_was_not_measured_are_printed(report: Report) -> None:
    text = report_text(report, width=120)

    assert "1 if any relevant turn is among the first k" in text
    assert "Not measured: recall@k beyond k = 10: rankings of 15 hits." in text


def test_who_finds_evidence_alone_is_counted(report: Report) -> None:
    line = next(line for line in report_text(report, width=150).splitlines() if line.startswith("Evidence among"))

    ranks = [[rank is not None and rank <= 5 for rank in report["first_rank"][name]] for name in ("keyword", "dense")]
    pairs = list(zip(*ranks, strict=True))
    assert f"only keyword {pairs.count((True, False))}, only dense {pairs.count((False, True))}, " in line


def test_names_cannot_write_to_the_terminal_and_are_no_markup() -> None:
    benchmark = made_benchmark(name="[red]\x1b[31m")
    runs = made_runs(benchmark, good={"[bold]x[/bold]\x07": 0.5, HOSTILE: 0.2})

    text = report_text(made_report(benchmark=benchmark, runs=runs), width=120)

    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[red]\ufffd[31m: within" in text
    assert "[bold]x[/bold]" in text


def test_colours_come_only_when_asked_for(report: Report) -> None:
    assert "\x1b[" not in report_text(report, width=100)
    assert "\x1b[1m" in report_text(report, width=100, colour=True)


def test_it_says_what_intervals_and_p_are(report: Report) -> None:
    text = " ".join(report_text(report, width=80).split())

    assert "[low, high] 95 % bootstrap interval, 10,000 resamples, of whole conversations" in text
    assert "p adjusted for all comparisons of a pool: 6 in the own conversation; it is the p of the answer" in text


def test_comparisons_have_a_row_each_with_interval_and_p(report: Report) -> None:
    found = compare_reports(
        report,
        made_report(),
        measures=["recall@5", "success@5"],
    )

    lines = comparisons_text(found, width=80).splitlines()

    assert len(lines) == 2 + 6
    assert " ".join(lines[2].split()) == "keyword recall@5 0.0 [0.0, 0.0] 1.00 1.00"
    assert " ".join(lines[7].split()) == "hybrid † success@5 0.0 [0.0, 0.0] 1.00 1.00 0 0"


def test_a_retriever_that_is_in_sample_in_one_report_only_has_both_names(report: Report) -> None:
    other = made_report()
    other["retrievers"]["hybrid"]["in_sample"] = False

    lines = comparisons_text(compare_reports(report, other, measures=["recall@5"]), width=80).splitlines()

    assert " ".join(lines[-1].split()).startswith("hybrid † / hybrid recall@5")


def _of(report: Report, retriever: str, category: str) -> float:
    return report["retrievers"][retriever]["by_category"][category]["recall@5"]["mean"]
