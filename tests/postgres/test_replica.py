"""Vectors are read on a replica where that has everything, and on the primary wherever it hasn't."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Final

import pytest

from memory_rag.errors import StoreError
from memory_rag.memory import Memory
from memory_rag.postgres.parts import WHOLE
from memory_rag.postgres.replica import RESTS_S, Replica
from memory_rag.postgres.turn_store import PostgresTurnStore
from tests.end_to_end.hashed_words import HashedWords
from tests.postgres.conftest import Say
from tests.postgres.test_vectors import fill, of, scattered
from tests.postgres_nodes import Node, Nodes, postgres_nodes

pytestmark = [pytest.mark.slow, pytest.mark.needs_postgres]
SOON_S: Final = 60
QUERY = scattered(1, seed=1)[0]


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with postgres_nodes() as started:
        yield started


@pytest.fixture(scope="module")
def primary(nodes: Nodes) -> Node:
    return nodes.primary()


@pytest.fixture(scope="module")
def database(primary: Node) -> str:
    return primary.server.new_database().rpartition("/")[2].partition("?")[0]


@pytest.fixture(scope="module")
def replica(nodes: Nodes, primary: Node) -> Node:
    return nodes.follower(primary)


@pytest.fixture
def open_store(
    primary: Node, replica: Node, database: str, request: pytest.FixtureRequest
) -> Iterator[Callable[[], PostgresTurnStore]]:
    """Open a store that reads from the replica, too; each test has an owner of its own."""
    with ExitStack() as stores:

        def opened() -> PostgresTurnStore:
            store = PostgresTurnStore(
                primary.server.url(database), owner=request.node.name, replica=replica.server.url(database)
            )
            stores.callback(store.close)
            return store

        yield opened


def replica_of(store: PostgresTurnStore) -> Replica:
    assert store.connections.replica is not None
    return store.connections.replica


def wait_until_it_has_all(primary: Node, replica: Node) -> None:
    ((newest,),) = primary.server.as_superuser("SELECT pg_current_wal_lsn()")
    deadline = time.monotonic() + SOON_S
    while replica.server.as_superuser(f"SELECT pg_last_wal_replay_lsn() >= '{newest}'") != [(True,)]:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_nearest_are_found_on_a_replica_that_has_everything(
    open_store: Callable[[], PostgresTurnStore], primary: Node, replica: Node, said: Say
) -> None:
    store = open_store()
    vectors, exact = of(store, exact_up_to=0), of(store)
    fill(store, vectors, scattered(40, seed=2), said)
    with store.connections.reading() as connection:
        here = exact._nearest(connection, QUERY, 5, WHOLE)
    wait_until_it_has_all(primary, replica)
    before = replica_of(store).n_read

    assert exact.nearest(QUERY, n=5) == here
    assert set(vectors.nearest(QUERY, n=5)) & set(here)
    assert replica_of(store).n_read == before + 2


def test_what_a_replica_has_not_yet_is_read_on_the_primary(
    open_store: Callable[[], PostgresTurnStore], primary: Node, replica: Node, said: Say
) -> None:
    store = open_store()
    vectors = of(store)
    fill(store, vectors, scattered(3, seed=3), said)
    wait_until_it_has_all(primary, replica)
    replica.server.as_superuser("SELECT pg_wal_replay_pause()")
    try:
        before = replica_of(store).n_read
        fill(store, vectors, QUERY[None], said)
        assert vectors.nearest(QUERY, n=1) == [4]
        store.remove(["t4"])
        assert 4 not in vectors.nearest(QUERY, n=9)
        assert replica_of(store).n_read == before
    finally:
        replica.server.as_superuser("SELECT pg_wal_replay_resume()")
    wait_until_it_has_all(primary, replica)

    assert sorted(vectors.nearest(QUERY, n=9)) == [1, 2, 3]
    assert replica_of(store).n_read == before + 1


def test_a_replica_that_is_gone_is_not_waited_for_again_and_again(
    nodes: Nodes, primary: Node, replica: Node, database: str, said: Say
) -> None:
    other = nodes.follower(primary)
    store = PostgresTurnStore(primary.server.url(database), owner="gone", replica=other.server.url(database))
    vectors = of(store)
    fill(store, vectors, scattered(3, seed=3), said)
    now = 0.0
    ours = replica_of(store)
    ours._clock = lambda: now
    wait_until_it_has_all(primary, other)
    assert (len(vectors.nearest(QUERY, n=3)), ours.n_read) == (3, 1)
    other.stop("immediate")

    assert len(vectors.nearest(QUERY, n=3)) == 3
    other.start()
    wait_until_it_has_all(primary, other)
    assert (len(vectors.nearest(QUERY, n=3)), ours.n_read) == (3, 1)
    now = RESTS_S + 1
    assert (len(vectors.nearest(QUERY, n=3)), ours.n_read) == (3, 2)
    other.promote()
    assert (len(vectors.nearest(QUERY, n=3)), ours.n_read) == (3, 2)
    store.close()


def test_a_memory_opens_while_its_replica_is_down(primary: Node, database: str) -> None:
    nowhere = f"postgresql://memory_rag_test@127.0.0.1:1/{database}"
    with Memory.open(
        primary.server.url(database), owner="down", replica=nowhere, embedder=HashedWords(), language="en", resident=0
    ) as memory:
        memory.add("A kayak by the lake.")
        assert [hit.turn.text for hit in memory.search("kayak").hits] == ["A kayak by the lake."]


def test_a_server_that_follows_another_is_refused(nodes: Nodes, primary: Node, database: str) -> None:
    stranger = nodes.primary()

    with pytest.raises(StoreError, match=r"doesn't follow postgresql://.*name a replica of it, or leave the setting"):
        PostgresTurnStore(primary.server.url(database), replica=stranger.server.new_database())


def test_a_role_that_no_policy_holds_for_is_refused_on_a_replica_too(
    primary: Node, replica: Node, database: str
) -> None:
    with pytest.raises(StoreError, match="superuser or bypasses row-level security"):
        PostgresTurnStore(primary.server.url(database), replica=replica.superuser)
