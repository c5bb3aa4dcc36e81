"""The nearest of an owner's vectors are found on the server, all of them, however many others there are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import psycopg
import pytest

from memory_rag.errors import StoreError
from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.postgres.vectors import Embedded, ServerVectors, Vectors
from memory_rag.turns import Span
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
    turns = store.get(ids)
    numbers = [store.row_of(ids[0]) + place for place in range(len(ids))]
    embedded = [
        Embedded(number, turn, (Span(0, len(turn.text)),), row[None])
        for number, turn, row in zip(numbers, turns, rows, strict=True)
    ]
    assert vectors.put(embedded) == len(rows)


@pytest.fixture
def store(open_store: Open) -> PostgresTurnStore:
    return open_store()


def of(store: PostgresTurnStore, *, fingerprint: str = "test", **given: int) -> ServerVectors:
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
    assert [near.row for near in found] == [number for _, number in expected]
    assert [near.score for near in found] == pytest.approx([-score for score, _ in expected], abs=1e-6)


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

    assert {near.row for near in vectors.nearest(QUERY, n=5, conversation_id="rare")} == set(range(121, 126))
    assert vectors.nearest(QUERY, n=5, conversation_id="nobody's") == []


def test_the_index_finds_what_comparing_all_finds(store: PostgresTurnStore, said: Say) -> None:
    rows = scattered(200, seed=5)
    fill(store, of(store), rows, said)
    by_index, exact = of(store, exact_up_to=0), of(store)

    for query in scattered(10, seed=6):
        order = np.argsort(-(rows @ query), kind="stable")[:10] + 1
        assert [near.row for near in exact.nearest(query, n=10)] == order.tolist()
        assert len({near.row for near in by_index.nearest(query, n=10)} & set(order.tolist())) >= 9


def test_vectors_come_back_as_they_were_made_and_the_best_passage_speaks_for_its_turn(
    store: PostgresTurnStore, said: Say
) -> None:
    vectors = of(store)
    long, short = (store.add(said(text)) for text in ("one two three", "four"))
    rows = scattered(4, seed=7)
    spans = (Span(0, 3), Span(4, 7), Span(8, 13))
    vectors.put([Embedded(1, long, spans, rows[:3]), Embedded(2, short, (Span(0, 4),), rows[3:])])

    for place, span in enumerate(spans):
        found = vectors.cosines(rows[place], [1, 2, 3])
        assert found.keys() == {1, 2}
        assert found[1].span == span
        assert found[1].score == pytest.approx(1.0, abs=1e-6)
        assert vectors.nearest(rows[place], n=1)[0] == found[1]
    assert len(vectors.nearest(QUERY, n=50)) == 2


def test_no_vector_outlives_its_words(store: PostgresTurnStore, said: Say) -> None:
    vectors = of(store)
    fill(store, vectors, scattered(4, seed=8), said)
    before = store.get(["t3"])[0]
    assert vectors.pending(limit=9) == []

    store.remove(["t1"])
    store.correct("t2", text="other words")
    store.correct("t3", speaker="Ada")

    assert vectors.pending(limit=9) == [2, 3]
    assert [near.row for near in vectors.nearest(QUERY, n=9)] == [4]
    assert vectors.put([Embedded(3, before, (Span(0, 6),), QUERY[None]), Embedded(1, before, (), QUERY[:0, None])]) == 0
    assert vectors.put([Embedded(3, replace(before, speaker="Ada"), (Span(0, 6),), QUERY[None])]) == 1
    assert vectors.pending(limit=1) == [2]


def test_two_embedders_vectors_are_never_mixed(store: PostgresTurnStore, said: Say) -> None:
    small, large = of(store, fingerprint="small"), of(store, fingerprint="large", dim=3)
    turn = store.add(said("words"))
    small.put([Embedded(1, turn, (Span(0, 5),), QUERY[None])])

    assert (small.pending(limit=9), large.pending(limit=9)) == ([], [1])
    assert large.nearest(np.ones(3, np.float32), n=3) == []
    large.put([Embedded(1, turn, (Span(0, 5),), np.array([[0, 0, 1]], np.float32))])
    assert small.nearest(QUERY, n=1)[0].score == 1.0


def test_more_dimensions_than_an_index_takes_are_refused(store: PostgresTurnStore) -> None:
    with pytest.raises(StoreError, match=r"4001 dimensions .* takes 1 to 4000"):
        of(store, dim=4001)


def test_what_is_left_out_of_recall_waits_for_no_vector(store: PostgresTurnStore, said: Say) -> None:
    store.append([said("spoken"), said("tool traffic", recalled=False)])

    assert of(store).pending(limit=9) == [1]
