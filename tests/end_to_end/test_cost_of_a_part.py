"""A search within a part of a memory does work for that part, however much was said around it: counted, not timed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from memory_rag.evaluation.speed_counted import Work, counted
from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within
from memory_rag.turns import Role, Turn
from tests.end_to_end.hashed_words import HashedWords

pytestmark = pytest.mark.slow

N = 17_000
"""Turns around the part, and as many again: of more than 16,384 a part is kept as numbers."""
PART = 240
ALL = "hybrid in everything"
_POOLS_KEPT = 8
BEGAN = datetime(2021, 5, 1, 12, tzinfo=UTC)
WORDS = ["kayak", "boat", "river", "tent", "stove", "map", "rope", "lake", "trail", "snow", "rain", "wood", "fire"]
QUESTIONS = (
    "What did Ada say about the kayak on the river?",
    "When did Bo mend the boat in May 2021?",
    "the tent and the stove by the lake",
    "What did I tell you about snow on Monday?",
)
PARTS = {
    "a conversation": Within(conversation="own"),
    "one of its sessions": Within(conversation="own", session="s1"),
    "a session by its name alone": Within(session="only here"),
    "what one of its people said": Within(conversation="own", speaker="ada"),
    "its answers": Within(conversation="own", role="assistant"),
    "a part of its time": Within(conversation="own", since="2021-05-02", until="2021-05-08"),
    "a time of the whole memory": Within(since="2021-05-01", until="2021-05-09"),
    "all but some of its turns": Within(conversation="own", without=("t3", "t60", "t61", "t170")),
}


def said(n: int, *, conversation: str, session: str, at: datetime) -> Turn:
    draw = np.random.default_rng(n).choice(WORDS, 6).tolist()
    return Turn(
        "",
        conversation,
        session,
        n,
        Role.ASSISTANT if n % 2 else Role.USER,
        "Bo" if n % 2 else "Ada",
        f"I took the {' and the '.join(draw)}, and it was good.",
        at,
    )


def own_turns() -> Iterator[Turn]:
    for n in range(PART):
        session = "only here" if n % 3 == 0 else f"s{n // 100}"
        yield said(n, conversation="own", session=session, at=BEGAN + timedelta(hours=n % 180))


def turns_around(first: int) -> Iterator[Turn]:
    for n in range(first, first + N):
        at = datetime(2022, 1, 1, tzinfo=UTC) + timedelta(days=n % 300, minutes=n % 1440)
        yield said(n % 3000, conversation=f"other {n // 400}", session=f"s{n % 400 // 25}", at=at)


def work_of_parts(memory: Memory) -> dict[str, Work]:
    """Return what the questions take within each part: by a searcher that has to find it, and by one that knows it."""
    with memory.store.connections.reading() as reader:
        connections: Any = [reader]
    work: dict[str, Work] = {}
    for mode in ("hybrid", "keyword"):
        for name, within in PARTS.items():

            def ask(mode: str = mode, within: Within = within) -> None:
                for question in QUESTIONS:
                    memory.search(question, mode=mode, within=within, floor=False)

            ask()
            work[f"{mode} in {name}"] = counted(ask, connections)
            for other in range(_POOLS_KEPT):
                memory.search("kayak", mode="keyword", within=Within(conversation=f"other {other}"))
            work[f"{mode} in {name}, found anew"] = counted(ask, connections)
    work[ALL] = counted(lambda: memory.search(QUESTIONS[0], floor=False), connections)
    return work


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Work], dict[str, Work]]:
    """Return the work in a memory, and in the same one when twice as much had been said around the part."""
    folder = tmp_path_factory.mktemp("parts") / "memory"
    with Memory.open(folder, embedder=HashedWords(dim=32), language="en") as memory:
        memory.add_many(own_turns())
        work = []
        for first in (0, N):
            memory.add_many(turns_around(first))
            memory.embed()
            # It folds the postings into one segment; how many there are is a matter of when turns came.
            memory.indexes.save()
            work.append(work_of_parts(memory))
    return work[0], work[1]


def test_the_work_within_a_part_is_the_same_when_twice_as_much_lies_around_it(
    both: tuple[dict[str, Work], dict[str, Work]],
) -> None:
    few, many = both
    more = {name: many[name].array_bytes - few[name].array_bytes for name in few if name != ALL}
    # Four questions: one array of a byte for each turn, made for one of them, would be 17,000 more.
    assert {name: n for name, n in more.items() if n > N / 2} == {}
    assert {name: (few[name], many[name]) for name in few if many[name].lines > few[name].lines * 1.02} == {}
    assert {name: (few[name], many[name]) for name in few if many[name].sql_steps > few[name].sql_steps * 1.1} == {}


def test_a_search_of_all_does_more_when_more_was_said(both: tuple[dict[str, Work], dict[str, Work]]) -> None:
    few, many = both
    assert many[ALL].array_bytes - few[ALL].array_bytes > 10 * N
