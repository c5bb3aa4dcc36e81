"""indexes/README.md describes a memory's files well enough to read them without memory_rag."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_rag.retrieval.vectors import VectorFile, ids_of
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.turns import Role, Turn

WORDS = ["Vi ses på mötet i Malmö", "NUL \0 and a lone \ud83d in the middle", "", "東京は夜の七時"]

Reader = Callable[..., Iterator[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "indexes/README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def readers(page: str) -> dict[str, Reader]:
    """The functions that the page prints, by name."""
    _before, _fence, rest = page.partition("```python\n")
    names: dict[str, Reader] = {}
    exec(compile(rest.partition("```")[0], "indexes/README.md", "exec"), names)
    return names


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    store = SqliteTurnStore(tmp_path / "work")
    store.append(Turn("", "talk", "day", n, Role.USER, "Åsa", text) for n, text in enumerate(WORDS))
    store.close()
    return tmp_path / "work"


def test_the_words_are_read_as_the_page_says(memory: Path, readers: dict[str, Reader]) -> None:
    assert list(readers["turns"](memory)) == [(n, f"t{n}", "Åsa", text) for n, text in enumerate(WORDS, 1)]


def test_every_table_and_column_is_on_the_page(memory: Path, page: str) -> None:
    database = sqlite3.connect(memory / "turns.sqlite")
    found = [
        name
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        if not table.startswith("sqlite_")
        for name in [table, *(column for (_, column, *_) in database.execute(f"PRAGMA table_info({table})"))]
    ]
    database.close()

    assert "turns" in found
    assert [name for name in found if f"`{name}`" not in page] == []


def test_the_vectors_are_read_as_the_page_says(memory: Path, readers: dict[str, Reader]) -> None:
    file = VectorFile(memory / "vectors", fingerprint="small:model", dim=3)
    vectors = np.arange(12, dtype=np.float32).reshape(4, 3)
    ids = [(1, 1, 0, 23), (2, 2, 0, 20), (2, 2, 15, 36), (4, 9, 0, 7)]
    for part in (slice(0, 1), slice(1, 4)):
        file.append(vectors[part], ids_of(ids[part]))
        file.read_new()

    read = list(readers["vectors"](memory, "small_model"))

    assert [entry[:4] for entry in read] == ids
    assert np.array_equal([entry[4] for entry in read], vectors)


def test_vectors_of_a_broken_block_are_not_read(memory: Path, readers: dict[str, Reader]) -> None:
    file = VectorFile(memory / "vectors", fingerprint="small", dim=2)
    for row in (1, 2):
        file.append(np.full((1, 2), row, np.float32), ids_of([(row, row, 0, 1)]))
        file.read_new()
    with file.rows_path.open("r+b") as rows:
        rows.seek(8)
        rows.write(b"\0\0\0\1")

    assert [entry[0] for entry in readers["vectors"](memory, "small")] == [1]
