"""Histories are written so that every importer reads all of them, and what it took is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.evaluation.speed_corpus import Corpus
from memory_rag.evaluation.speed_histories import WRITERS, write_history
from memory_rag.evaluation.speed_imports import import_table, import_trial
from memory_rag.importers import importers, open_import
from memory_rag.memory import Memory
from memory_rag.turns import Turn


def test_every_format_has_its_history() -> None:
    assert set(WRITERS) == set(importers())


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_a_history_holds_the_words_of_the_corpus_in_its_format(tmp_path: Path, name: str) -> None:
    corpus = Corpus(seed=3)
    path = write_history(name, tmp_path / name, corpus=corpus, n_turns=30)
    with open_import(path) as opened:
        found = [item for file in opened for item in file if isinstance(item, Turn)]

    words = [turn.text for turn in corpus.turns(0, 30)]
    assert [turn.text for turn in found if turn.role != "system"] == words
    assert {file.importer.name for file in opened} == {name}


def test_what_it_took_stands_in_the_table(tmp_path: Path) -> None:
    def store(folder: Path, path: Path) -> int:
        with Memory.open(folder, embedder="none") as memory:
            return memory.import_path(path).kept

    result = import_trial(store, store, scratch=tmp_path, seed=3, n_turns=4, rounds=1)
    provenance = {"machine": {"processor": "P", "cores": 2}, "commit": "abc"}

    table = import_table({"imports": {"result": result, "provenance": provenance}})

    assert result["formats"]["anthropic"]["n_turns"] == 5  # the system prompt is one
    assert result["formats"]["chatgpt"]["n_turns"] == 4
    assert table.count("\n| `") == len(importers())
    assert table.endswith("commit abc. Best of 1 rounds of 4 turns.")
