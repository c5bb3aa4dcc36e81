"""A conversation is read page by page, in spoken order, whatever order it was stored in."""

from __future__ import annotations

import pytest

from memory_rag.store.conversation_pages import opening_of, page_of, place_of
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.turns import Role
from tests.store.conftest import Say


@pytest.fixture
def stored(store: SqliteTurnStore, said: Say) -> SqliteTurnStore:
    """Ten turns of a conversation in two sessions, stored backwards, amid others."""
    for number in reversed(range(10)):
        store.add(said(f"turn {number}", ordinal=number, session_id="first" if number < 4 else "second"))
        store.add(said("elsewhere", conversation_id="other", ordinal=number))
    return store


@pytest.mark.parametrize(
    ("session_id", "first", "n", "numbers", "n_turns"),
    [
        (None, 0, 3, [0, 1, 2], 10),
        (None, 8, 5, [8, 9], 10),
        (None, 10, 5, [], 10),
        ("second", 0, 3, [4, 5, 6], 6),
        ("second", 5, 3, [9], 6),
        ("third", 0, 3, [], 0),
    ],
)
def test_a_page_holds_the_turns_from_a_place_on_and_says_how_many_there_are(
    stored: SqliteTurnStore, session_id: str | None, first: int, n: int, numbers: list[int], n_turns: int
) -> None:
    page = page_of(stored.connections, "c", session_id=session_id, first=first, n=n)

    assert [turn.text for turn in page.turns] == [f"turn {number}" for number in numbers]
    assert (page.first, page.n_turns) == (first, n_turns)


@pytest.mark.parametrize("conversation_id", ["nope", "", "\0", "x" * 2000])
def test_a_conversation_that_isn_t_there_has_no_turns(stored: SqliteTurnStore, conversation_id: str) -> None:
    page = page_of(stored.connections, conversation_id, first=0, n=3)

    assert (page.turns, page.n_turns) == ([], 0)


def test_a_turn_s_place_is_where_its_page_finds_it(stored: SqliteTurnStore) -> None:
    everything = page_of(stored.connections, "c", first=0, n=100).turns

    assert [place_of(stored.connections, turn) for turn in everything] == list(range(10))
    assert place_of(stored.connections, everything[6], session_id="second") == 2


def test_a_session_opens_with_what_a_user_said_first(store: SqliteTurnStore, said: Say) -> None:
    store.add(said("Be kind.", role=Role.SYSTEM))
    store.add(said("Hello."))
    store.add(said("Only I speak here.", role=Role.ASSISTANT, session_id="t"))

    def opening(session_id: str) -> str | None:
        found = opening_of(store.connections, "c", session_id=session_id)
        return None if found is None else found.text

    assert [opening("s"), opening("t"), opening("u")] == ["Hello.", "Only I speak here.", None]
