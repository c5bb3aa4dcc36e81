"""An index that doesn't find what is stored is noticed, whichever it is, and made anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from psycopg.conninfo import conninfo_to_dict

from memory_rag.errors import StoreError
from memory_rag.postgres.known_answers import check_indexes, remake_wrong
from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.postgres.vectors import ServerVectors
from memory_rag.postgres.words import Analyzed, ServerWords
from tests.postgres.conftest import Say
from tests.postgres.test_vectors import DIM, keep, scattered
from tests.postgres_server import PostgresServer

Put = Callable[[PostgresTurnStore, str], int]
OF_TURNS = "SELECT pg_class.oid FROM pg_class JOIN pg_am ON pg_am.oid = relam WHERE amname IN ('bm25', 'hnsw')"


@pytest.fixture(params=[0, 2], ids=["whole", "partitions"])
def url(request: pytest.FixtureRequest, postgres: PostgresServer) -> str:
    if not postgres.as_superuser("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_textsearch'"):
        pytest.skip("the server of MEMORY_RAG_TEST_PG has no pg_textsearch")
    url = postgres.new_database()
    PostgresTurnStore(url, n_partitions=request.param).close()
    return url


@pytest.fixture
def store(url: str) -> Iterator[PostgresTurnStore]:
    store = PostgresTurnStore(url, owner="ada")
    yield store
    store.close()


@pytest.fixture
def put(said: Say) -> Put:
    """Store a turn with its words and its vector, and return its row."""

    def stored(store: PostgresTurnStore, text: str) -> int:
        turn = store.add(said(text))
        (row,) = store.rows_of([turn.turn_id])
        words, vectors = _words(store), _vectors(store)
        words.set_up()
        vectors.set_up()
        assert words.put([Analyzed(row, turn, text.split())]) == 1
        keep(vectors, scattered(1, seed=row), [(row, 0, 1)])
        return row

    return stored


def _words(store: PostgresTurnStore) -> ServerWords:
    return ServerWords(store.connections, fingerprint="test", by_bm25=True)


def _vectors(store: PostgresTurnStore) -> ServerVectors:
    return ServerVectors(store.connections, fingerprint="test", dim=DIM, exact_up_to=0)


def _let_indexes_miss(postgres: PostgresServer, url: str, *, miss: bool) -> None:
    """Let what is stored from now on be in no index of words or vectors, or in all of them again."""
    database = conninfo_to_dict(url)["dbname"]
    postgres.as_superuser(
        f"UPDATE pg_index SET indisready = {not miss} WHERE indexrelid IN ({OF_TURNS})", database=str(database)
    )


def test_indexes_that_find_everything_are_left_alone(store: PostgresTurnStore, put: Put) -> None:
    for number in range(12):
        put(store, f"turn no{number} of some words")
    before = check_indexes(store.connections)

    assert [(one.n_asked, one.n_found) for one in before] == [(8, 8), (8, 8)]
    assert remake_wrong(store.connections) == []
    assert [one.oid for one in check_indexes(store.connections)] == [one.oid for one in before]


def test_an_owner_without_turns_has_nothing_to_ask_for(store: PostgresTurnStore, put: Put, url: str) -> None:
    put(store, "of Ada")
    nobody = PostgresTurnStore(url, owner="nobody")

    assert [one.n_asked for one in check_indexes(nobody.connections)] == [0, 0]
    nobody.close()


def test_what_an_index_misses_is_noticed_and_it_is_made_anew(
    store: PostgresTurnStore, put: Put, url: str, postgres: PostgresServer
) -> None:
    put(store, "before it all")
    _let_indexes_miss(postgres, url, miss=True)
    row = put(store, "a kayak by the lake")
    for number in range(4):
        put(store, f"lost no{number}")
    _let_indexes_miss(postgres, url, miss=False)
    again = put(store, "a kayak once more")
    before = {one.index: one for one in check_indexes(store.connections)}
    assert all((one.n_asked, one.n_found) == (7, 2) for one in before.values())

    assert remake_wrong(store.connections) == list(before)

    after = check_indexes(store.connections)
    assert [(one.index, one.n_asked, one.n_found) for one in after] == [(name, 7, 7) for name in before]
    assert all(one.oid != before[one.index].oid for one in after)
    assert sorted(_words(store).best(["kayak"], n=5)) == [row, again]
    assert _vectors(store).nearest(scattered(1, seed=row)[0], n=1) == [row]
    assert remake_wrong(store.connections) == []


def test_an_index_of_vectors_may_miss_one_and_an_index_of_words_none(
    store: PostgresTurnStore, put: Put, url: str, postgres: PostgresServer
) -> None:
    """HNSW is no exact index, and making it anew takes long."""
    put(store, "before")
    _let_indexes_miss(postgres, url, miss=True)
    put(store, "lost")
    _let_indexes_miss(postgres, url, miss=False)
    put(store, "after")
    assert [(one.n_asked, one.n_found) for one in check_indexes(store.connections)] == [(3, 2), (3, 2)]

    assert remake_wrong(store.connections) == ["words_by_bm25"]


def test_others_who_went_on_with_the_index_find_what_comes_after_it_was_made_anew(
    store: PostgresTurnStore, put: Put, url: str, postgres: PostgresServer
) -> None:
    """After a REINDEX, a connection that used pg_textsearch's index before would read and fill the old one."""
    other = PostgresTurnStore(url, owner="ada")
    put(other, "of the other")
    put(store, "ours")
    _let_indexes_miss(postgres, url, miss=True)
    put(store, "lost")
    _let_indexes_miss(postgres, url, miss=False)
    assert remake_wrong(store.connections)

    row = put(other, "kayak")

    for one in (store, other):
        assert _words(one).best(["kayak"], n=1) == [row]
        assert len(_words(one).best(["lost"], n=1)) == 1
    other.close()


def test_after_a_lost_connection_the_indexes_are_looked_at_before_anything_else(
    store: PostgresTurnStore, put: Put, url: str, postgres: PostgresServer, said: Say
) -> None:
    put(store, "before")
    _let_indexes_miss(postgres, url, miss=True)
    row = put(store, "kayak")
    _let_indexes_miss(postgres, url, miss=False)
    database = conninfo_to_dict(url)["dbname"]
    assert _words(store).best(["kayak"], n=1) == []
    postgres.as_superuser(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")
    with pytest.raises(StoreError, match="was lost"):
        len(store)

    assert _words(store).best(["kayak"], n=1) == [row]


def test_whoever_opens_a_memory_after_its_server_was_started_looks_at_its_indexes(
    store: PostgresTurnStore, put: Put, url: str, postgres: PostgresServer
) -> None:
    put(store, "before")
    _let_indexes_miss(postgres, url, miss=True)
    row = put(store, "kayak")
    _let_indexes_miss(postgres, url, miss=False)
    PostgresTurnStore(url, owner="ada").close()
    assert _words(store).best(["kayak"], n=1) == []
    with store.connections.writing() as connection:
        # As if it had been another start that they were looked at after.
        connection.execute("UPDATE numbers_kept SET seq = seq - 1 WHERE name = 'started'")

    PostgresTurnStore(url, owner="ada").close()

    assert _words(store).best(["kayak"], n=1) == [row]
