"""What the labelled utterances of both sets promise: enough of each language, half asking for the past, none twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.eval_sets.fifty_talks import lines_of
from tests.eval_sets.halves import halves

ROWS = lines_of(Path(__file__).parents[2] / "eval" / "ask-details.jsonl")
SECOND = lines_of(Path(__file__).parents[2] / "eval" / "ask-details-2.jsonl")
ASKING = {
    "exact_words",
    "fact_told",
    "decision",
    "date",
    "follow_up",
    "remind",
    "said_by_model",
    "verify",
    "implicit",
    "list",
}
NOT_ASKING = {
    "thanks",
    "greeting",
    "general_knowledge",
    "new_task",
    "code",
    "translation",
    "opinion",
    "small_talk",
    "hard_negative",
    "continue",
    "in_window",
}


@pytest.mark.parametrize("language", ["en", "sv", "nb"])
def test_each_language_has_eighty_or_more_and_half_ask_for_the_past(language: str) -> None:
    labels = [row["retrieve"] for row in ROWS if row["language"] == language]
    assert len(labels) >= 80
    assert 0.45 <= sum(labels) / len(labels) <= 0.55


@pytest.mark.parametrize(("language", "least"), [("en", 34), ("sv", 50), ("nb", 50)])
def test_the_second_set_has_enough_of_each_language_half_ask_and_all_of_it_is_held_out(
    language: str, least: int
) -> None:
    own = [row for row in SECOND if row["language"] == language]
    assert len(own) >= least
    assert sum(row["retrieve"] for row in own) == len(own) / 2
    assert {row["split"] for row in own} == {"second"}


def test_no_utterance_comes_twice_in_either_set() -> None:
    rows = [*ROWS, *SECOND]
    said = Counter(row["text"].casefold().strip(" .!?") for row in rows)
    assert [text for text, times in said.items() if times > 1] == []
    assert len({row["id"] for row in rows}) == len(rows)


@pytest.mark.parametrize("rows", [ROWS, SECOND], ids=["first", "second"])
def test_a_kind_is_on_one_side_of_the_label(rows: list[dict[str, Any]]) -> None:
    assert {row["kind"] for row in rows if row["retrieve"]} == ASKING
    assert {row["kind"] for row in rows if not row["retrieve"]} == NOT_ASKING


@pytest.mark.parametrize("rows", [ROWS, SECOND], ids=["first", "second"])
def test_every_language_has_every_kind(rows: list[dict[str, Any]]) -> None:
    for kind in ASKING | NOT_ASKING:
        assert {row["language"] for row in rows if row["kind"] == kind} == {"en", "sv", "nb"}, kind


def test_the_split_is_by_the_hash_of_the_text() -> None:
    expected = halves(ROWS, group=lambda row: (row["language"], row["retrieve"]))
    assert {row["id"]: row["split"] for row in ROWS} == expected
