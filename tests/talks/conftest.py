"""Three talks on three subjects, in a memory that knows words only, and one whose vectors are written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from memory_rag.memory import Memory
from tests.either_engine import Place

START = datetime(2026, 4, 10, 8, 0, tzinfo=UTC)
TALKS = {
    "school": (
        ("user", "Ada mixes up the chain rule with the product rule before the test on Thursday."),
        ("assistant", "Let her circle the inner function first, then differentiate from the outside in."),
        ("user", "She solved seven of eight today, so we decided to stop at half an hour a night."),
    ),
    "garden": (
        ("user", "The kale is full of caterpillars, what keeps the white butterflies off?"),
        ("assistant", "A fine net over hoops, closed at the edges, from May until the first frost."),
    ),
    "flat": (
        ("user", "We painted the hall grey and the landlord wants it white again."),
        ("assistant", "Then prime it first, or the grey will shine through."),
    ),
}


class Clock:
    """Gives a second later at each look."""

    def __init__(self) -> None:
        self.now = START + timedelta(days=30)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def tell(memory: Memory, talks: dict[str, tuple[tuple[str, str], ...]] = TALKS) -> None:
    """Store talks, a day each, each in one session named after its day."""
    for day, (name, turns) in enumerate(talks.items()):
        for minute, (role, text) in enumerate(turns):
            memory.add(text, role=role, conversation_id=name, said_at=START + timedelta(days=day, minutes=minute))


@pytest.fixture
def opened(place: Place) -> Iterator[Callable[..., Memory]]:
    """Return a function that opens the test's memory; what it opened is closed at the end."""
    made: list[Memory] = []

    def open_it(**settings: object) -> Memory:
        given = {"embedder": "none", "language": "en", **settings}
        made.append(place.open(clock=Clock(), **given))
        return made[-1]

    yield open_it
    for memory in made:
        memory.close()


@pytest.fixture
def memory(opened: Callable[..., Memory]) -> Memory:
    memory = opened()
    tell(memory)
    return memory
