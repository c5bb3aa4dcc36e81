"""Numbers come in the order of commits and leave no gap: who has seen one has seen all before it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from memory_rag.errors import MemoryLockedError, TurnError
from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.turns import Turn
from tests.postgres.conftest import Open, Say
from tests.postgres_server import PostgresServer

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE%'"
SOON_S = 60


class Held:
    """Turns of which the last comes when it is told to; until then their transaction is open."""

    def __init__(self, *turns: Turn, error: Exception | None = None) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self._turns = turns
        self._error = error

    def __iter__(self) -> Iterator[Turn]:
        yield from self._turns[:-1]
        self.begun.set()
        assert self.may_end.wait(SOON_S)
        if self._error:
            raise self._error
        yield self._turns[-1]


def seqs(store: PostgresTurnStore) -> list[int]:
    return [change.seq for change in store.changes_since(0)]


def _wait_until_somebody_waits(postgres: PostgresServer) -> None:
    deadline = time.monotonic() + SOON_S
    while postgres.as_superuser(WAITING) == [(0,)]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_who_writes_later_is_seen_later_and_numbered_after(
    open_store: Open, said: Say, postgres: PostgresServer
) -> None:
    first, second, reader = (open_store() for _ in range(3))
    slow = Held(said("a"), said("b"))

    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(first.append, slow)
        assert slow.begun.wait(SOON_S)
        other = threads.submit(second.add, said("c"))
        _wait_until_somebody_waits(postgres)
        assert (seqs(reader), reader.last_seq, len(reader)) == ([], 0, 0)
        slow.may_end.set()
        assert one.result(SOON_S).turn_ids == ("t1", "t2")
        assert other.result(SOON_S).turn_id == "t3"

    assert seqs(reader) == [1, 2, 3]
    assert [(row, turn.text, turn.ordinal) for row, turn in reader.scan()] == [(1, "a", 0), (2, "b", 1), (3, "c", 2)]


def test_what_is_rolled_back_leaves_no_gap(open_store: Open, said: Say, postgres: PostgresServer) -> None:
    first, second = open_store(), open_store()
    broken = Held(said("a"), said("b"), error=RuntimeError("stop"))

    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(first.append, broken)
        assert broken.begun.wait(SOON_S)
        other = threads.submit(second.add, said("c"))
        _wait_until_somebody_waits(postgres)
        broken.may_end.set()
        with pytest.raises(RuntimeError, match="stop"):
            one.result(SOON_S)
        assert other.result(SOON_S).turn_id == "t1"

    assert seqs(first) == [1]


def test_a_part_that_is_rolled_back_leaves_no_gap_in_what_is_committed_together(open_store: Open, said: Say) -> None:
    store = open_store()
    store.add(said("before", turn_id="x"))

    with store.together():
        store.append([said("a"), said("b")])
        with pytest.raises(TurnError, match="'x' is stored already"):
            store.append([said("c"), said("d", turn_id="x")])
        store.append([said("dry")], dry_run=True)
        store.append([said("e")])

    assert [(row, turn.turn_id, turn.text) for row, turn in store.scan()] == [
        (1, "x", "before"),
        (2, "t2", "a"),
        (3, "t3", "b"),
        (4, "t4", "e"),
    ]
    assert seqs(store) == [1, 2, 3, 4]


def test_other_owners_do_not_wait(open_store: Open, said: Say) -> None:
    ada, bo = open_store("ada"), open_store("bo")
    slow = Held(said("a"), said("b"))

    with ThreadPoolExecutor(1) as threads:
        one = threads.submit(ada.append, slow)
        assert slow.begun.wait(SOON_S)
        assert bo.add(said("of Bo")).turn_id == "t1"
        slow.may_end.set()
        one.result(SOON_S)


def test_who_waits_too_long_is_told_so(open_store: Open, said: Say) -> None:
    first, second = open_store(), open_store(busy_timeout_s=0.05)
    slow = Held(said("a"), said("b"))

    with ThreadPoolExecutor(1) as threads:
        one = threads.submit(first.append, slow)
        assert slow.begun.wait(SOON_S)
        with pytest.raises(MemoryLockedError, match=r"is locked by another process .* or raise busy_timeout_s"):
            second.add(said("c"))
        slow.may_end.set()
        one.result(SOON_S)

    assert seqs(second) == [1, 2]


@pytest.mark.slow
def test_eight_writers_of_ten_thousand_turns_lose_nothing(open_store: Open, said: Say) -> None:
    """Half of them to one memory, so that they wait for each other; half each to its own."""
    n_writers, n_turns, at_once = 8, 1250, 25
    owners = ["shared"] * 4 + ["a", "b", "c", "d"]

    def write(number: int) -> dict[str, str]:
        store = open_store(owners[number])
        told: dict[str, str] = {}
        for start in range(0, n_turns, at_once):
            texts = [f"{number}/{start + i}" for i in range(at_once)]
            ids = store.append([said(text, conversation_id=f"c{number}") for text in texts]).turn_ids
            told |= dict(zip(ids, texts, strict=True))
        return told

    with ThreadPoolExecutor(n_writers) as threads:
        told = list(threads.map(write, range(n_writers)))

    kept = {owner: open_store(owner) for owner in owners}
    assert sum(len(store) for store in kept.values()) == n_writers * n_turns
    for owner, store in kept.items():
        mine = [one for name, one in zip(owners, told, strict=True) if name == owner]
        assert {turn.turn_id: turn.text for _, turn in store.scan()} == {k: v for one in mine for k, v in one.items()}
        assert seqs(store) == list(range(1, len(mine) * n_turns + 1))
        for number in range(n_writers):
            places = [turn.ordinal for _, turn in store.scan(conversation_id=f"c{number}")]
            assert places == list(range(len(places)))
