"""Recall by hand, and its interval."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.evaluation.questions import Question
from memory_rag.evaluation.recall import Interval, recall_of, recall_trial
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.ranking import Hit, Ranking
from memory_rag.turns import Role, Source, Span, Turn


def test_recall_is_the_share_of_the_evidence_that_was_found() -> None:
    question = Question("?", "talk", frozenset({"D1:1", "D1:2", "D2:5"}), "4 single-hop")

    assert recall_of(question, _ranking("D1:2", "D9:9", "D2:5")) == 2 / 3
    assert recall_of(question, _ranking("D9:9")) == 0


def test_a_search_without_hits_has_recall_0() -> None:
    assert recall_of(Question("?", "talk", frozenset({"D1:1"}), ""), _ranking()) == 0


def test_the_same_native_id_in_another_conversation_is_not_evidence() -> None:
    question = Question("?", "talk", frozenset({"D1:1"}), "")

    assert recall_of(question, _ranking("D1:1", conversation="other")) == 0


def test_a_turn_without_a_source_is_not_evidence() -> None:
    turn = Turn("t1", "talk", "s", 0, Role.USER, "Ada", "hello")

    assert recall_of(Question("?", "talk", frozenset({"D1:1"}), ""), Ranking("?", "keyword", (_hit(turn),))) == 0


def test_a_trial_averages_over_all_and_by_category() -> None:
    questions = [
        Question("both", "talk", frozenset({"D1:1", "D1:2"}), "1 multi-hop"),
        Question("one", "talk", frozenset({"D1:1"}), "4 single-hop"),
        Question("none", "talk", frozenset({"D3:3"}), "4 single-hop"),
    ]

    found = recall_trial(lambda text, within: _ranking("D1:1"), questions, pool="conversation")

    assert found["all"]["mean"] == (0.5 + 1 + 0) / 3
    assert found["all"]["n"] == 3
    assert {name: (of["mean"], of["n"]) for name, of in found["by_category"].items()} == {
        "1 multi-hop": (0.5, 1),
        "4 single-hop": (0.5, 2),
    }


@pytest.mark.parametrize(("pool", "expected"), [("conversation", Within(conversation="talk")), ("memory", Within())])
def test_a_pool_is_the_questions_own_conversation_or_everything(pool: str, expected: Within) -> None:
    asked: list[Within] = []

    def search(text: str, within: Within) -> Ranking:
        asked.append(within)
        return _ranking()

    question = Question("?", "talk", frozenset({"D1:1"}), "")
    recall_trial(search, [question], pool="conversation" if pool == "conversation" else "memory")

    assert asked == [expected]


def test_a_trial_tells_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    question = Question("?", "talk", frozenset({"D1:1"}), "")

    recall_trial(
        lambda text, within: _ranking(),
        [question] * 3,
        pool="memory",
        progress=lambda done, total: told.append((done, total)),
    )

    assert told == [(1, 3), (2, 3), (3, 3)]


def test_an_interval_of_equal_values_is_a_point() -> None:
    assert Interval.of([0.25] * 40) == Interval(mean=0.25, low=0.25, high=0.25, n=40)


def test_an_interval_of_a_coin_is_as_wide_as_the_normal_law_says() -> None:
    found = Interval.of([0.0, 1.0] * 200)

    half = 1.96 * (0.25 / 400) ** 0.5
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.5 - half, abs=0.01)
    assert found.high == pytest.approx(0.5 + half, abs=0.01)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_an_interval_holds_its_mean_and_is_the_same_each_time(values: list[float]) -> None:
    found = Interval.of(values)

    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert Interval.of(values) == found
    assert found.as_json() == {"mean": found.mean, "low": found.low, "high": found.high, "n": len(values)}


def test_an_interval_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        Interval.of([])


def _ranking(*native_ids: str, conversation: str = "talk") -> Ranking:
    turns = [
        Turn(f"t{place}", conversation, "s", place, Role.USER, "Ada", "hello", source=Source("locomo", native_id))
        for place, native_id in enumerate(native_ids)
    ]
    return Ranking("?", "keyword", tuple(map(_hit, turns)))


def _hit(turn: Turn) -> Hit:
    return Hit(turn, 1.0, turn.ordinal + 1, Span(0, len(turn.text)))
