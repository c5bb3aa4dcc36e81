"""What the labelled utterances promise: enough of each language, half of them asking for the past, none twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.eval_sets.fifty_talks import lines_of
from tests.eval_sets.halves import halves

ROWS = lines_of(Path(__file__).parents[2] / "eval" / "ask-details.jsonl")
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


def test_no_utterance_comes_twice() -> None:
    said = Counter(row["text"].casefold().strip(" .!?") for row in ROWS)
    assert [text for text, times in said.items() if times > 1] == []
    assert len({row["id"] for row in ROWS}) == len(ROWS)


def test_a_kind_is_on_one_side_of_the_label() -> None:
    assert {row["kind"] for row in ROWS if row["retrieve"]} == ASKING
    assert {row["kind"] for row in ROWS if not row["retrieve"]} == NOT_ASKING


def test_every_language_has_every_kind() -> None:
    for kind in ASKING | NOT_ASKING:
        assert {row["language"] for row in ROWS if row["kind"] == kind} == {"en", "sv", "nb"}, kind


def test_the_split_is_by_the_hash_of_the_text() -> None:
    expected = halves(ROWS, group=lambda row: (row["language"], row["retrieve"]))
    assert {row["id"]: row["split"] for row in ROWS} == expected
