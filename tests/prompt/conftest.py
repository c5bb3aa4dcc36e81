"""A memory to write prompts from, with a clock that stands still between turns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from memory_rag.memory import Memory
from tests.either_engine import Place


class Clock:
    """Gives a minute later at each look, from 2026-04-10 08:00 UTC on."""

    def __init__(self) -> None:
        self.now = datetime(2026, 4, 10, 7, 59, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


@pytest.fixture
def memory(place: Place) -> Iterator[Memory]:
    """An empty memory without an embedder."""
    with place.open(embedder="none", language="en", clock=Clock()) as opened:
        yield opened
