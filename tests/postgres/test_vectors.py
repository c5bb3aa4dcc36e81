"""The nearest of an owner's vectors are found on the server, all of them, however many others there are."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import numpy as np
import psycopg
import pytest

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import StoreError
from memory_rag.postgres.parts import Part, part_of
from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.postgres.vectors import ServerVectors
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.vectors import ids_of
from tests.postgres.conftest import Open, Say
from tests.postgres_server import PostgresServer

DIM = 16
QUERY = np.eye(DIM, dtype=np.float32)[0]
N_OTHERS = 200


def scattered(n: int, *, seed: int, around: Vectors | None = None) -> Vectors:
    noise = np.random.default_rng(seed).standard_normal((n, DIM)).astype(np.float32)
    rows = noise if around is None else around + noise / 20
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def fill(
    store: PostgresTurnStore, vectors: ServerVectors, rows: Vectors, said: Say, *, conversation: str = "c"
) -> None:
    """Store a turn for each vector."""
    ids = store.append(said(f"turn {number}", conversation_id=conversation) for number in range(len(rows))).turn_ids
    keep(vectors, rows, [(row, 0, 6) for row in store.rows_of(ids)])


def keep(vectors: ServerVectors, rows: Vectors, passages: list[tuple[int, int, int]]) -> None:
    """Keep the vector of each passage: its turn's row, and where it lies."""
    with vectors.alone():
        vectors.append(rows, ids_of([(row, 7, start, end) for row, start, end in passages]))


def in_conversation(conversation_id: str) -> Part:
    return part_of(Within(conversation=conversation_id), zone=UTC)


@pytest.fixture
def store(open_store: Open) -> PostgresTurnStore:
    return open_store()


def of(store: PostgresTurnStore, *, fingerprint: str = "test", **given: Any) -> ServerVectors:
    vectors = ServerVectors(store.connections, fingerprint=fingerprint, **{"dim": DIM, **given})
    vectors.set_up()
    return vectors


@pytest.fixture(scope="module")
def crowded(postgres: PostgresServer, said: Say) -> str:
    """A database in which one owner has hundreds of turns right at the query."""
    url = postgres.new_database()
    crowd = PostgresTurnStore(url, owner="crowd")
    fill(crowd, of(crowd), scattered(N_OTHERS, seed=1, around=QUERY), said)
    crowd.close()
    return url


@pytest.mark.parametrize("exact_up_to", [0, 10_000], ids=["by the index", "all compared"])
def test_a_rare_owners_five_of_five_are_found_among_a_crowd(
    crowded: str, said: Say, open_store: Open, exact_up_to: int
) -> None:
    rare = open_store("rare", url=crowded)
    vectors = of(rare, exact_up_to=exact_up_to)
    rows = scattered(5, seed=2)
    fill(rare, vectors, rows, said)

    found = vectors.nearest(QUERY, n=5)

    expected = sorted(((-float(row @ QUERY), number) for number, row in enumerate(rows, 1)))
    assert found == [number for _, number in expected]


def test_a_filtered_search_loses_rows_without_what_the_search_sets(crowded: str, said: Say, open_store: Open) -> None:
    """The trap itself: if this finds all, the server has changed, and the setting may go."""
    rare = open_store("rare", url=crowded)
    vectors = of(rare)
    fill(rare, vectors, scattered(5, seed=2), said)
    statement = (
        f"SELECT row FROM memory_rag.vectors WHERE space = {vectors.space} "
        f"ORDER BY (embedding::halfvec({DIM})) <#> %s::float8[]::halfvec({DIM}) LIMIT 5"
    )

    with psycopg.connect(crowded) as connection:
        connection.execute("SELECT set_config('memory_rag.owner', %s, true)", (rare.owner,))
        connection.execute("SET LOCAL enable_sort = off")
        lost = connection.execute(statement, (QUERY.tolist(),)).fetchall()
        connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
        kept = connection.execute(statement, (QUERY.tolist(),)).fetchall()

    assert (len(lost), len(kept)) == (0, 5)


def test_one_conversations_turns_are_found_among_all(store: PostgresTurnStore, said: Say) -> None:
    vectors = of(store, exact_up_to=0)
    fill(store, vectors, scattered(120, seed=3, around=QUERY), said)
    fill(store, vectors, scattered(5, seed=4), said, conversation="rare")

    assert set(vectors.nearest(QUERY, n=5, part=in_conversation("rare"))) == set(range(121, 126))
    assert vectors.nearest(QUERY, n=5, part=in_conversation("nobody's")) == []


def test_the_index_finds_what_comparing_all_finds(store: PostgresTurnStore, said: Say) -> None:
    rows = scattered(200, seed=5)
    fill(store, of(store), rows, said)
    by_index, exact = of(store, exact_up_to=0), of(store)

    for query in scattered(10, seed=6):
        order = np.argsort(-(rows @ query), kind="stable")[:10] + 1
        assert exact.nearest(query, n=10) == order.tolist()
        assert len(set(by_index.nearest(query, n=10)) & set(order.tolist())) >= 9


def test_vectors_come_back_as_they_were_made_in_the_order_they_were_kept(store: PostgresTurnStore, said: Say) -> None:
    here, there = of(store), of(store)
    store.append([said("one two three"), said("four")])
    rows = scattered(4, seed=7)
    passages = [(1, 0, 3), (1, 4, 7), (1, 8, 13), (2, 0, 4)]
    keep(here, rows[:3], passages[:3])
    assert there.read_new() is not None
    keep(here, rows[3:], passages[3:])

    new = there.read_new()

    assert new is not None
    assert new.ids.tolist() == [(2, 7, 0, 4)]
    assert (there.rows.tobytes(), there.n_read) == (rows.tobytes(), 4)
    assert len((there.read_new() or new).ids) == 0
    read = here.read_new()
    assert read is not None
    assert read.ids.tolist() == [(row, 7, start, end) for row, start, end in passages]


def test_a_turns_best_passage_speaks_for_it(store: PostgresTurnStore, said: Say) -> None:
    vectors = of(store)
    store.append([said("one two three"), said("four")])
    rows = scattered(4, seed=7)
    keep(vectors, rows, [(1, 0, 3), (1, 4, 7), (1, 8, 13), (2, 0, 4)])

    assert [vectors.nearest(row, n=1) for row in rows] == [[1], [1], [1], [2]]
    assert sorted(vectors.nearest(QUERY, n=50)) == [1, 2]


def test_only_what_is_asked_for_is_read_where_not_all_is(store: PostgresTurnStore, said: Say) -> None:
    vectors = of(store, whole=False)
    fill(store, vectors, scattered(6, seed=8), said)

    def read() -> list[int]:
        new = vectors.read_new()
        return [] if new is None else new.ids["row"].tolist()

    assert read() == []
    vectors.ask_for([2, 5])
    assert read() == [2, 5]
    vectors.ask_for([5, 6])
    assert read() == [6]
    keep(vectors, scattered(2, seed=9), [(1, 0, 6), (5, 0, 6)])
    assert read() == [5]


def test_no_vector_outlives_its_words(store: PostgresTurnStore, said: Say) -> None:
    vectors = of(store)
    fill(store, vectors, scattered(4, seed=8), said)
    assert (vectors.pending(limit=9), vectors.n_pending()) == ([], 0)

    store.remove(["t1"])
    store.correct("t2", text="other words")
    store.correct("t3", speaker="Ada")

    assert (vectors.pending(limit=9), vectors.n_pending()) == ([2, 3], 2)
    assert vectors.nearest(QUERY, n=9) == [4]
    keep(vectors, QUERY[None], [(3, 0, 6)])
    assert vectors.pending(limit=1) == [2]


def test_what_is_appended_by_nobody_alone_is_refused(store: PostgresTurnStore) -> None:
    with pytest.raises(StoreError, match=r"within alone\(\)"):
        of(store).append(QUERY[None], ids_of([(1, 7, 0, 1)]))


def test_two_embedders_vectors_are_never_mixed(store: PostgresTurnStore, said: Say) -> None:
    small, large = of(store, fingerprint="small"), of(store, fingerprint="large", dim=3)
    store.add(said("words"))
    keep(small, QUERY[None], [(1, 0, 5)])

    assert (small.pending(limit=9), large.pending(limit=9)) == ([], [1])
    assert large.nearest(np.ones(3, np.float32), n=3) == []
    keep(large, np.array([[0, 0, 1]], np.float32), [(1, 0, 5)])
    assert (small.nearest(QUERY, n=1), large.nearest(np.ones(3, np.float32), n=1)) == ([1], [1])
    small.prune()
    assert (small.pending(limit=9), large.pending(limit=9)) == ([], [1])


def test_more_dimensions_than_an_index_takes_are_refused(store: PostgresTurnStore) -> None:
    with pytest.raises(StoreError, match=r"4001 dimensions .* takes 1 to 4000"):
        of(store, dim=4001)


def test_what_is_left_out_of_recall_waits_for_no_vector(store: PostgresTurnStore, said: Say) -> None:
    store.append([said("spoken"), said("tool traffic", recalled=False)])

    assert of(store).pending(limit=9) == [1]
