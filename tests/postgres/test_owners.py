"""Many owners in one database: nobody sees, changes or removes what is another's, whatever the words are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from memory_rag.errors import StoreError, UnknownTurnError
from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.postgres.words import ServerWords
from memory_rag.turns import Block, Conversation, Source
from tests.postgres.conftest import Open, Say
from tests.postgres_server import PostgresServer

HOSTILE = [
    "'; DROP TABLE memory_rag.turns; --",
    "' OR owner <> '",
    "') ON CONFLICT DO NOTHING; DELETE FROM memory_rag.turns; --",
    "'; SET memory_rag.owner = 'bo'; --",
    "current_setting('memory_rag.owner')",
    "$1 ? ?1 :row %s %(owner)s {owner} \\' \\",
    '"; RESET ROLE; --',
    "$$; SELECT pg_sleep(9) $$",
    "E'\\x27' /* -- */ %",
    "owner",
    " ada",
    "ADA",
    "*",
    "NULL",
    "Åsa 东京 🜲 \u202e",
]


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_are_words_wherever_they_stand(open_store: Open, said: Say, words: str) -> None:
    bo = open_store("bo")
    bo.append([Conversation("c", "Bo's"), said("Bo's words", turn_id="t1", source=Source("chat", "1"))])
    ada = open_store("ada")
    at = datetime(2026, 5, 4, tzinfo=UTC)
    turn = said(
        words,
        turn_id=words,
        conversation_id=words,
        session_id=words,
        speaker=words,
        said_at=at,
        said_at_text=words,
        source=Source(words, words, words),
        blocks=(Block(words, {words: words}, words),),
    )

    appended = ada.append([Conversation(words, words), turn])

    assert appended.turn_ids == (words,)
    (back,) = ada.get([words])
    assert back == ada.add(turn)
    assert (back.text, back.speaker, back.source, back.blocks) == (words, words, turn.source, turn.blocks)
    assert ada.conversations() == [Conversation(words, words)]
    assert [turn.turn_id for _, turn in ada.containing(words)] == [words]
    assert [turn.turn_id for _, turn in ada.scan(conversation_id=words)] == [words]
    assert ada.neighbours(words, before=3, after=3) == ada.newest(words, n=3) == [back]
    assert ada.append([turn], newer=True, whole=True, secrets="redact").already_there == 1
    ada.set_fact(words, words)
    assert ada.fact(words) == words
    assert ada.note_export(source_name=words, account=words, conversation_ids=[words], latest=at) == []
    assert ada.note_export(source_name=words, account=words, conversation_ids=[], latest=at) == [words]
    assert ada.vanished().keys() == ada.findings.of([words]).keys() | {words}
    assert ada.correct(words, text=f"{words}!", speaker=f"{words}!").text == f"{words}!"
    assert ada.earlier_versions(words)[0].text == words
    ada.set_off_record(words)
    assert ada.off_record_since == words
    ada.set_off_record(None)
    assert ada.remove([words]) == 1

    assert len(ada) == 0
    assert [turn.text for _, turn in bo.scan()] == ["Bo's words"]
    assert (bo.last_seq, bo.fact(words), bo.off_record_since) == (1, None, None)


@pytest.mark.parametrize("name", HOSTILE)
def test_an_owner_may_have_any_name_and_sees_its_own(postgres_url: str, said: Say, name: str) -> None:
    with _open(postgres_url, name) as ada, _open(postgres_url, f"{name} ") as other:
        ada.add(said(f"of {name}"))

        assert ([turn.text for _, turn in ada.scan()], len(other)) == ([f"of {name}"], 0)
    with _open(postgres_url, name, create=False) as again:
        assert [turn.text for _, turn in again.scan()] == [f"of {name}"]


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800", "x" * 201])
def test_what_can_be_no_owner_is_refused(postgres_url: str, name: str) -> None:
    with pytest.raises(StoreError, match="can't be an owner; an owner is 1 to 200 characters"):
        PostgresTurnStore(postgres_url, owner=name)


def test_two_owners_have_turns_of_the_same_id_source_and_numbers(open_store: Open, said: Say) -> None:
    stores = [open_store(owner) for owner in ("ada", "bo", "cy")]
    for number, store in enumerate(stores):
        source = Source("chat", "1")
        ids = store.append([said(f"{number}a", source=source), said(f"{number}b", turn_id="b")]).turn_ids
        assert ids == ("t1", "b")
    stores[1].remove(["t1"])
    stores[2].correct("b", text="2B")

    assert [[turn.text for _, turn in store.scan()] for store in stores] == [["0a", "0b"], ["1b"], ["2a", "2B"]]
    assert [store.last_seq for store in stores] == [2, 3, 3]
    assert stores[0].turns_at([1, 2, 3]).keys() == {1, 2}
    with pytest.raises(UnknownTurnError):
        stores[1].get(["t1"])


class TestThePolicy:
    """What the server itself refuses to a statement that no code of ours would send."""

    @pytest.fixture
    def bo_row(self, open_store: Open, said: Say) -> tuple[str, int]:
        """The owner's name and the row of a turn that is Bo's."""
        bo = open_store("bo")
        return bo.owner, bo.row_of(bo.add(said("Bo's words")).turn_id)

    @pytest.fixture
    def as_ada(self, postgres_url: str, bo_row: tuple[str, int]) -> Iterator[psycopg.Connection[Any]]:
        """A connection of the same role, in a transaction of Ada's."""
        with psycopg.connect(postgres_url) as connection:
            connection.execute("SELECT set_config('memory_rag.owner', 'ada', true)")
            yield connection
            connection.rollback()

    def test_no_statement_sees_changes_or_removes_what_is_another_owners(
        self, as_ada: psycopg.Connection[Any], bo_row: tuple[str, int]
    ) -> None:
        owner, _row = bo_row
        for statement in (
            "SELECT 1 FROM memory_rag.turns WHERE owner = %s",
            "SELECT 1 FROM memory_rag.turns WHERE owner = %s OR true",
            "UPDATE memory_rag.turns SET text = 'x' WHERE owner = %s RETURNING 1",
            "DELETE FROM memory_rag.changes WHERE owner = %s RETURNING 1",
            "SELECT 1 FROM memory_rag.numbers WHERE owner = %s",
        ):
            assert as_ada.execute(statement, (owner,)).fetchall() == [], statement

    def test_no_row_is_written_for_another_owner(
        self, as_ada: psycopg.Connection[Any], bo_row: tuple[str, int]
    ) -> None:
        owner, _row = bo_row
        as_ada.execute("INSERT INTO memory_rag.facts (name, value) VALUES ('x', 'y')")
        for statement in (
            "INSERT INTO memory_rag.facts (name, value, owner) VALUES ('z', 'y', %s)",
            "UPDATE memory_rag.facts SET owner = %s",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"), as_ada.transaction():
                as_ada.execute(statement, (owner,))

    def test_without_an_owner_there_is_nothing(self, postgres_url: str, bo_row: tuple[str, int]) -> None:
        with psycopg.connect(postgres_url) as connection:
            assert connection.execute("SELECT count(*) FROM memory_rag.turns").fetchone() == (0,)
            with pytest.raises(psycopg.Error, match=r"memory_rag\.owner"):
                connection.execute("INSERT INTO memory_rag.facts (name, value) VALUES ('x', 'y')")

    def test_the_owner_is_forgotten_with_the_transaction(self, postgres_url: str, open_store: Open, said: Say) -> None:
        """A pooler gives the connection to somebody else then."""
        with psycopg.connect(postgres_url) as connection:
            connection.execute("SELECT set_config('memory_rag.owner', 'ada', true)")
            connection.commit()
            assert connection.execute("SELECT count(*) FROM memory_rag.turns").fetchone() == (0,)


def test_every_table_is_closed_and_every_key_begins_with_the_owner(
    postgres: PostgresServer, postgres_url: str, open_store: Open
) -> None:
    """Keys are B-trees; the indexes of pg_textsearch and pgvector take one column, and it isn't the owner's."""
    ServerWords(open_store().connections, fingerprint="any", by_bm25=True).set_up()
    database = psycopg.conninfo.conninfo_to_dict(postgres_url)["dbname"]
    assert isinstance(database, str)

    open_tables = postgres.as_superuser(
        "SELECT relname FROM pg_class WHERE relnamespace = 'memory_rag'::regnamespace AND relkind IN ('r', 'p') "
        "AND NOT (relrowsecurity AND relforcerowsecurity)",
        database=database,
    )
    other_keys = postgres.as_superuser(
        "SELECT indexrelid::regclass::text FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND "
        "attnum = indkey[0] JOIN pg_class ON pg_class.oid = indrelid JOIN pg_am ON pg_am.oid = relam "
        "WHERE relnamespace = 'memory_rag'::regnamespace AND attname <> 'owner' AND (amname = 'btree' OR indisunique)",
        database=database,
    )

    assert open_tables == [("migrations",)]
    assert other_keys == [("memory_rag.migrations_pkey",)]


@contextmanager
def _open(url: str, owner: str, **given: Any) -> Iterator[PostgresTurnStore]:
    store = PostgresTurnStore(url, owner=owner, **given)
    try:
        yield store
    finally:
        store.close()
