"""Turns and stores in a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.store.turn_store import NEXT
from memory_rag.turns import Role, Turn

Say = Callable[..., Turn]


def _said(text: str, **given: Any) -> Turn:
    fields: dict[str, Any] = {
        "turn_id": "",
        "conversation_id": "c",
        "session_id": "s",
        "ordinal": NEXT,
        "role": Role.USER,
        "speaker": "user",
        "text": text,
        **given,
    }
    return Turn(**fields)


@pytest.fixture(scope="session")
def said() -> Say:
    """A turn in which nothing matters but what is given."""
    return _said


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteTurnStore]:
    store = SqliteTurnStore(tmp_path / "memory")
    yield store
    store.close()
