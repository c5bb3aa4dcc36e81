"""Opening a store on a server: whom it lets in, what it makes, and what it says if it can't."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from memory_rag.errors import MissingExtraError, NewerFormatError, NotAMemoryError, StoreError, TurnError
from memory_rag.postgres.migrations import STEPS
from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.turns import Source, Turn
from tests.postgres.conftest import Open, Say
from tests.postgres_server import PASSWORD, PostgresServer


def test_a_superuser_is_refused_since_no_policy_holds_for_one(postgres: PostgresServer) -> None:
    with pytest.raises(StoreError, match=r"superuser or bypasses row-level security.* CREATE ROLE memory_rag LOGIN"):
        PostgresTurnStore(postgres.superuser)


def test_a_server_that_does_not_answer_is_named_without_its_password() -> None:
    with pytest.raises(
        StoreError, match=r"postgresql://127\.0\.0\.1:1/things can't be reached .* check the URL"
    ) as told:
        PostgresTurnStore("postgresql://ada:secret@127.0.0.1:1/things")

    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:secret@host/things?colour=red",
        "postgresql://ada:secret%zz@host/",
        "postgresql://ada:secret/secret@host/things",
        "postgresql://ada:secret@secret@host/things",
    ],
)
def test_a_url_that_is_none_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(StoreError, match=r"it is postgresql://user:password@host/database") as told:
        PostgresTurnStore(url)

    assert "secret" not in str(told.value)
    assert told.value.__context__ is None


def test_no_message_holds_the_password(postgres_url: str, open_store: Open) -> None:
    store = open_store(url=postgres_url)
    store.close()

    with pytest.raises(StoreError, match="is closed; open it again") as told:
        len(store)
    assert PASSWORD not in str(told.value)


def test_a_database_without_tables_and_an_owner_without_turns_are_no_memory(postgres: PostgresServer) -> None:
    url = postgres.new_database()

    with pytest.raises(NotAMemoryError, match="the database has no schema memory_rag"):
        PostgresTurnStore(url, create=False)
    PostgresTurnStore(url, owner="ada").close()
    with pytest.raises(NotAMemoryError, match="owner 'bo', holds no memory; check the name of the owner"):
        PostgresTurnStore(url, owner="bo", create=False)
    PostgresTurnStore(url, owner="ada", create=False).close()


def test_tables_of_a_later_release_are_left_alone(postgres: PostgresServer) -> None:
    url = postgres.new_database()
    PostgresTurnStore(url).close()
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO memory_rag.migrations (name) VALUES ('m999_telepathy')")

    with pytest.raises(NewerFormatError, match=r"later release of memory_rag \(it has m999_telepathy\)"):
        PostgresTurnStore(url)


def test_eight_that_open_a_new_database_at_once_make_it_once(postgres: PostgresServer, said: Say) -> None:
    url = postgres.new_database()

    def enter(number: int) -> str:
        store = PostgresTurnStore(url, owner=f"owner {number % 3}")
        try:
            return store.add(said(f"{number}")).text
        finally:
            store.close()

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(enter, range(8))) == [f"{number}" for number in range(8)]
    with psycopg.connect(url) as connection:
        made = connection.execute("SELECT name FROM memory_rag.migrations ORDER BY name").fetchall()
    assert made == [(step.__name__,) for step in STEPS]


def test_an_id_that_no_index_holds_is_refused_by_name(open_store: Open, said: Say) -> None:
    store = open_store()
    noise = "".join(chr(0x4E00 + (i * i * 7919) % 20000) for i in range(1000))

    with pytest.raises(TurnError, match=r"an id is too long .* at most about 2,600 bytes"):
        store.add(said("x", source=Source("chat", noise)))

    assert (len(store), store.last_seq) == (0, 0)


def test_a_name_that_is_no_unicode_is_refused(open_store: Open) -> None:
    with pytest.raises(StoreError, match=r"'\\ud800' in a name can't be stored"):
        open_store().set_fact("name", "\ud800")


def test_a_forked_child_is_told_to_open_its_own(open_store: Open) -> None:
    store = open_store()
    seen, told = os.pipe()

    child = os.fork()
    if not child:
        try:
            len(store)
        except StoreError as error:
            os.write(told, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)

    assert os.read(seen, 1000).decode().endswith("was opened before this process was forked; open it in the child")
    os.close(seen)
    os.close(told)
    assert len(store) == 0


def test_without_the_extra_the_pip_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "memory_rag.postgres.connections", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'memory-rag\[postgres\]'"):
        PostgresTurnStore("postgresql://host/things")


def test_a_server_that_ended_the_connections_answers_again(
    postgres: PostgresServer, postgres_url: str, open_store: Open, said: Say
) -> None:
    """As after a restart or a fail-over: what was acknowledged is there, and after one failed call all goes on."""
    name = f"{os.getpid()} ended"
    store = open_store(url=make_conninfo(postgres_url, application_name=name))

    def read_meanwhile() -> Iterator[Turn]:
        yield said(f"acknowledged, after {len(store)}", turn_id="a")

    store.append(read_meanwhile())
    assert postgres.as_superuser(f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{name}'") == [(2,)]
    postgres.as_superuser(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}'")

    with pytest.raises(StoreError, match=r"was lost .* whatever was acknowledged is stored"):
        store.add(said("not acknowledged"))

    assert store.add(said("again", turn_id="b")).turn_id == "b"
    assert [turn.turn_id for _, turn in store.scan()] == ["a", "b"]
    assert store.last_seq == 2
