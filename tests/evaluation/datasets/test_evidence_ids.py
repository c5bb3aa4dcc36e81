"""Evidence ids as data sets write them: mended where they can be, counted where they can't."""

from __future__ import annotations

from typing import Any

import pytest

from memory_rag.evaluation.benchmark import Dropped
from memory_rag.evaluation.datasets.evidence_ids import TurnsByNativeId, dialogue_ids, leaves
from memory_rag.turns import Role, Source, Turn


@pytest.mark.parametrize(
    ("written", "ids"),
    [
        (["D8:6"], ["D8:6"]),
        (["D8:6; D9:17"], ["D8:6", "D9:17"]),
        (["D9:1 D4:4 D4:6"], ["D9:1", "D4:4", "D4:6"]),
        (["D30:05"], ["D30:5"]),
        (["D:11:26"], ["D11:26"]),
        ("D1:2", ["D1:2"]),
        (["d1:2, D 1:3"], ["D1:2", "D1:3"]),
        ([], []),
        (None, []),
    ],
)
def test_dialogue_ids_are_read_as_they_are_meant(written: Any, ids: list[str]) -> None:
    dropped = Dropped()

    assert dialogue_ids(written, where="q1", dropped=dropped) == ids
    assert dropped.as_json() == []


def test_a_text_without_an_id_is_counted() -> None:
    dropped = Dropped()

    assert dialogue_ids(["D1:18", "D", ""], where="q1", dropped=dropped) == ["D1:18"]
    assert dropped.as_json() == [{"reason": "evidence that is no id", "count": 2, "where": ["q1: 'D'", "q1: ''"]}]


def test_an_id_of_no_turn_is_counted_once_a_question() -> None:
    dropped = Dropped()
    known = TurnsByNativeId.of([_turn("D1:1"), _turn("D1:02")])

    assert known.evidence(["D1:2", "D9:9", "D9:9"], where="q1", dropped=dropped) == {"c/D1:02": 1}
    assert dropped.counts == {"evidence id of no turn": 1}


def test_an_id_that_several_turns_have_is_no_evidence() -> None:
    dropped = Dropped()
    known = TurnsByNativeId.of([_turn("7"), _turn("8"), _turn("7#2"), _turn("7#3")])

    assert known.evidence(["7", "8"], where="q1", dropped=dropped) == {"c/8": 1}
    assert dropped.as_json() == [{"reason": "evidence id of several turns", "count": 1, "where": ["q1: 7"]}]


def test_an_id_may_hold_a_hash_of_its_own() -> None:
    known = TurnsByNativeId.of([_turn("note#2"), _turn("note#3")])

    assert known.evidence(["note#2"], where="q1", dropped=Dropped()) == {"c/note#2": 1}


def test_leaves_are_found_in_lists_and_objects() -> None:
    assert list(leaves({"first": [0], "second": [[2], 3, None], "third": "x"})) == [0, 2, 3, "x"]
    assert list(leaves(None)) == []


def _turn(native_id: str) -> Turn:
    return Turn(f"c/{native_id}", "c", "c/s", 0, Role.USER, "Ada", "hello", source=Source("x", native_id))
