"""The sessions of a pool, and how well the best turn of each fits a question."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.sessions import Sessions
from tests.retrieval.talks import Talk, turn


def of(talk: Talk, within: Within | None = None) -> Sessions:
    return Sessions.of(talk.table, talk.stage(within).pool)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.floats(-9, 9), st.booleans()), max_size=30))
def test_the_best_of_each_session_is_that_of_its_turns_in_the_pool(turns: list[tuple[str, float, bool]]) -> None:
    talk = Talk([turn("x", session_id=session, recalled=recalled) for session, _, recalled in turns])
    values = np.array([value for _, value, _ in turns])

    sessions = of(talk)

    inside = [(session, value) for session, value, recalled in turns if recalled]
    expected = {name: max(value for session, value in inside if session == name) for name in {s for s, _ in inside}}
    best = sessions.best(values)
    assert len(sessions) == len(expected)
    for entry, (session, _, recalled) in enumerate(turns):
        number = sessions.number[talk.table.session[entry]]
        assert number >= 0 if recalled else (number >= 0) == (session in expected)
        if recalled:
            assert best[number] == expected[session]
            assert sessions.sizes[number] == sum(other == session for other, _ in inside)


def test_sessions_of_the_same_name_in_two_conversations_are_two() -> None:
    talk = Talk([turn("x", conversation_id=conversation) for conversation in "cd"])

    assert len(of(talk)) == 2
    assert len(of(talk, Within(conversation="c"))) == 1


def test_bests_are_standardized_over_turns_and_held_back_when_sessions_are_few() -> None:
    talk = Talk([turn("x", session_id=session) for session in "aaab"])

    standardized = of(talk).standardized(np.array([1.0, 5.0]))

    mean, deviation = 2.0, math.sqrt((3 * 1 + 9) / 4)
    assert standardized.tolist() == pytest.approx([(best - mean) / (3 * deviation) * 2 / 10 for best in (1, 5)])


@pytest.mark.parametrize("sessions", ["", "a", "aaaa"])
def test_one_session_or_none_tells_nothing(sessions: str) -> None:
    talk = Talk([turn("x", session_id=session) for session in sessions])
    values = np.arange(len(sessions), dtype=np.float64)

    assert not of(talk).standardized(of(talk).best(values)).any()


def test_sessions_that_are_alike_tell_nothing() -> None:
    talk = Talk([turn("x", session_id=session) for session in "ab"])

    assert of(talk).standardized(np.array([0.5, 0.5])).tolist() == [0.0, 0.0]
    # The mean of three tenths is not a tenth.
    three = Talk([turn("x", session_id=session) for session in "abc"])
    assert of(three).standardized(np.array([0.1, 0.1, 0.1])).tolist() == [0.0, 0.0, 0.0]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=20), st.sets(st.integers(0, 2)))
def test_members_are_the_turns_of_the_sessions_chosen(turns: list[tuple[str, bool]], chosen: set[int]) -> None:
    talk = Talk([turn("x", session_id=session, recalled=recalled) for session, recalled in turns])
    sessions = of(talk)
    mask = np.array([number in chosen for number in range(len(sessions))], np.bool_)

    expected = [
        entry
        for entry, (_, recalled) in enumerate(turns)
        if recalled and sessions.number[talk.table.session[entry]] in chosen
    ]
    assert sessions.members(mask).tolist() == expected
