"""A finding counts with exactly the labelled span and kind; the table says what was found and what was not."""

from __future__ import annotations

from memory_rag.evaluation.finding_secrets import Labelled, secrets_table, secrets_trial, wilson

EXAMPLES = [
    Labelled("a1 b2", frozenset({(0, 2, "a"), (3, 5, "b")}), "test", ""),
    Labelled("a1", frozenset({(0, 2, "a")}), "test", ""),
    Labelled("zz", frozenset(), "test", "hash"),
    Labelled("nothing", frozenset(), "dev", "date"),
]
FOUND = {"a1 b2": [(0, 2, "a"), (3, 4, "b")], "a1": [(0, 2, "b")], "zz": [(0, 1, "a")]}
RESULT = secrets_trial(EXAMPLES, {"Talk": ["zz", "hm"]}, find=lambda text: FOUND.get(text, []))


def test_findings_are_counted_by_split_and_kind() -> None:
    assert RESULT["labelled"]["test"]["kinds"] == {
        "a": {"right": 1, "wrong": 1, "missed": 1},
        "b": {"right": 0, "wrong": 2, "missed": 1},
    }
    assert RESULT["labelled"]["test"]["traps"] == {"hash": {"n": 1, "sprung": 1}}
    assert RESULT["talks"] == {"Talk": {"n_turns": 2, "found": {"a": 1}}}


def test_the_table_has_a_row_a_kind_and_one_for_all() -> None:
    lines = secrets_table(RESULT).splitlines()

    assert [line.split(" | ")[0] for line in lines[2:5]] == ["| a", "| b", "| **all**"]
    assert lines[4].split(" | ")[1:4] == ["3", ".333 [.061, .792]", ".250 [.046, .699]"]
    assert "Texts with nothing in them in which something was found: 1 of 1 (test); hash 1 of 1." in lines
    assert "Talk: 1 × a found in 2 turns." in lines


def test_a_share_of_nothing_is_a_dash() -> None:
    assert wilson(0, 0) == "-"
