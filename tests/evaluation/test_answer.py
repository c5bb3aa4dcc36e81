"""The answer in words is right, names the p, and never more than the questions can show."""

from __future__ import annotations

import pytest

from memory_rag.evaluation.answer import answer_of, comparison, is_clear, marked, sides
from memory_rag.evaluation.report_shape import Report
from memory_rag.evaluation.wording import (
    counted,
    definitions_of,
    in_brackets,
    kept_together,
    p_value,
    points,
    points_between,
)
from tests.evaluation.made_report import made_benchmark, made_report, made_runs


def report_of(**good: float) -> Report:
    benchmark = made_benchmark()
    named = {name.replace("_", "-"): chance for name, chance in good.items()}
    return made_report(benchmark=benchmark, runs=made_runs(benchmark, good=named))


def test_a_clear_winner_is_said_to_serve_best() -> None:
    report = report_of(dense=0.1, keyword=0.95)
    answer = answer_of(report)

    compared = comparison(report, "keyword", "dense", measure="recall@5")
    said = points(compared["difference"])
    assert compared["difference"] > 0.3
    assert (
        answer.headline
        == f"keyword serves this history best: {said} points over dense, p {p_value(compared['p_holm'])}."
    )
    assert (answer.best, answer.other, answer.is_clear) == ("keyword", "dense", True)
    assert answer.details[0].startswith("recall@5 .")


def test_a_difference_that_may_be_chance_is_said_to_be_none() -> None:
    answer = answer_of(report_of(dense=0.5, keyword=0.5))

    assert not answer.is_clear
    assert answer.headline.startswith(
        f"{answer.best} comes first, but 30 questions can't tell it from {answer.other}: +"
    )


def test_two_that_find_alike_come_first_together() -> None:
    benchmark = made_benchmark()
    run = made_runs(benchmark, good={"keyword": 0.5})["keyword"]

    answer = answer_of(made_report(benchmark=benchmark, runs={"keyword": run, "dense": run}))

    assert (
        answer.headline == "dense and keyword come first, and 30 questions can't tell them apart: 0.0 points, p 1.00."
    )


def test_without_a_clear_winner_it_is_said_who_is_behind_and_who_is_not() -> None:
    report = report_of(convex=0.95, rrf=0.94, overlap=0.93, keyword=0.1)

    details = answer_of(report).details

    assert report["retrievers"]["keyword"]["measures"]["recall@5"]["mean"] < 0.5
    assert details[1].startswith("Less is found by keyword (−")
    assert details[1].endswith("; no difference is shown from rrf either.")


def test_an_in_sample_winner_is_named_but_does_not_win() -> None:
    answer = answer_of(report_of(hybrid=0.99, keyword=0.6, dense=0.2))

    assert answer.best == "keyword"
    assert answer.details[-1].startswith("hybrid has .")
    assert answer.details[-1].endswith(
        "but in-sample: its weights were set after seeing this data, so it is no contender here."
    )


def test_an_in_sample_retriever_is_marked_where_it_wins_for_want_of_others() -> None:
    report = report_of(hybrid=0.9, random=0.0)

    assert answer_of(report).headline.startswith("hybrid † finds .")
    assert marked(report, "hybrid") == "hybrid †"
    assert marked(report, "random") == "random"


def test_two_variants_of_one_kind_are_not_set_against_each_other() -> None:
    report = report_of(hybrid_cv=0.9, dense=0.2)
    report["retrievers"]["hybrid"] = {**report["retrievers"]["hybrid-cv"], "in_sample": False}
    report["retrievers"]["hybrid-cv:e5"] = report["retrievers"]["hybrid-cv"]

    answer = answer_of(
        report | {"retrievers": {n: report["retrievers"][n] for n in ("hybrid-cv", "hybrid-cv:e5", "dense")}}
    )

    assert (answer.best, answer.other) == ("hybrid-cv", "dense")


def test_keyword_and_dense_are_always_compared() -> None:
    answer = answer_of(report_of(convex=0.95, dense=0.9, keyword=0.1))

    assert (answer.best, answer.other) == ("convex", "dense")
    assert [detail.partition(": ")[0] for detail in answer.details[-2:]] == [
        "convex finds more than keyword",
        "dense finds more than keyword",
    ]


def test_a_retriever_alone_has_nothing_to_be_compared_with() -> None:
    answer = answer_of(report_of(dense=0.5))

    assert answer.headline.startswith("dense finds .")
    assert answer.headline.endswith("(recall@5); there is nothing to compare it with.")
    assert answer.other is None


def test_bounds_alone_are_compared_with_nothing() -> None:
    benchmark = made_benchmark()
    oracle = made_runs(benchmark, good={})

    answer = answer_of(made_report(benchmark=benchmark, runs={**oracle, "random": oracle["oracle"]}))

    assert answer.other is None


def test_a_comparison_can_be_read_from_both_sides() -> None:
    report = report_of(keyword=0.8, dense=0.3)
    one = comparison(report, "keyword", "dense", measure="success@5")
    other = comparison(report, "dense", "keyword", measure="success@5")

    assert other["difference"] == -one["difference"]
    assert one["low"] is not None
    assert other["high"] == -one["low"]
    assert (one["outcome"]["won"], one["outcome"]["lost"]) == (other["outcome"]["lost"], other["outcome"]["won"])
    assert other["p_holm"] == one["p_holm"]
    with pytest.raises(KeyError, match="doesn't compare 'keyword' with 'oracle' by recall@5"):
        comparison(report, "keyword", "oracle", measure="recall@5")


def test_a_small_p_with_an_interval_around_0_is_not_clear() -> None:
    clear = comparison(report_of(keyword=0.95, dense=0.1), "keyword", "dense", measure="recall@5")

    assert is_clear(clear)
    assert not is_clear({**clear, "low": -0.01})
    assert not is_clear({**clear, "low": None, "high": None})
    assert not is_clear({**clear, "p_holm": 0.05})


def test_the_sides_are_keyword_and_dense_or_those_of_the_answer() -> None:
    assert sides(report_of(hybrid_cv=0.9, keyword=0.5, dense=0.4)) == ("keyword", "dense")
    assert sides(report_of(bm25=0.9, e5=0.2)) == ("bm25", "e5")
    assert sides(report_of(dense=0.9)) is None


@pytest.mark.parametrize(
    ("difference", "said"),
    [(0.041, "+4.1"), (-0.003, "−0.3"), (0.0, "0.0"), (-0.0001, "0.0"), (-0.0, "0.0"), (1, "+100.0")],
)
def test_points_have_a_sign(difference: float, said: str) -> None:
    assert points(difference) == said


@pytest.mark.parametrize(
    ("p", "said"), [(0.0009, "< 0.001"), (0.003, "0.003"), (0.0123, "0.012"), (0.617, "0.62"), (1, "1.00")]
)
def test_a_p_has_the_digits_it_deserves(p: float, said: str) -> None:
    assert p_value(p) == said


def test_what_has_no_interval_shows_none() -> None:
    assert in_brackets(0.824, 0.852) == "[.824, .852]"
    assert in_brackets(None, None) == ""
    assert points_between(0.029, -0.052) == "[+2.9, −5.2]"
    assert points_between(None, None) == ""


def test_numbers_stay_with_their_signs_at_a_line_end() -> None:
    assert kept_together("95 % interval, p < 0.001.") == "95\u00a0% interval, p\u00a0<\u00a00.001."


def test_counts_have_a_plural_and_definitions_alike_one_line() -> None:
    assert counted(1, "question") == "1 question"
    assert counted(1982, "question") == "1,982 questions"
    report = report_of(dense=0.5)
    assert list(definitions_of([report, report])) == ["recall@1, 2, 3, 5, 10", "success@5", "rr@5"]
