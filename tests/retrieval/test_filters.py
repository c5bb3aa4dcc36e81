"""Which turns a search may return."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import combinations
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memory_rag.errors import QueryError, TurnError
from memory_rag.retrieval.filters import Scope, Within, scope_of
from memory_rag.turns import Role
from tests.retrieval.talks import Talk, turn

STOCKHOLM = ZoneInfo("Europe/Stockholm")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


TALK = Talk(
    [
        turn("a", conversation_id="c1", session_id="s1", speaker="Ada", said_at=at("2026-04-09T12:00+00:00")),
        turn(
            "b",
            conversation_id="c1",
            session_id="s1",
            speaker="ai",
            role=Role.ASSISTANT,
            said_at=at("2026-04-10T12:00Z"),
        ),
        turn("c", conversation_id="c1", session_id="s2", speaker="Ada", said_at=at("2026-04-11T12:00Z")),
        turn("d", conversation_id="c2", session_id="s1", speaker="ada", said_at=at("2026-05-10T12:00Z")),
        turn("e", conversation_id="c2", session_id="s1", speaker="Bo", said_at=None),
        turn("f", conversation_id="c2", session_id="s1", speaker="tool", role=Role.TOOL, recalled=False),
        turn(
            "g", conversation_id="c2", session_id="s3", speaker="Ada", role=Role.SYSTEM, said_at=at("2027-01-01T00:00Z")
        ),
    ]
)
TEXTS = "abcdefg"

FILTERS: dict[str, tuple[Within, str]] = {
    "nothing": (Within(), "abcdeg"),
    "unrecalled": (Within(unrecalled=True), "abcdefg"),
    "conversation": (Within(conversation="c1"), "abc"),
    "session": (Within(session="s1"), "abde"),
    "speaker": (Within(speaker="ADA"), "acdg"),
    "role": (Within(role="user"), "acde"),
    "another name of a role": (Within(role="developer"), "g"),
    "since a day": (Within(since="2026-04-10"), "bcdg"),
    "until a day": (Within(until="2026-04-10"), "ab"),
    "one day": (Within(since="2026-04-10", until="2026-04-10"), "b"),
    "one month": (Within(since="2026-04", until="2026-04"), "abc"),
    "one year": (Within(since="2026", until="2026"), "abcd"),
    "an instant": (Within(since="2026-04-10T12:00Z", until="2026-04-10T12:00Z"), "b"),
    "just before": (Within(until="2026-04-10T11:59:59Z"), "a"),
    "nothing left": (Within(since="2026-06-01", until="2026-05-01"), ""),
}


def letters(scope: Scope) -> str:
    return "".join(letter for letter, allowed in zip(TEXTS, scope.allowed.mask, strict=True) if allowed)


@pytest.mark.parametrize("name", FILTERS)
def test_each_filter_alone(name: str) -> None:
    within, expected = FILTERS[name]

    assert letters(scope_of(TALK.table, within, zone=UTC)) == expected


NARROWING: list[dict[str, Any]] = [
    {"conversation": "c1"},
    {"session": "s1"},
    {"speaker": "ada"},
    {"role": "user"},
    {"since": "2026-04-10"},
    {"until": "2026-05-10"},
]


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_filters_together_must_all_hold(n: int) -> None:
    for chosen in combinations(NARROWING, n):
        together = Within(**{name: value for one in chosen for name, value in one.items()})
        alone = [set(letters(scope_of(TALK.table, Within(**one), zone=UTC))) for one in chosen]

        assert set(letters(scope_of(TALK.table, together, zone=UTC))) == set.intersection(*alone), together


def test_who_speaks_narrows_what_is_returned_and_not_what_scores_are_made_from() -> None:
    by_role = scope_of(TALK.table, Within(conversation="c1", role="assistant"), zone=UTC)
    by_speaker = scope_of(TALK.table, Within(conversation="c1", speaker="ai"), zone=UTC)

    for scope in (by_role, by_speaker):
        assert letters(scope) == "b"
        assert scope.context.mask.tolist() == [True] * 3 + [False] * 4


def test_dead_entries_are_never_searched() -> None:
    talk = Talk([turn("a"), turn("b")])
    talk.say(turn("c", turn_id="t0"), row=0)

    assert scope_of(talk.table, Within(unrecalled=True), zone=UTC).allowed.mask.tolist() == [False, True, True]


def test_days_are_those_of_the_zone() -> None:
    """G19: a day is from its first instant to the first of the next, by the clocks of the zone."""
    talk = Talk(
        [
            turn("t0", said_at=at("2026-04-09T23:59:59.999999+02:00")),
            turn("t1", said_at=at("2026-04-10T00:00:00+02:00")),
            turn("t2", said_at=at("2026-04-10T23:59:59.999+02:00")),
            turn("t3", said_at=at("2026-04-11T00:00:00+02:00")),
        ]
    )
    within = Within(since="2026-04-10", until="2026-04-10")

    assert scope_of(talk.table, within, zone=STOCKHOLM).allowed.mask.tolist() == [False, True, True, False]
    assert scope_of(talk.table, within, zone=UTC).allowed.mask.tolist() == [False, False, True, True]


def test_times_are_compared_as_instants() -> None:
    """G18: offsets, Z and fractions are no letters."""
    written = [
        "2026-05-02T10:30:00+02:00",
        "2026-05-02T09:30:00+00:00",
        "2026-05-02T09:30:00.002+00:00",
        "2026-05-02 10:00:00+00:00",
        "2026-05-02T11:30:00+02:00",
    ]
    talk = Talk([turn(text, said_at=at(text)) for text in written])

    scope = scope_of(talk.table, Within(since="2026-05-02T09:30:00Z"), zone=UTC)

    assert scope.allowed.mask.tolist() == [False, True, True, True, True]


@pytest.mark.parametrize(
    ("within", "note"),
    [
        (Within(conversation="c9"), "no conversation 'c9' in this memory; see: memory-rag stats"),
        (Within(session="s9"), "no session 's9' in this memory; see: memory-rag stats"),
        (Within(speaker="Eve"), "nobody called 'Eve' speaks in this memory; see: memory-rag stats"),
        (
            Within(since="2026-05", until="2026-04"),
            "nothing is both since 2026-05 and until 2026-04, which is earlier",
        ),
        (
            Within(conversation="c1", role="system"),
            "no turn here is within this filter: conversation c1, role system",
        ),
    ],
)
def test_what_no_turn_is_within_is_told(within: Within, note: str) -> None:
    scope = scope_of(TALK.table, within, zone=UTC)

    assert letters(scope) == ""
    assert scope.notes == (note,)


def test_known_names_are_not_noted() -> None:
    assert scope_of(TALK.table, Within(conversation="c1", session="s1", speaker="ada"), zone=UTC).notes == ()


def test_names_with_line_breaks_are_names_too() -> None:
    talk = Talk(
        [
            turn("x", conversation_id="a", session_id="b\nc"),
            turn("y", conversation_id="a\nb", session_id="c"),
        ]
    )

    assert scope_of(talk.table, Within(session="c"), zone=UTC).allowed.mask.tolist() == [False, True]
    assert scope_of(talk.table, Within(session="b\nc"), zone=UTC).allowed.mask.tolist() == [True, False]


def test_a_bound_that_is_no_time_is_an_error_that_names_it() -> None:
    with pytest.raises(QueryError, match="'next tuesday'"):
        scope_of(TALK.table, Within(since="next tuesday"), zone=UTC)


def test_a_role_that_is_none_is_an_error_that_names_the_roles() -> None:
    with pytest.raises(TurnError, match="'narrator'; a role is one of: user, assistant, system, tool"):
        scope_of(TALK.table, Within(role="narrator"), zone=UTC)
