"""A primary that is killed, and a server that takes over: what was acknowledged is there, in order, and is found."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final
from urllib.parse import quote, urlencode

import numpy as np
import pytest

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import MemoryRagError
from memory_rag.postgres.known_answers import check_indexes
from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.postgres.vectors import ServerVectors
from memory_rag.postgres.words import Analyzed, ServerWords
from memory_rag.retrieval.vectors import ids_of
from memory_rag.turns import Turn
from tests.postgres.conftest import Say
from tests.postgres_nodes import Node, Nodes, postgres_nodes
from tests.postgres_server import PASSWORD, ROLE

pytestmark = [pytest.mark.slow, pytest.mark.needs_postgres]
WRITERS: Final = 4
BEFORE: Final = 40
"""Turns that are acknowledged before the primary is killed."""
AFTER: Final = 5
"""Turns that each writer adds once there is a server again."""
SOON_S: Final = 120
DIM: Final = 8


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    with postgres_nodes() as started:
        yield started


def url_of(database: str, *nodes: Node) -> str:
    """Return the URL of whichever of these servers takes writes."""
    hosts = ",".join(str(node.folder) for node in nodes)
    ports = ",".join(str(node.number) for node in nodes)
    given = urlencode({"host": hosts, "port": ports, "target_session_attrs": "read-write"})
    return f"postgresql://{ROLE}:{quote(PASSWORD)}@/{database}?{given}"


def vector_of(number: int) -> Vectors:
    row = np.random.default_rng(number).standard_normal((1, DIM)).astype(np.float32)
    return np.asarray(row / np.linalg.norm(row), np.float32)


class Writer:
    """Adds turns with their words and vectors, one after the other; notes what it was told."""

    def __init__(self, store: PostgresTurnStore, name: str, say: Say) -> None:
        self.store, self.name, self.say = store, name, say
        self.acknowledged: list[Turn] = []
        self.indexed: list[tuple[int, int]] = []
        """Number and row of the turns of which words and vector are acknowledged, too."""
        self.errors: list[MemoryRagError] = []
        self._n_tried = 0
        self._words = ServerWords(store.connections, fingerprint="test", by_bm25=True)
        self._vectors = ServerVectors(store.connections, fingerprint="test", dim=DIM)

    def set_up(self) -> None:
        self._words.set_up()
        self._vectors.set_up()

    def add(self) -> None:
        # One that was cut off may be stored all the same.
        self._n_tried += 1
        number = self._n_tried
        turn = self.store.add(self.say(f"{self.name} no{number} ö\0", turn_id=f"{self.name}-{number}"))
        self.acknowledged.append(turn)
        (row,) = self.store.rows_of([turn.turn_id])
        assert self._words.put([Analyzed(row, turn, [self.name, f"no{number}"])]) == 1
        with self._vectors.alone():
            self._vectors.append(vector_of(row), ids_of([(row, 7, 0, 1)]))
        self.indexed.append((number, row))

    def until_it_fails(self) -> None:
        try:
            while True:
                self.add()
        except MemoryRagError as error:
            self.errors.append(error)

    def then(self, there_again: threading.Event) -> None:
        """Go on once there is a server again; nothing fails any more."""
        self.until_it_fails()
        assert there_again.wait(SOON_S)
        for _ in range(AFTER):
            self.add()


@pytest.fixture
def write(said: Say) -> Iterator[Callable[[str, Callable[[], None], Callable[[], None]], list[Writer]]]:
    """Let four write to one owner's memory, and do two things: once they are in full swing, once all were cut off."""
    stores: list[PostgresTurnStore] = []

    def written(url: str, kill: Callable[[], None], bring_back: Callable[[], None]) -> list[Writer]:
        for _ in range(WRITERS):
            stores.append(PostgresTurnStore(url, owner="ada"))
        writers = [Writer(store, f"writer{number}", said) for number, store in enumerate(stores)]
        writers[0].set_up()
        there_again = threading.Event()
        with ThreadPoolExecutor(WRITERS) as threads:
            running = [threads.submit(writer.then, there_again) for writer in writers]
            try:
                _wait(lambda: sum(len(writer.indexed) for writer in writers) >= BEFORE, running)
                kill()
                _wait(lambda: all(writer.errors for writer in writers), running)
                bring_back()
            finally:
                there_again.set()
            for one in running:
                one.result(SOON_S)
        return writers

    yield written
    for store in stores:
        store.close()


def _wait(until: Callable[[], bool], running: list[Future[None]]) -> None:
    pause = threading.Event()
    for _ in range(SOON_S * 100):
        if until():
            return
        for one in running:
            if one.done():
                one.result()
        pause.wait(0.01)
    pytest.fail("nothing happened")


def check_all_is_there(writers: list[Writer]) -> None:
    """Everything acknowledged is stored as it was returned, once; numbers and places leave no gap."""
    store = writers[0].store
    stored = {turn.turn_id: turn for _row, turn in store.scan()}
    acknowledged = [turn for writer in writers for turn in writer.acknowledged]
    assert [stored[turn.turn_id] for turn in acknowledged] == acknowledged
    assert sorted(turn.ordinal for turn in stored.values()) == list(range(len(stored)))
    assert [change.seq for change in store.changes_since(0)] == list(range(1, store.last_seq + 1))
    assert len(store) == store.last_seq


def check_each_was_told_once(writers: list[Writer]) -> None:
    for writer in writers:
        (error,) = writer.errors
        assert "was lost" in str(error)
        assert "whatever was acknowledged is stored" in str(error)
        assert PASSWORD not in str(error)


def check_all_is_found(writers: list[Writer]) -> None:
    """Every turn is found by its words and by its vector, in the indexes, too."""
    connections = writers[0].store.connections
    checked = check_indexes(connections)
    assert [one.index.partition("_of_")[0] for one in checked] == ["vectors", "words_by_bm25"]
    assert [(one.n_asked, one.n_found) for one in checked] == [(8, 8), (8, 8)]
    words = ServerWords(connections, fingerprint="test", by_bm25=True)
    vectors = ServerVectors(connections, fingerprint="test", dim=DIM, exact_up_to=0)
    for writer in writers:
        for number, row in writer.indexed:
            assert words.best([writer.name, f"no{number}"], n=1) == [row]
            assert vectors.nearest(vector_of(row)[0], n=1) == [row]


Write = Callable[[str, Callable[[], None], Callable[[], None]], list[Writer]]


def test_a_replica_takes_over_from_a_killed_primary_with_all_that_was_acknowledged(nodes: Nodes, write: Write) -> None:
    primary = nodes.primary()
    database = primary.server.new_database().rpartition("/")[2].partition("?")[0]
    replica = nodes.follower(primary)
    primary.set("synchronous_standby_names", "*")

    url = url_of(database, primary, replica)

    writers = write(url, primary.kill, replica.promote)

    check_each_was_told_once(writers)
    check_all_is_there(writers)
    check_all_is_found(writers)
    assert replica.server.as_superuser("SELECT pg_is_in_recovery()") == [(False,)]


@pytest.mark.parametrize("how", ["immediate", "kill -9"])
def test_a_primary_that_was_killed_has_all_that_was_acknowledged_when_it_is_back(
    nodes: Nodes, write: Write, how: str
) -> None:
    primary = nodes.primary()
    url = primary.server.new_database()

    writers = write(url, primary.kill if how == "kill -9" else lambda: primary.stop("immediate"), primary.start)

    check_each_was_told_once(writers)
    check_all_is_there(writers)
    check_all_is_found(writers)
