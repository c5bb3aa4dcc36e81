"""Questions without an answer: how they are made, and what is counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.evaluation.benchmark import Benchmark, Document, Query
from memory_rag.evaluation.datasets.registry import load
from memory_rag.evaluation.not_found import auroc, not_found_trial, partners
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.floor import Evidence
from memory_rag.retrieval.ranking import Hit, Ranking
from memory_rag.turns import Role, Span, Turn

VALUES = st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5, 3.0]), min_size=1, max_size=25)


@given(VALUES, VALUES)
def test_auroc_is_the_share_of_pairs_in_the_right_order_ties_counted_half(
    positive: list[float], negative: list[float]
) -> None:
    pairs = [1.0 if p > n else 0.5 if p == n else 0.0 for p in positive for n in negative]

    assert auroc(np.array(positive), np.array(negative)) == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)


def test_auroc_is_1_when_every_answerable_question_has_more_evidence() -> None:
    assert auroc(np.array([2.0, 3.0]), np.array([0.0, 1.0])) == 1.0
    assert auroc(np.array([0.0, 1.0]), np.array([2.0, 3.0])) == 0.0


def test_a_foreign_question_gets_the_names_of_the_people_it_is_asked_of_in_one_pass() -> None:
    # Each talk has a person called as one of the other's is, in the other place.
    benchmark = _benchmark(
        _talk("a", ("Ada", "Bo"), 5),
        _talk("b", ("Bo", "Ada"), 3),
        questions=[("Did Ada see Bo, or Adam Ada's?", "a", [0])],
    )

    seen = _seen_by(benchmark)

    assert ("Did Bo see Ada, or Adam Bo's?", Within(conversation="b")) in seen


def test_talks_of_like_length_are_partners_and_chats_with_a_model_have_none() -> None:
    model = tuple(
        Turn(f"m/{n}", "m", "s", n, role, role.value, "x") for n, role in enumerate((Role.USER, Role.ASSISTANT))
    )
    benchmark = _benchmark(
        *(_talk(name, ("Ada", "Bo"), n) for name, n in (("a", 9), ("b", 3), ("c", 8), ("d", 4))), model
    )

    assert partners(benchmark) == {"b": "d", "d": "b", "c": "a", "a": "c"}
    assert partners(_benchmark(_talk("a", ("Ada", "Bo"), 3))) == {}


def test_locomos_partners_are_the_nearest_in_length(data_dir: Path) -> None:
    pairs = partners(load("locomo", data_dir / "locomo10.json"))

    assert {pairs[name]: name for name in pairs} == pairs
    assert [pairs[f"conv-{n}"] for n in (30, 49, 42, 44, 48)] == [f"conv-{n}" for n in (26, 50, 41, 43, 47)]


def test_a_question_of_the_talk_itself_is_asked_without_its_evidence_and_the_turns_beside_it() -> None:
    benchmark = _benchmark(_talk("a", ("Ada", "Bo"), 6), questions=[("first?", "a", [0]), ("two?", "a", [2, 4])])

    removed = {text: within for text, within in _seen_by(benchmark) if within.without}

    assert removed == {
        "first?": Within(conversation="a", without=("a/0", "a/1")),
        "two?": Within(conversation="a", without=("a/1", "a/2", "a/3", "a/4", "a/5")),
    }


def test_an_adversarial_question_is_left_out() -> None:
    benchmark = _benchmark(_talk("a", ("Ada", "Bo"), 4), questions=[("yes?", "a", [0])])
    adversarial = Query("a/x", "no?", "a", "5 adversarial")
    benchmark = Benchmark(
        "made",
        "turn",
        "0",
        benchmark.documents,
        (*benchmark.queries, adversarial),
        {**benchmark.qrels, "a/x": {"a/1": 1}},
    )

    assert {text for text, _ in _seen_by(benchmark)} == {"yes?"}


def test_questions_without_evidence_are_abstention() -> None:
    benchmark = _benchmark(_talk("a", ("Ada", "Bo"), 4), questions=[("said?", "a", [0]), ("unsaid?", "a", [])])

    found = not_found_trial(
        lambda text, within: _ranking("a/0") if text == "said?" else _ranking(evidence="none"), benchmark
    )

    assert set(found) == {"own", "removed", "abstention"}
    assert found["abstention"] == {"n": 1, "rightly_empty": 1.0, "marked_weak_or_empty": 1.0, "auroc": 1.0}


def test_what_the_floor_costs_is_the_recall_of_answers_that_it_empties() -> None:
    benchmark = _benchmark(
        _talk("a", ("Ada", "Bo"), 5),
        _talk("b", ("Cy", "Di"), 5),
        questions=[("What did Ada give?", "a", [1, 3]), ("Did Cy know?", "b", [0])],
    )

    def search(text: str, within: Within) -> Ranking:
        if within.without:
            return _ranking(evidence="weak", value=1.0)
        if text.startswith("Did Cy"):
            return _ranking("b/0", evidence="none", value=0.0)
        return _ranking("a/1", evidence="strong", value=2.0)

    found = not_found_trial(search, benchmark)

    assert found["own"] == {
        "n": 2,
        "wrongly_empty": 0.5,
        "marked_weak_or_empty": 0.5,
        "recall_without_floor": 0.75,
        "recall_lost": 0.5,
    }
    assert found["removed"] == {"n": 2, "rightly_empty": 0.0, "marked_weak_or_empty": 1.0, "auroc": 0.5}
    assert found["foreign"]["n"] == 2


def test_a_trial_tells_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    benchmark = _benchmark(_talk("a", ("Ada", "Bo"), 5), questions=[("one?", "a", [1]), ("two?", "a", [3])])

    not_found_trial(lambda text, within: _ranking(), benchmark, progress=lambda done, total: told.append((done, total)))

    assert told == [(done, 4) for done in range(1, 5)]


def _talk(name: str, people: tuple[str, str], n: int) -> tuple[Turn, ...]:
    return tuple(Turn(f"{name}/{at}", name, "s", at, Role.USER, people[at % 2], "x") for at in range(n))


def _benchmark(*talks: Sequence[Turn], questions: Sequence[tuple[str, str, list[int]]] = ()) -> Benchmark:
    """Questions are (text, conversation, places of the evidence)."""
    documents = tuple(Document(turn.turn_id, turn.conversation_id, (turn,)) for talk in talks for turn in talk)
    queries = tuple(Query(f"q{n}", text, talk, "4 single-hop") for n, (text, talk, _) in enumerate(questions))
    qrels = {f"q{n}": {f"{talk}/{at}": 1 for at in places} for n, (_, talk, places) in enumerate(questions) if places}
    return Benchmark("made", "turn", "0", documents, queries, qrels)


def _seen_by(
    benchmark: Benchmark, search: Callable[[str, Within], Ranking] = lambda text, within: _ranking()
) -> list[tuple[str, Within]]:
    seen: list[tuple[str, Within]] = []

    def noting(text: str, within: Within) -> Ranking:
        seen.append((text, within))
        return search(text, within)

    not_found_trial(noting, benchmark)
    return seen


def _ranking(*turn_ids: str, evidence: Evidence = "strong", value: float | None = None) -> Ranking:
    turns = [Turn(turn_id, "1", "s", place, Role.USER, "Ada", "x") for place, turn_id in enumerate(turn_ids)]
    hits = tuple(Hit(turn, 1.0, turn.ordinal + 1, Span(0, 1)) for turn in turns)
    return Ranking("?", "hybrid", hits, evidence=evidence, evidence_value=float(len(hits)) if value is None else value)
