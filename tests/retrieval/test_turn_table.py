"""Columns over entries: they grow at the end and die in place."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.retrieval.turn_table import (
    ROLES,
    UNKNOWN_TIME,
    TurnTable,
    content_key,
    pack_texts,
    session_name,
    unpack_texts,
)
from memory_rag.turns import Block, Role, Span, Turn, to_microseconds
from tests.retrieval.talks import turn

ANY_TEXT = st.text(st.characters(exclude_categories=()))
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def test_an_entry_holds_what_ranking_needs() -> None:
    table = TurnTable()
    said = turn(
        "Do I?",
        turn_id="a",
        conversation_id="c",
        session_id="s",
        ordinal=7,
        role=Role.ASSISTANT,
        speaker="Ada",
        said_at=NOON,
        recalled=False,
    )

    entry = table.append(12, said, seq=30)

    assert entry == 0
    assert table.turn_id(0) == "a"
    assert (table.row[0], table.seq[0], table.ordinal[0], table.said_at[0]) == (12, 30, 7, to_microseconds(NOON))
    assert table.role[0] == ROLES.index(Role.ASSISTANT)
    assert table.conversations.names == ["c"]
    assert table.sessions.names == [session_name("c", "s")]
    assert table.speakers.names == ["Ada"]
    assert (table.alive[0], table.recalled[0], table.first_person[0], table.fresh[0]) == (True, False, True, 0)


def test_a_corrected_turn_gets_a_new_entry_and_the_old_one_dies() -> None:
    table = TurnTable()
    table.append(1, turn("old", turn_id="a"), seq=1)
    table.append(2, turn("other", turn_id="b"), seq=2)

    assert table.append(1, turn("new", turn_id="a"), seq=3) == 2

    assert table.living().tolist() == [1, 2]
    assert (table.entry_of(1), table.entry_of(2), table.entry_of(3)) == (2, 1, None)
    assert table.n_alive == 2


def test_an_ended_row_has_no_entry_and_can_be_ended_again() -> None:
    table = TurnTable()
    table.append(1, turn("x", turn_id="a"), seq=1)

    assert (table.end(1), table.end(1)) == (0, None)
    assert len(table) == 1
    assert table.n_alive == 0


def test_every_change_makes_another_version() -> None:
    table = TurnTable()
    versions = [table.version]
    table.append(1, turn("x", turn_id="a"), seq=1)
    versions.append(table.version)
    table.append(1, turn("y", turn_id="a"), seq=2)
    versions.append(table.version)
    table.end(1)
    versions.append(table.version)

    assert len(set(versions)) == 4


def test_the_first_person_is_told_in_the_turns_language() -> None:
    table = TurnTable()
    for language in ("en", "sv"):
        table.append(len(table), turn("i Lund", turn_id=language), seq=1, language=language)

    assert table.first_person.tolist() == [True, False]


def test_sessions_of_two_conversations_are_apart_whatever_their_names() -> None:
    assert session_name("a", "b\nc") != session_name("a\nb", "c")
    assert session_name("a", "s") != session_name("b", "s")


def test_the_content_key_changes_with_what_is_embedded_and_with_nothing_else() -> None:
    said = turn("a kayak", speaker="Ada")

    same = [
        replace(said, turn_id="x"),
        replace(said, ordinal=9, role=Role.TOOL, said_at=NOON, session_id="other"),
        replace(said, text="oh: a kayak", indexed=Span(4, 11)),
    ]
    others = [
        replace(said, text="a kayak "),
        replace(said, speaker="Bo"),
        replace(said, blocks=(Block("image", {}, "red"),)),
        replace(said, speaker="Ada\0a", text="kayak"),
    ]

    assert {content_key(one) for one in same} == {content_key(said)}
    assert content_key(said) not in {content_key(one) for one in others}


@given(
    st.lists(
        st.builds(
            turn,
            ANY_TEXT,
            turn_id=st.text(min_size=1, max_size=5),
            conversation_id=st.sampled_from(["c", "d\n", "å"]),
            session_id=st.sampled_from(["s", "\n"]),
            ordinal=st.integers(0, 2**40),
            role=st.sampled_from(ROLES),
            speaker=ANY_TEXT,
            said_at=st.none() | st.integers(0, 10**9).map(lambda seconds: NOON + timedelta(seconds=seconds)),
            recalled=st.booleans(),
        ),
        max_size=80,
    ),
    st.lists(st.integers(0, 100)),
)
def test_a_table_comes_back_from_its_arrays(turns: list[Turn], ended: list[int]) -> None:
    table = TurnTable()
    for row, said in enumerate(turns):
        table.append(row, said, seq=row)
    for row in ended:
        table.end(row)

    again = TurnTable.from_arrays(table.arrays())

    assert again.turn_ids == table.turn_ids
    assert again.n_alive == table.n_alive
    for name, values in table.arrays().items():
        assert np.array_equal(again.arrays()[name], values), name
    for row in range(len(turns)):
        assert again.entry_of(row) == table.entry_of(row)
    entry = again.append(500, turn("more", turn_id="more"), seq=9)
    assert (entry, again.turn_id(entry)) == (len(turns), "more")


def test_a_table_of_the_living_alone_has_no_names_of_the_dead() -> None:
    table = TurnTable()
    for row, (speaker, conversation) in enumerate([("Ada", "c"), ("Bo", "d"), ("Ada", "e"), ("Eve", "c")]):
        said = turn(f"{row}", turn_id=f"t{row}", speaker=speaker, conversation_id=conversation)
        table.append(row, said, seq=row)
    table.end(1)
    table.append(0, turn("again", turn_id="t0", speaker="Zoe", conversation_id="c"), seq=9)

    living = table.only_living()

    assert living.turn_ids == ["t2", "t3", "t0"]
    assert living.speakers.names == ["Ada", "Eve", "Zoe"]
    assert living.conversations.names == ["c", "e"]
    assert [living.speakers.names[code] for code in living.speaker] == ["Ada", "Eve", "Zoe"]
    assert (living.row.tolist(), living.seq.tolist()) == ([2, 3, 0], [2, 3, 9])
    assert [living.entry_of(row) for row in range(4)] == [2, None, 0, 1]
    assert living.alive.all()
    assert living.version > table.version
    assert living.append(7, turn("new", turn_id="t7"), seq=10) == 3


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 200])
def test_a_table_grows_past_any_size(n: int) -> None:
    table = TurnTable()
    for row in range(n):
        table.append(row, turn("x", turn_id=f"t{row}"), seq=row)

    assert table.row.tolist() == list(range(n))
    assert table.living().tolist() == list(range(n))


@given(st.lists(ANY_TEXT))
def test_any_texts_come_back_from_their_bytes(texts: list[str]) -> None:
    assert unpack_texts(pack_texts(texts)) == texts


def test_an_unknown_time_is_below_any_known_one() -> None:
    assert to_microseconds(datetime.min.replace(tzinfo=UTC)) > UNKNOWN_TIME


def test_only_people_ask_and_wish() -> None:
    table = TurnTable()
    for row, role in enumerate((Role.USER, Role.ASSISTANT)):
        table.append(row, turn("I prefer tea. Shall I make some in 2026?", role=role), seq=row)

    assert table.asks.tolist() == table.wishes.tolist() == [True, False]
    assert table.tells_when.tolist() == [True, True]


@given(
    st.lists(st.integers(0, 30), max_size=30),
    st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=30),
)
def test_a_row_leads_to_its_living_entry_whenever_it_was_read(before: list[int], after: list[tuple[bool, int]]) -> None:
    table = TurnTable()
    for row in before:
        table.append(row, turn("said"), seq=1)
    table = TurnTable.from_arrays(table.arrays())
    living = {int(table.row[entry]): entry for entry in table.living().tolist()}

    for is_said, row in after:
        if is_said:
            living[row] = table.append(row, turn("said"), seq=2)
        else:
            assert table.end(row) == living.pop(row, None)

    assert [table.entry_of(row) for row in range(31)] == [living.get(row) for row in range(31)]
    assert sorted(living.values()) == table.living().tolist()


def test_a_large_table_that_is_read_makes_no_number_for_each_turn_when_one_is_added() -> None:
    table = TurnTable()
    for row in range(2000):
        table.append(row, turn("said"), seq=1)
    read = TurnTable.from_arrays(table.arrays())
    tracemalloc.start()
    try:
        read.end(1000)
        read.entry_of(1999)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert taken < 8 * 2000
