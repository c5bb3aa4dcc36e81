"""Questions without an answer: how they are made, and what is counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.evaluation.not_found import auroc, not_found_trial
from memory_rag.evaluation.questions import Question, QuestionSet
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.floor import Evidence
from memory_rag.retrieval.ranking import Hit, Ranking
from memory_rag.turns import Role, Source, Span, Turn

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
    # Each conversation has a person called as one of the other's is, in the other place.
    asked = _asked(people={"conv-26": ("Ada", "Bo"), "conv-30": ("Bo", "Ada")})

    seen = _seen_by(asked, lambda text, within: _ranking())

    assert ("What did Bo give Ada, and did Adam see Bo's?", Within(conversation="conv-30")) in seen
    assert ("Did Ada know?", Within(conversation="conv-26")) in seen


def test_a_question_of_the_talk_itself_is_asked_without_its_evidence_and_the_turns_beside_it() -> None:
    seen = _seen_by(_asked(), lambda text, within: _ranking())

    removed = {text: within for text, within in seen if within.without}
    assert removed == {
        "What did Ada give Bo, and did Adam see Ada's?": Within(
            conversation="conv-26", without=("26/D1:1", "26/D1:2", "26/D1:3", "26/D2:1", "26/D2:2")
        ),
        "Did Cy know?": Within(conversation="conv-30", without=("30/D1:1", "30/D1:2")),
    }


def test_an_adversarial_question_is_left_out() -> None:
    assert not [text for text, _ in _seen_by(_asked(), lambda text, within: _ranking()) if text == "Did Bo dive?"]


def test_questions_without_evidence_are_abstention() -> None:
    asked = QuestionSet(
        "beam",
        "0",
        (Question("said?", "1", frozenset({"0"}), "recall"), Question("unsaid?", "1", frozenset(), "abstention")),
        {},
        {"1": ("0", "1")},
        {},
    )

    found = not_found_trial(
        lambda text, within: _ranking("0") if text == "said?" else _ranking(evidence="none"),
        asked,
        turn_ids={("1", "0"): "t0", ("1", "1"): "t1"},
    )

    assert set(found) == {"own", "removed", "abstention"}
    assert found["abstention"] == {"n": 1, "rightly_empty": 1.0, "marked_weak_or_empty": 1.0, "auroc": 1.0}


def test_what_the_floor_costs_is_the_recall_of_answers_that_it_empties() -> None:
    def search(text: str, within: Within) -> Ranking:
        if within.without:
            return _ranking(evidence="weak", value=1.0)
        if text.startswith("Did Cy"):
            return _ranking("D1:1", conversation="conv-30", evidence="none", value=0.0)
        return _ranking("D1:2", conversation="conv-26", evidence="strong", value=2.0)

    found = not_found_trial(search, _asked(), turn_ids=_turn_ids())

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

    not_found_trial(
        lambda text, within: _ranking(),
        _asked(),
        turn_ids=_turn_ids(),
        progress=lambda done, total: told.append((done, total)),
    )

    assert told == [(done, 6) for done in range(1, 7)]


def _asked(*, people: dict[str, tuple[str, ...]] | None = None) -> QuestionSet:
    questions = (
        Question(
            "What did Ada give Bo, and did Adam see Ada's?", "conv-26", frozenset({"D1:2", "D2:1"}), "4 single-hop"
        ),
        Question("Did Bo dive?", "conv-26", frozenset({"D1:1"}), "5 adversarial"),
        Question("Did Cy know?" if people is None else "Did Bo know?", "conv-30", frozenset({"D1:1"}), "4 single-hop"),
    )
    turn_ids = {"conv-26": ("D1:1", "D1:2", "D1:3", "D2:1", "D2:2"), "conv-30": ("D1:1", "D1:2", "D1:3")}
    return QuestionSet(
        "locomo", "0", questions, {}, turn_ids, people or {"conv-26": ("Ada", "Bo"), "conv-30": ("Cy", "Di")}
    )


def _turn_ids() -> dict[tuple[str, str], str]:
    return {
        (conversation, native_id): f"{conversation.removeprefix('conv-')}/{native_id}"
        for conversation, native_ids in _asked().turn_ids.items()
        for native_id in native_ids
    }


def _seen_by(asked: QuestionSet, search: Callable[[str, Within], Ranking]) -> list[tuple[str, Within]]:
    seen: list[tuple[str, Within]] = []

    def noting(text: str, within: Within) -> Ranking:
        seen.append((text, within))
        return search(text, within)

    not_found_trial(noting, asked, turn_ids=_turn_ids())
    return seen


def _ranking(
    *native_ids: str, conversation: str = "1", evidence: Evidence = "strong", value: float | None = None
) -> Ranking:
    turns = [
        Turn(f"t{place}", conversation, "s", place, Role.USER, "Ada", "x", source=Source("locomo", native_id))
        for place, native_id in enumerate(native_ids)
    ]
    hits = tuple(Hit(turn, 1.0, turn.ordinal + 1, Span(0, 1)) for turn in turns)
    return Ranking("?", "hybrid", hits, evidence=evidence, evidence_value=float(len(hits)) if value is None else value)
