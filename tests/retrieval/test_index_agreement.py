"""Two keyword indexes of the same words agree however they came about, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.retrieval.agreement import disagreement
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.text.analyzer import Analyzer


def built(memory: Memory) -> KeywordIndex:
    index = KeywordIndex(Analyzer(("en",)))
    index.catch_up(memory.store)
    return index


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory whose own index has seen additions, a correction and a removal, one after the other."""
    memory = Memory.open(tmp_path / "memory", embedder="none", language="en")
    for text in ("the kayak is red", "tax is due", "the kayak, the kayak"):
        memory.add(text)
        memory.indexes.catch_up()
    memory.correct("t2", text="tax is due in May")
    memory.indexes.catch_up()
    memory.forget(["t1"])
    return memory


def test_an_index_that_grew_agrees_with_one_that_is_built_at_once(memory: Memory) -> None:
    assert disagreement(memory.indexes.keyword, built(memory)) == ""


def test_a_missing_turn_is_told(memory: Memory) -> None:
    before = built(memory)
    memory.add("bread")

    assert disagreement(before, built(memory)) == "column row"


def test_another_word_is_told(memory: Memory) -> None:
    one, other = built(memory), built(memory)
    entry = one.table.entry_of(3)
    assert entry is not None
    one.bm25.postings.add(entry, [["boat"]])

    assert disagreement(one, other) == "1 terms, such as 'boat'"
