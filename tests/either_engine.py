"""Stores of either engine: what holds for one holds for the other.

A fixture with ``params=ENGINES`` runs its tests over both; those over PostgreSQL need a server, and are slow ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.store.turn_writer import TurnWriter

ENGINES = ["sqlite", "postgres"]


def server_of(request: pytest.FixtureRequest) -> str:
    """Return the URL of the server that a fixture's engine needs; empty if it needs none."""
    if request.param == "sqlite":
        return ""
    url: str = request.getfixturevalue("postgres_url")
    return url


def open_store(place: str | Path, *, server: str = "") -> TurnWriter:
    """Open the store at a place: in this folder, or on a server for an owner of that name."""
    return PostgresTurnStore(server, owner=str(place)) if server else SqliteTurnStore(Path(place))


@contextmanager
def opening(place: str | Path, *, server: str = "") -> Iterator[Callable[[], TurnWriter]]:
    """Give what opens one and the same store, as often as it is called; all are closed at the end."""
    stores: list[TurnWriter] = []

    def opened() -> TurnWriter:
        stores.append(open_store(place, server=server))
        return stores[-1]

    try:
        yield opened
    finally:
        for one in stores:
            one.close()
