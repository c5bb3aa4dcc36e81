"""The doctor of a server: nothing is wrong where nothing is, and what was changed by hand is found."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
from psycopg.conninfo import conninfo_to_dict

from memory_rag.checkup import Finding
from memory_rag.memory import Memory
from memory_rag.postgres import checks, owner_checks
from memory_rag.postgres.extensions import Extensions
from tests.end_to_end.hashed_words import HashedWords
from tests.postgres_server import PASSWORD, PostgresServer


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    """A database of this test's own."""
    return postgres.new_database()


@contextmanager
def opened(url: str, **settings: Any) -> Iterator[Memory]:
    with Memory.open(url, owner="ada", embedder=HashedWords(), language="en", **settings) as memory:
        yield memory


def check(memory: Memory) -> dict[str, Finding]:
    """Return what the doctor finds, by name; of several of one name the last that isn't well."""
    found: dict[str, Finding] = {}
    for one in memory.doctor().findings:
        if one.name not in found or one.state != "ok":
            found[one.name] = one
    return found


def by_hand(postgres: PostgresServer, url: str, statement: str) -> None:
    """Change a database as its superuser."""
    postgres.as_superuser(statement, database=str(conninfo_to_dict(url)["dbname"]))


def test_a_memory_that_is_well_has_only_good_findings(url: str) -> None:
    with opened(url) as memory:
        memory.add("the kayak is red")
        memory.embed()
        found = check(memory)
        place = memory.doctor().place

    # The tests' server writes nothing through to its disk.
    states = {name: one.state for name, one in found.items() if name != "server"}
    assert states == dict.fromkeys(
        (
            "words",
            "removal",
            "embedder",
            "embedded",
            "numbers",
            "owners",
            "role",
            "private",
            "pgvector",
            "keyword",
            "indexes",
            "partitions",
            "vacuum",
            "pooler",
            "languages",
            "extras",
        ),
        "ok",
    )
    assert found["words"].message == "1 turns, each with the SHA-256 that it was stored with"
    assert found["numbers"].message == "1 change logged without a gap"
    assert found["partitions"].message == "tables are whole, not split by owner"
    assert "finds 1 of 1" in found["indexes"].message
    assert place.endswith("owner 'ada'")


def test_a_text_that_is_not_what_was_stored_fails(postgres: PostgresServer, url: str) -> None:
    with opened(url) as memory:
        memory.add("the kayak is red")
        by_hand(postgres, url, "UPDATE memory_rag.turns SET text = 'the kayak is blue'")

        found = check(memory)["words"]

    assert (found.state, found.message) == ("fail", "turn t1: its text doesn't have the SHA-256 it was stored with")
    assert "pg_basebackup" in found.remedy


def test_a_change_that_is_missing_in_the_log_fails(postgres: PostgresServer, url: str) -> None:
    with opened(url) as memory:
        for text in ("one", "two", "three"):
            memory.add(text)
        by_hand(postgres, url, "DELETE FROM memory_rag.changes WHERE seq = 2")
        gap = check(memory)["numbers"]
        by_hand(postgres, url, "DELETE FROM memory_rag.changes WHERE seq = 3")
        end = check(memory)["numbers"]

    assert (gap.state, end.state) == ("fail", "fail")
    assert gap.message.startswith("2 changes are logged from 1 to 3, and the last number given is 3")
    assert end.message.startswith("1 changes are logged from 1 to 1, and the last number given is 3")


def test_forgetting_leaves_no_gap(url: str) -> None:
    with opened(url) as memory:
        memory.add("one")
        memory.add("two")
        memory.forget(["t2"])

        assert check(memory)["numbers"].message == "3 changes logged without a gap"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ("ALTER TABLE memory_rag.turns DISABLE ROW LEVEL SECURITY", "a stranger sees rows of turns"),
        ("CREATE POLICY wide ON memory_rag.turns USING (true)", "a stranger sees rows of turns"),
        (
            "ALTER TABLE memory_rag.pins NO FORCE ROW LEVEL SECURITY",
            "row-level security is off, or not forced, for pins",
        ),
        ("CREATE POLICY wide ON memory_rag.pins USING (owner = 'bo')", "a further policy lets more in to pins"),
        ("DROP POLICY of_owner ON memory_rag.pins", "the policy is another than ours, or gone, of pins"),
        (
            "ALTER POLICY of_owner ON memory_rag.pins WITH CHECK (true)",
            "the policy is another than ours, or gone, of pins",
        ),
    ],
)
def test_a_table_that_is_open_to_others_fails(postgres: PostgresServer, url: str, changed: str, message: str) -> None:
    with opened(url) as memory:
        memory.add("the kayak is red")
        by_hand(postgres, url, changed)

        found = check(memory)["owners"]

        assert (found.state, found.message) == ("fail", message)
        assert "FORCE ROW LEVEL SECURITY" in found.remedy
        assert [turn.text for turn in memory.turns()] == ["the kayak is red"]


def test_looking_as_a_stranger_ends_with_the_look(url: str) -> None:
    with opened(url) as memory:
        memory.add("the kayak is red")

        assert owner_checks.others_see_nothing(memory.store.connections).state == "ok"
        assert len(memory) == 1


def test_a_role_that_can_become_one_that_sees_all_fails(postgres: PostgresServer, url: str) -> None:
    given = conninfo_to_dict(url)
    mighty, climber = (f"{name}_{os.getpid()}" for name in ("mighty", "climber"))
    by_hand(postgres, url, f"CREATE ROLE {mighty} BYPASSRLS")
    by_hand(postgres, url, f"CREATE ROLE {climber} LOGIN PASSWORD '{PASSWORD}' IN ROLE {mighty}, {given['user']}")
    try:
        with opened(url.replace(str(given["user"]), climber, 1)) as memory:
            found = check(memory)["role"]
    finally:
        by_hand(postgres, url, f"DROP OWNED BY {climber} CASCADE")
        by_hand(postgres, url, f"DROP ROLE {climber}, {mighty}")

    assert (found.state, found.message) == ("fail", f"{climber} is a member of {mighty}, for whom no policy holds")


def test_an_index_that_is_not_valid_fails_with_what_makes_it_anew(postgres: PostgresServer, url: str) -> None:
    with opened(url) as memory:
        by_hand(
            postgres,
            url,
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'memory_rag.turns_by_id'::regclass",
        )
        found = check(memory)["indexes"]

    assert found == Finding(
        "indexes",
        "fail",
        "not valid, and not used by the server: memory_rag.turns_by_id",
        "make each anew with: REINDEX INDEX memory_rag.turns_by_id",
    )


def test_an_index_that_lost_turns_fails(postgres: PostgresServer, url: str) -> None:
    with opened(url) as memory:
        memory.add("the kayak is red")
        memory.embed()
        hnsw = (
            "SELECT indexrelid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam"
        )
        by_hand(
            postgres, url, f"UPDATE pg_index SET indisready = false WHERE indexrelid IN ({hnsw} WHERE amname = 'hnsw')"
        )
        for words in ("tax is due in May", "the roof leaks", "bread at noon", "a train to Oslo"):
            memory.add(words)
        memory.embed()
        by_hand(
            postgres, url, f"UPDATE pg_index SET indisready = true WHERE indexrelid IN ({hnsw} WHERE amname = 'hnsw')"
        )

        found = check(memory)["indexes"]
        remedy = found.remedy.partition("after: ")[2]
        by_hand(postgres, url, remedy)
    with opened(url) as memory:
        memory.search("kayak")
        mended = check(memory)["indexes"]

    assert found.state == "fail"
    assert found.message.endswith("finds 1 of 5 turns by what is said in them")
    assert remedy.startswith("DROP INDEX memory_rag.vectors_of_")
    assert (mended.state, mended.message.count("finds 5 of 5")) == ("ok", 1)


def test_partitions_are_counted(url: str) -> None:
    with opened(url, partitions=2) as memory:
        found = check(memory)

    assert found["partitions"] == Finding("partitions", "ok", "every table is split by owner into 2")
    assert found["owners"].state == "ok"


def test_which_engine_names_candidates_is_told_and_why(url: str) -> None:
    alone = Extensions({"vector": "0.8.1"}, ("public",))
    both = Extensions({"vector": "0.8.1", "pg_textsearch": "1.0.0"}, ("public",))
    with opened(url) as memory:

        def told(extensions: Extensions, *, is_held: bool) -> Finding:
            connections = memory.store.connections
            return checks.keyword_engine(connections, extensions, is_held=is_held, resident=5000)

        assert told(both, is_held=False) == Finding(
            "keyword", "ok", "candidates are named by pg_textsearch 1.0.0 by BM25"
        )
        small, large = told(alone, is_held=True), told(alone, is_held=False)

    assert (small.state, large.state) == ("ok", "warn")
    assert small.message.startswith("BM25 of this process, which holds up to 5,000 turns; for more, ")
    assert large.message == (
        "candidates are named by PostgreSQL's own tsvector by ts_rank_cd, which goes through all of the owner's turns, "
        "since this database has no pg_textsearch"
    )
    assert "CREATE EXTENSION pg_textsearch" in large.remedy


def test_a_memory_too_large_to_be_held_is_checked_too(url: str) -> None:
    with opened(url) as memory:
        for number in range(5):
            memory.add(f"kayak number {number} is red")
        memory.embed()
    with opened(url, resident=2) as memory:
        assert memory.search("kayak number 3").hits
        found = check(memory)

    assert {one.state for name, one in found.items() if name != "server"} == {"ok"}
    assert found["keyword"].message.startswith("candidates are named by ")
    assert found["embedded"].message == "every turn that is searched has a vector"


def test_turns_without_a_vector_are_told(url: str) -> None:
    with opened(url, pending_limit=1) as memory:
        memory.add("one")
        memory.add("two")

        assert check(memory)["embedded"].message == "2 turns have no vector yet and are found by keyword only"


@dataclass
class BehindAPooler:
    """A connection that was told of another process than the one that answers, or of the same."""

    told_pid: int
    answers: int = 7

    def reading(self) -> BehindAPooler:
        return self

    def __enter__(self) -> BehindAPooler:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def execute(self, statement: str) -> BehindAPooler:
        assert statement == "SELECT pg_backend_pid()"
        return self

    def fetchone(self) -> tuple[int]:
        return (self.answers,)


def test_a_pooler_is_told_with_what_it_has_to_keep() -> None:
    behind: Any = BehindAPooler(told_pid=3)
    direct: Any = BehindAPooler(told_pid=7)

    assert "max_prepared_statements has to be over 0" in checks.pooler(behind).message
    assert checks.pooler(direct).message == "no pooler stands between"


def test_a_notebooks_cards_name_the_server_and_the_owner(url: str) -> None:
    with opened(url) as memory:
        memory.add("the kayak is red")
        place = memory.place.replace("'", "&#x27;")
        cards = memory.stats()._repr_html_(), memory.doctor()._repr_html_()

    assert f"in {place}: " in cards[0]
    assert place in cards[1]
    assert all(PASSWORD not in card and quote(PASSWORD) not in card for card in cards)
