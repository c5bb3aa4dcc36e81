"""Each measure by hand, and equal to trec_eval's on random rankings with ties and grades."""

from __future__ import annotations

import math
import random
from itertools import permutations

import ir_measures
import pytest
import pytrec_eval

from memory_rag.errors import QueryError
from memory_rag.evaluation.measures import DEFINITIONS, measure, recall_at_tokens
from memory_rag.evaluation.runs import ranked_ids

# d1 and d4 are relevant, d1 more so; d4 is third, d1 is fifth.
RANKED = ["d9", "d8", "d4", "d7", "d1", "d6"]
RELEVANT = {"d1": 3, "d4": 1, "d5": 0}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("recall@2", 0.0),
        ("recall@3", 1 / 2),
        ("recall@5", 1.0),
        ("success@2", 0.0),
        ("success@3", 1.0),
        ("all_found@4", 0.0),
        ("all_found@5", 1.0),
        ("precision@4", 1 / 4),
        ("precision@10", 2 / 10),
        ("ap@5", (1 / 3 + 2 / 5) / 2),
        ("ap@4", (1 / 3) / 2),
        ("rr@2", 0.0),
        ("rr@10", 1 / 3),
        # Gains 1 at rank 3 and 3 at rank 5: log2(4) = 2, log2(6); at best 3 at rank 1 and 1 at rank 2.
        ("ndcg@5", (1 / 2 + 3 / math.log2(6)) / (3 + 1 / math.log2(3))),
        ("ndcg@3", (1 / 2) / (3 + 1 / math.log2(3))),
        ("ndcg@1", 0.0),
        # LongMemEval: rank 3 by log2(3), rank 5 by log2(5); at best 3 at rank 1 and 1 by log2(2) = 1 at rank 2.
        ("ndcg_longmemeval@5", (1 / math.log2(3) + 3 / math.log2(5)) / (3 + 1)),
    ],
)
def test_a_measure_has_the_value_worked_out_by_hand(name: str, expected: float) -> None:
    assert measure(name).value_of(RELEVANT, RANKED) == pytest.approx(expected, abs=1e-12)


def test_longmemeval_discounts_neither_the_first_rank_nor_the_second() -> None:
    second = ["d9", "d1"]

    assert measure("ndcg_longmemeval@5").value_of({"d1": 1}, second) == 1.0
    assert measure("ndcg@5").value_of({"d1": 1}, second) == pytest.approx(1 / math.log2(3))


def test_the_best_possible_gain_counts_relevant_turns_that_were_not_found() -> None:
    # An implementation that looks only at what was retrieved would say 1.
    assert measure("ndcg@10").value_of({"d1": 1, "d2": 1}, ["d1"]) == pytest.approx(1 / (1 + 1 / math.log2(3)))


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_query_without_hits_scores_0(name: str) -> None:
    assert measure(f"{name}@10").value_of({"d1": 1}, []) == 0.0


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_perfect_ranking_scores_1(name: str) -> None:
    assert measure(f"{name}@2").value_of({"d1": 2, "d2": 1}, ["d1", "d2"]) == 1.0


@pytest.mark.parametrize("relevant", [{}, {"d1": 0}, {"d1": -1}])
def test_a_query_without_relevant_turns_has_no_value(relevant: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="no measure has a value for a query without relevant turns"):
        measure("recall@10").value_of(relevant, ["d1"])
    with pytest.raises(ValueError, match="no value for a query without relevant turns"):
        recall_at_tokens(relevant, ["d1"], budget=500, tokens={"d1": 1})


def test_a_turn_that_is_ranked_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="names each turn once"):
        measure("recall@10").value_of({"d1": 1}, ["d1", "d1"])


@pytest.mark.parametrize(
    "name", ["recall", "recall@0", "recall@-1", "recall@1.5", "recall@٣", "hit_rate@10", "@10", ""]
)
def test_an_unknown_measure_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(QueryError) as caught:
        measure(name)

    assert str(caught.value) == (
        f"unknown measure {name!r}; a measure is one of recall, success, all_found, precision, ap, rr, ndcg, "
        "ndcg_longmemeval, then @ and k"
    )


def test_a_measure_is_named_as_it_was_asked_for() -> None:
    assert str(measure("all_found@20")) == "all_found@20"
    assert (
        measure("all_found@20").definition == "1 if every relevant turn is among the first k (LongMemEval's recall_all)"
    )


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (0, 0.0),
        (99, 0.0),
        (100, 0.5),
        (499, 0.5),
        # d2 doesn't fit, so d3 is not taken either, though it would fit.
        (549, 0.5),
        (600, 0.5),
        (650, 1.0),
    ],
)
def test_a_token_budget_is_filled_in_order_until_a_turn_does_not_fit(budget: int, expected: float) -> None:
    tokens = {"d1": 100, "d2": 500, "d3": 50}

    assert recall_at_tokens({"d1": 1, "d3": 1}, ["d1", "d2", "d3"], budget=budget, tokens=tokens) == expected


def test_a_scorer_that_scores_everything_alike_does_not_get_a_perfect_rank() -> None:
    """G22: one order for all measures, trec_eval's, whatever order the turns came in."""
    relevant = {"d1": 1}

    for order in permutations(["d1", "d2", "d3"]):
        ranked = ranked_ids(dict.fromkeys(order, 1.0))

        assert ranked == ["d3", "d2", "d1"]
        assert measure("precision@1").value_of(relevant, ranked) == 0.0
        assert measure("rr@3").value_of(relevant, ranked) == pytest.approx(1 / 3)
        assert measure("ap@3").value_of(relevant, ranked) == pytest.approx(1 / 3)
        assert measure("ndcg@3").value_of(relevant, ranked) == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(20))
def test_measures_equal_trec_eval_on_random_runs_with_ties_and_grades(seed: int) -> None:
    qrels, run = _random_run(random.Random(seed))
    ks = (1, 3, 5, 10, 20)
    theirs = pytrec_eval.RelevanceEvaluator(
        qrels,
        {f"{name}.{','.join(map(str, ks))}" for name in ("recall", "success", "P", "map_cut", "ndcg_cut")}
        | {"recip_rank"},
    ).evaluate(run)
    names = {"recall": "recall", "success": "success", "precision": "P", "ap": "map_cut", "ndcg": "ndcg_cut"}

    for query, relevant in qrels.items():
        ranked = ranked_ids(run[query])
        for ours, their_name in names.items():
            for k in ks:
                expected = theirs[query][f"{their_name}_{k}"]
                assert measure(f"{ours}@{k}").value_of(relevant, ranked) == pytest.approx(expected, abs=1e-9), (ours, k)
        assert measure("rr@1000").value_of(relevant, ranked) == pytest.approx(theirs[query]["recip_rank"], abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("as_we_write_it", [False, True], ids=["with ties", "as we write it"])
def test_measures_equal_ir_measures_query_by_query(seed: int, *, as_we_write_it: bool) -> None:
    qrels, run = _random_run(random.Random(1000 + seed))
    names = {"recall": "R", "success": "Success", "precision": "P", "ap": "AP", "ndcg": "nDCG"}
    if as_we_write_it:
        run = {query: _falling(ranked_ids(scores)) for query, scores in run.items()}
        # With ties ir_measures ranks for RR@k, and for it alone, in another order than trec_eval's.
        names["rr"] = "RR"
    del run["q3"]
    asked = {
        ir_measures.parse_measure(f"{theirs}@{k}"): measure(f"{ours}@{k}")
        for ours, theirs in names.items()
        for k in (1, 5, 10)
    }

    found = list(ir_measures.iter_calc(list(asked), qrels, run))

    assert len(found) == len(asked) * len(qrels)
    for metric in found:
        ours = asked[metric.measure].value_of(qrels[metric.query_id], ranked_ids(run.get(metric.query_id, {})))
        assert ours == pytest.approx(metric.value, abs=1e-9), metric


def _falling(ranked: list[str]) -> dict[str, float]:
    return {turn: float(len(ranked) - place) for place, turn in enumerate(ranked)}


def _random_run(
    rng: random.Random, *, n_queries: int = 30
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgements (grades 0 to 3, at least one relevant) and a run full of ties, some only in float32."""
    turns = [f"D{n}:{rng.randint(1, 30)}/{n}" for n in range(40)]
    qrels, run = {}, {}
    for n in range(n_queries):
        graded = {turn: rng.choice([0, 0, 1, 2, 3]) for turn in rng.sample(turns, rng.randint(2, 12))}
        qrels[f"q{n}"] = graded | {rng.choice(turns): rng.randint(1, 3)}
        retrieved = rng.sample(turns, rng.randint(1, 30))
        near = [12.345678, 12.3456781, 12.3456785, 12.346]
        run[f"q{n}"] = {turn: rng.choice([*near, float(rng.randint(0, 5)), rng.random()]) for turn in retrieved}
    return qrels, run
