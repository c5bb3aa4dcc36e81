"""Which vectors are of which turn, as turns and vectors come and go."""

from __future__ import annotations

import numpy as np
import pytest

from memory_rag.retrieval.turn_table import TurnTable, content_key
from memory_rag.retrieval.vector_blocks import ERASED, ID, Ids
from memory_rag.retrieval.vector_groups import NOTHING, VectorGroups
from memory_rag.turns import Role, Turn

WORDS = ["one", "two", "three", "four"]
GONE = (ERASED, 0, 0, 0)


def turn(text: str) -> Turn:
    return Turn(text, "main", "today", 0, Role.USER, "user", text, None)


def table_of(texts: list[str]) -> TurnTable:
    table = TurnTable()
    for row, text in enumerate(texts):
        table.append(row, turn(text), seq=row)
    return table


def passages(row: int, n: int) -> list[tuple[int, int, int, int]]:
    """Return what the n vectors of a turn were made from."""
    return [(row, content_key(turn(WORDS[row])), start, start + 1) for start in range(n)]


def ids(*parts: list[tuple[int, int, int, int]]) -> Ids:
    return np.array([one for part in parts for one in part], ID)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_vectors_that_were_taken_out_stand_each_by_itself(one_by_one: bool) -> None:
    """Side by side they look as the passages of one turn, and turns of several passages cost every search more."""
    table, groups = table_of(WORDS), VectorGroups()
    known = ids(passages(0, 1), [GONE, GONE, GONE], passages(3, 1))
    if one_by_one:
        groups.catch_up(table)
        for number in range(len(known)):
            groups.add(known[number : number + 1])
            groups.catch_up(table)
    else:
        groups.add(known)
        groups.catch_up(table)

    assert groups.are_single
    assert groups.entry_of.tolist() == [0, NOTHING, NOTHING, NOTHING, 3]
    assert groups.of_entry.tolist() == [0, NOTHING, NOTHING, 4]
    assert groups.waiting(table).tolist() == [1, 2]


@pytest.mark.parametrize("at_once", [1, 2, 3, 6])
def test_a_turns_passages_are_one_group_however_they_come(at_once: int) -> None:
    table, groups = table_of(WORDS), VectorGroups()
    groups.catch_up(table)
    known = ids(passages(0, 1), passages(1, 3), passages(2, 2))
    for start in range(0, len(known), at_once):
        groups.add(known[start : start + at_once])
        groups.catch_up(table)

    numbers, firsts = groups.vectors_of(groups.of_entry[np.array([2, 1, 0])])

    assert not groups.are_single
    assert (numbers.tolist(), firsts.tolist()) == ([4, 5, 1, 2, 3, 0], [0, 2, 5])
    assert groups.covered.tolist() == [True, True, True, False]
