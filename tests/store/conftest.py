"""Turns and stores in a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.turns import Turn
from tests.said import said

Say = Callable[..., Turn]


@pytest.fixture(scope="session", name="said")
def _said() -> Say:
    """A turn in which nothing matters but what is given."""
    return said


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteTurnStore]:
    store = SqliteTurnStore(tmp_path / "memory")
    yield store
    store.close()
