"""Stores on a real server, each of an owner that no other test has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.turns import Turn
from tests.said import said

Say = Callable[..., Turn]
Open = Callable[..., PostgresTurnStore]


@pytest.fixture(scope="session", name="said")
def _said() -> Say:
    """A turn in which nothing matters but what is given."""
    return said


@pytest.fixture
def open_store(postgres_url: str, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Open the store of an owner, as often as it is called; owners are this test's alone."""
    stores: list[PostgresTurnStore] = []

    def opened(owner: str = "ada", *, url: str = postgres_url, **given: Any) -> PostgresTurnStore:
        stores.append(PostgresTurnStore(url, owner=f"{owner} {request.node.name}"[:200], **given))
        return stores[-1]

    yield opened
    for store in stores:
        store.close()
