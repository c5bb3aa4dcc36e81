"""What a trial counts: blocks, batches, shares by conversation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_rag.summaries.__main__ import main
from memory_rag.summaries.audit import Kept
from memory_rag.summaries.extractive import ExtractiveSummarizer
from memory_rag.summaries.kept_trial import MUST_HOLD_NAME, SentencesInOrder, blocks_kept, by_conversation
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Turn

Talk = Callable[..., list[Turn]]
SAID = (("Ebba", "The wall is old. We decided to charge 49 euro."), ("Mats", "Good."), ("Ebba", "I prefer trains."))


def test_a_conversation_is_summarised_in_blocks(talk: Talk, analyzer: Analyzer) -> None:
    blocks = blocks_kept({"c": talk(*SAID)}, ExtractiveSummarizer(analyzer), analyzer=analyzer, block_turns=2)

    assert [(block.kept["decision"], block.kept["preference"]) for block in blocks] == [
        (Kept(1, 1), Kept(0, 0)),
        (Kept(0, 0), Kept(1, 1)),
    ]
    assert blocks[1].cited == {"t3"}
    assert by_conversation(blocks)[MUST_HOLD_NAME] == {"c": Kept(2, 2)}
    assert by_conversation(blocks)["path"] == {}


def test_in_batches_it_is_extended(talk: Talk, analyzer: Analyzer) -> None:
    (block,) = blocks_kept({"c": talk(*SAID)}, ExtractiveSummarizer(analyzer), analyzer=analyzer, batch_turns=1)

    assert block.kept[MUST_HOLD_NAME] == Kept(2, 2)


def test_the_baseline_takes_the_first_sentences_that_fit(talk: Talk, analyzer: Analyzer) -> None:
    first = SentencesInOrder(analyzer, name="first")

    assert [line.text for line in first.extend((), talk(*SAID), word_limit=6)] == [
        "The wall is old.",
    ]


@pytest.mark.slow
def test_the_trial_writes_what_is_kept_with_its_intervals(data_dir: Path, tmp_path: Path) -> None:
    assert main(["--data", str(data_dir), "--out", str(tmp_path), "--sets", "locomo"]) == 0

    result = json.loads((tmp_path / "summaries-locomo.json").read_text(encoding="utf-8"))
    extractive = result["summarizers"]["extractive, at once"]
    assert extractive["most_words"] <= 200
    assert extractive["kept"][MUST_HOLD_NAME]["share"]["mean"] > 0.9
    assert extractive["kept"]["name"]["share"]["mean"] > 0.7
