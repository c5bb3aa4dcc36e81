"""The talks last spoken in are kept in step with what is said, corrected and removed, by whichever process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_rag.memory import Memory
from memory_rag.store.engine import Connection
from memory_rag.talks.newest import TalkTimes
from memory_rag.talks.talk import Talk, TalkId, Unit
from memory_rag.turns import Conversation, Role, Turn

BEGAN = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "m", embedder="none", summaries="off") as opened:
        yield opened


def said(memory: Memory, conversation: str, session: str, *, day: int | None, **other: Any) -> Turn:
    turn = Turn(
        turn_id="",
        conversation_id=conversation,
        session_id=session,
        ordinal=-1,
        role=other.get("role", Role.USER),
        speaker="Ebba",
        text=other.get("text", "Bina surrar."),
        said_at=None if day is None else BEGAN + timedelta(days=day),
        recalled=other.get("recalled", True),
    )
    return memory.store.add(turn)


def newest(memory: Memory, unit: Unit = Unit.SESSION, *, n: int = 10, without: tuple[TalkId, ...] = ()) -> list[str]:
    found = memory.talks.shelf.newest(unit, n=n, without=without)
    return [f"{one.talk.key}:{one.n_turns}".replace("\0", "/") for one in found]


def test_sessions_come_newest_first_with_their_turns_and_times(memory: Memory) -> None:
    memory.store.append([Conversation("a", "Bees")])
    for conversation, session, day in (("a", "1", 0), ("a", "1", 4), ("b", "1", 3), ("a", "2", 2)):
        said(memory, conversation, session, day=day)

    first = memory.talks.shelf.newest(Unit.SESSION, n=1)

    assert first == [Talk(TalkId("a", "1"), "Bees", 2, BEGAN, BEGAN + timedelta(days=4))]
    assert newest(memory) == ["a/1:2", "b/1:1", "a/2:1"]
    assert newest(memory, Unit.CONVERSATION) == ["a:3", "b:1"]
    assert newest(memory, n=1, without=(TalkId("a", "1"),)) == ["b/1:1"]


def test_what_is_said_later_is_counted(memory: Memory) -> None:
    said(memory, "a", "1", day=0)
    assert newest(memory) == ["a/1:1"]

    said(memory, "b", "1", day=None)
    said(memory, "c", "1", day=None)
    said(memory, "a", "1", day=1, role=Role.TOOL)
    said(memory, "a", "1", day=2, recalled=False)
    said(memory, "d", "1", day=1)

    # Those without a known time last, by when they were stored; tools and hidden context don't count.
    assert newest(memory) == ["d/1:1", "a/1:1", "c/1:1", "b/1:1"]


def test_what_is_corrected_and_removed_counts_as_it_is_now(memory: Memory) -> None:
    late, early = said(memory, "a", "1", day=5), said(memory, "b", "1", day=3)
    assert newest(memory) == ["a/1:1", "b/1:1"]

    memory.correct(late.turn_id, said_at=BEGAN)
    assert newest(memory) == ["b/1:1", "a/1:1"]

    memory.forget([early.turn_id])
    assert newest(memory) == ["a/1:1"]
    assert newest(memory, Unit.CONVERSATION) == ["a:1"]


def test_what_another_process_says_is_counted(memory: Memory) -> None:
    said(memory, "a", "1", day=0)
    assert newest(memory) == ["a/1:1"]

    with Memory.open(memory.folder, embedder="none", summaries="off") as other:
        said(other, "a", "1", day=1)
        assert newest(other) == ["a/1:2"]

    assert newest(memory) == ["a/1:2"]


def test_all_turns_are_looked_at_once(memory: Memory) -> None:
    said(memory, "a", "1", day=0)
    asked: list[str] = []
    times = TalkTimes(Watched(memory.store.connections, asked))  # type: ignore[arg-type]

    for day in range(3):
        said(memory, "a", "1", day=day)
        assert [one.n_turns for _talk, one in times.newest(Unit.SESSION, n=5)] == [day + 2]

    assert sum("GROUP BY" in query for query in asked) == 1


class Watched:
    """Connections that note what is asked of them."""

    def __init__(self, connections: Any, asked: list[str]) -> None:
        self._connections = connections
        self._asked = asked

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._connections.reading() as connection:
            yield Noted(connection, self._asked)  # type: ignore[misc]


class Noted:
    def __init__(self, connection: Any, asked: list[str]) -> None:
        self._connection = connection
        self._asked = asked

    def execute(self, query: str, *values: Any) -> Any:
        self._asked.append(query)
        return self._connection.execute(query, *values)
