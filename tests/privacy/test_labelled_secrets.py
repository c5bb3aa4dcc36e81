"""What is found of the labelled texts, which were written before the rules."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memory_rag.evaluation.datasets.registry import load
from memory_rag.evaluation.finding_secrets import Labelled, secrets_trial
from memory_rag.trials.labelled_secrets import labelled_secrets, places_in
from tests.eval_sets.made_secrets import read_examples

ROOT = Path(__file__).parents[2]
EXAMPLES = [
    Labelled(one.text, frozenset((at.start, at.end, at.kind) for at in one.spans), one.split, one.trap)
    for one in read_examples()
]


@pytest.fixture(scope="module")
def measured() -> dict[str, dict[str, dict[str, dict[str, int]]]]:
    labelled: dict[str, dict[str, dict[str, dict[str, int]]]]
    labelled = secrets_trial(EXAMPLES, {}, find=places_in)["labelled"]
    return labelled


@pytest.mark.parametrize(("split", "recall", "precision"), [("dev", 1.0, 1.0), ("test", 0.95, 0.98)])
def test_nearly_all_is_found_and_nearly_nothing_else(
    measured: dict[str, dict[str, dict[str, dict[str, int]]]], split: str, recall: float, precision: float
) -> None:
    total = {
        name: sum(kind[name] for kind in measured[split]["kinds"].values()) for name in ("right", "wrong", "missed")
    }

    assert total["right"] / (total["right"] + total["missed"]) >= recall
    assert total["right"] / (total["right"] + total["wrong"]) >= precision


def test_the_committed_result_is_that_of_these_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    committed = json.loads((ROOT / "eval" / "results" / "secrets.json").read_text(encoding="utf-8"))

    assert labelled_secrets("tests.eval_sets.made_secrets", {})["result"]["labelled"] == committed["result"]["labelled"]


@pytest.mark.needs_data
def test_nothing_in_talks_between_people_is_taken_for_a_secret() -> None:
    data = os.environ.get("MEMORY_RAG_DATA")
    if not data:
        pytest.skip("MEMORY_RAG_DATA is not set")
    turns = [turn.text for turn in load("locomo", Path(data) / "locomo10.json").turns()]

    assert len(turns) == 5882
    assert [text for text in turns if places_in(text)] == []
