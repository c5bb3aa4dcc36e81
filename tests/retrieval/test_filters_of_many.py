"""What a filter leaves of a table of many turns, where it is looked up and not looked for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memory_rag.retrieval.filters import Within, scope_of
from memory_rag.retrieval.turn_table import TurnTable
from memory_rag.text.instants import parse_bound
from memory_rag.turns import Role, Turn
from tests.retrieval.talks import turn

N = 18_000
BEGAN = datetime(2020, 1, 1, tzinfo=UTC)
FEW = [
    Within(conversation="c3"),
    Within(conversation="c3", session="s1"),
    Within(session="only"),
    Within(conversation="c3", role="assistant"),
    Within(conversation="c3", speaker="ADA", unrecalled=True),
    Within(conversation="c3", since="2024"),
    Within(since="2022-03-01", until="2022-03-14"),
    Within(since="2022-03-05T00:00Z", until="2022-03-09T12:00Z", role="user"),
    Within(until="2020-01-03"),
    Within(since="2030"),
    Within(conversation="nobody's"),
    Within(conversation="c3", since="2024", until="2020"),
]
MANY = [Within(), Within(role="user"), Within(since="2021"), Within(session="s1"), Within(speaker="ada")]


def said(n: int) -> Turn:
    """Return the turn of a number: conversations run side by side, times go back and forth, some are unknown."""
    at = None if n % 11 == 0 else BEGAN + timedelta(hours=6 * (n % 7000), minutes=n % 13)
    return turn(
        "hello",
        turn_id=f"t{n}",
        conversation_id=f"c{n % 300}",
        session_id="only" if n % 900 == 7 else f"s{n // 900 % 3}",
        ordinal=n,
        role=Role.ASSISTANT if n % 2 else Role.USER,
        speaker="Ada" if n % 3 else "Bo",
        said_at=at,
        recalled=n % 5 > 0,
    )


TURNS = [said(n) for n in range(N + 700)]


@pytest.fixture(scope="module")
def made() -> TurnTable:
    table = TurnTable()
    for n, one in enumerate(TURNS[:N]):
        table.append(n, one, seq=n + 1)
    for n in range(3, N, 1700):
        table.end(n)
    return table


def is_inside(one: Turn, within: Within) -> bool:
    at = one.said_at
    first = None if within.since is None else parse_bound(within.since, tz=UTC, end=False)
    last = None if within.until is None else parse_bound(within.until, tz=UTC, end=True)
    return (
        within.conversation in (None, one.conversation_id)
        and within.session in (None, one.session_id)
        and within.role in (None, one.role)
        and (within.speaker is None or within.speaker.casefold() == one.speaker.casefold())
        and (one.recalled or within.unrecalled)
        and (first is None or (at is not None and at >= first.instant))
        and (last is None or (at is not None and (at <= last.instant if last.inclusive else at < last.instant)))
    )


@pytest.mark.parametrize("within", [*FEW, *MANY], ids=str)
def test_a_filter_leaves_the_living_turns_that_it_holds_for(made: TurnTable, within: Within) -> None:
    scope = scope_of(made, within, zone=UTC)

    wider = replace(within, role=None, speaker=None)
    for selected, asked in ((scope.allowed, within), (scope.context, wider)):
        expected = [entry for entry in made.living().tolist() if is_inside(TURNS[entry], asked)]
        assert selected.entries.tolist() == expected
    assert scope.context.are_few == (within in FEW)


@pytest.mark.parametrize("within", [*FEW, *MANY], ids=str)
def test_a_scope_that_follows_its_table_is_the_one_that_is_made_anew(made: TurnTable, within: Within) -> None:
    table = TurnTable.from_arrays(made.arrays())
    scope = scope_of(table, within, zone=UTC)
    n_ended = 0
    for first, end in ((N, N + 1), (N + 1, N + 301), (N + 301, N + 700)):
        for n in range(first, end):
            table.append(n, TURNS[n], seq=n + 1)
        table.end(first // 2)
        table.end(303)
        ended, n_ended = np.array(table.ended[n_ended:], np.int64), len(table.ended)
        scope = scope_of(table, within, zone=UTC, earlier=scope, ended=ended)

        anew = scope_of(table, within, zone=UTC)
        assert scope.allowed.entries.tolist() == anew.allowed.entries.tolist()
        assert scope.context.entries.tolist() == anew.context.entries.tolist()
        assert scope.notes == anew.notes
