"""From a shortlist to a ranked list, by a linear score of named signals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.ranker import ConversationRanker
from memory_rag.retrieval.ranking import Scores
from memory_rag.retrieval.shortlist import Shortlist
from memory_rag.retrieval.signals import Signal
from tests.retrieval.talks import Talk, turn

TALK = Talk([turn("kayak", turn_id=f"t{9 - n}") for n in range(10)])


def given_signal(name: str, weight: float, values: list[float]) -> Signal:
    def compute(short: Shortlist) -> Scores:
        return np.array(values)[short.entries]

    return Signal(name, weight, compute)


def test_a_score_is_the_sum_of_the_weighted_signals_which_say_why() -> None:
    ranker = ConversationRanker(
        [given_signal("near", 2.0, [0.1] * 9 + [0.5]), given_signal("late", -1.0, [0.0] * 9 + [0.25])]
    )

    best = ranker.rank(Shortlist(TALK.scene("x"), np.arange(10)), k=1)[0]

    assert best.entry == 9
    assert best.score == pytest.approx(0.75)
    assert best.signals == pytest.approx({"near": 1.0, "late": -0.25})
    assert sum(best.signals.values()) == pytest.approx(best.score)


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=10, max_size=10),
    st.lists(st.integers(0, 9), unique=True).map(sorted),
    st.integers(1, 12),
)
def test_the_best_of_any_entries_come_first_and_ties_by_turn_id(
    values: list[float], entries: list[int], k: int
) -> None:
    ranker = ConversationRanker([given_signal("one", 1.0, values)])

    ranked = ranker.rank(Shortlist(TALK.scene("x"), np.array(entries, np.int64)), k=k)

    expected = sorted(entries, key=lambda entry: (-values[entry], TALK.table.turn_id(entry)))[:k]
    assert [one.entry for one in ranked] == expected
    assert [one.signals["one"] for one in ranked] == [values[entry] for entry in expected]


def test_without_signals_turns_come_by_their_ids() -> None:
    ranked = ConversationRanker([]).rank(Shortlist(TALK.scene("x"), np.arange(10)), k=3)

    assert [TALK.table.turn_id(one.entry) for one in ranked] == ["t0", "t1", "t2"]
    assert [one.score for one in ranked] == [0.0] * 3


def test_no_entries_have_no_ranking() -> None:
    assert ConversationRanker().rank(Shortlist(TALK.scene("kayak"), np.zeros(0, np.int64)), k=5) == []
