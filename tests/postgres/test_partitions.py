"""Tables split by a hash of the owner: nothing but their storage is another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.turns import Conversation, Source
from tests.postgres.conftest import Say
from tests.postgres.test_owners_beside import TABLES, Beside
from tests.postgres_server import PostgresServer

OWNERS = ["ada", "bo", "cy", "Åsa", "东京", "x" * 200]


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_database()


@pytest.fixture
def stores(url: str) -> Iterator[list[PostgresTurnStore]]:
    stores = [PostgresTurnStore(url, owner=owner, n_partitions=4) for owner in OWNERS]
    yield stores
    for store in stores:
        store.close()


def test_each_owner_has_its_own_words_whichever_partition_holds_them(
    stores: list[PostgresTurnStore], said: Say, url: str
) -> None:
    for store in stores:
        source = Source("chat", "1", "{}")
        turns = [said(f"of {store.owner}", source=source), said("b"), said("c")]
        assert store.append([Conversation("c", store.owner), *turns]).turn_ids == ("t1", "t2", "t3")
        assert store.append([said("again", source=source)]).differing == ("t1",)
        store.correct("t2", text="B")
        store.remove(["t3"])

    for store in stores:
        assert [(row, turn.text) for row, turn in store.scan()] == [(1, f"of {store.owner}"), (2, "B")]
        assert store.conversations() == [Conversation("c", store.owner)]
        assert [change.seq for change in store.changes_since(0)] == [1, 2, 3, 4, 5]
        assert store.add(said("d")).turn_id == "t4"
        assert store.check() == []
    with psycopg.connect(url) as connection:
        parts = set()
        for owner in OWNERS:
            connection.execute("SELECT set_config('memory_rag.owner', %s, true)", (owner,))
            found = connection.execute("SELECT DISTINCT tableoid::regclass::text FROM memory_rag.turns").fetchall()
            assert len(found) == 1
            parts |= set(found)
    assert len(parts) > 1


def test_a_partition_named_by_itself_is_closed_too(stores: list[PostgresTurnStore], said: Say, url: str) -> None:
    for store in stores:
        store.add(said("x"))

    with psycopg.connect(url) as connection:
        for number in range(4):
            table = f"memory_rag.turns_{number}"
            assert connection.execute(psycopg.sql.SQL("SELECT count(*) FROM {}").format(_name(table))).fetchone() == (
                0,
            )


def test_what_is_kept_beside_turns_lies_in_a_partition_of_its_owner_and_goes_with_them(
    stores: list[PostgresTurnStore], said: Say, url: str, tmp_path: Path
) -> None:
    file = tmp_path / "rules.md"
    file.write_text("The rules of the house.", encoding="utf-8")
    for store in stores:
        Beside(store).keep(f"of {store.owner}", file, said)

    with psycopg.connect(url) as connection:
        for table in TABLES:
            n_rows = f"SELECT count(*) FROM {{}} WHERE owner = {OWNERS[0]!r}"
            parts = [_name(f"memory_rag.{table}_{number}") for number in range(4)]
            assert [connection.execute(psycopg.sql.SQL(n_rows).format(part)).fetchone() for part in parts] == [(0,)] * 4
            connection.execute("SELECT set_config('memory_rag.owner', %s, true)", (OWNERS[0],))
            found = [connection.execute(psycopg.sql.SQL(n_rows).format(part)).fetchone() for part in parts]
            assert sorted(found)[:3] == [(0,)] * 3
            assert max(found) > (0,)
            connection.rollback()
    for store in stores:
        beside, words = Beside(store), f"of {store.owner}"
        assert beside.told(words)[0] == [("p1", words, words)]
        store.remove([words])
        assert (beside.talks.numbers(), beside.windows.numbers(words), beside.blocks.of([words])) == ([], set(), {})


def test_a_statement_reads_only_the_partition_of_its_owner(stores: list[PostgresTurnStore], url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('memory_rag.owner', 'ada', true)")
        plan = connection.execute("EXPLAIN SELECT text FROM memory_rag.turns WHERE turn_id = 't1'").fetchall()

    assert [line.strip() for (line,) in plan if "Subplans Removed" in line] == ["Subplans Removed: 3"]


def _name(table: str) -> psycopg.sql.Identifier:
    return psycopg.sql.Identifier(*table.split("."))
