"""``memory-rag migrate`` to a server and back, each owner's memory apart, and no password in what it tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.memory import Memory
from tests.interfaces.command_line import CommandLine
from tests.postgres_server import PASSWORD, PostgresServer


@pytest.fixture
def memory_rag(tmp_path: Path) -> CommandLine:
    home = tmp_path / "home"
    with Memory.open(home / "main", embedder="none", language="en") as memory:
        memory.add("The price is 49 euro.", turn_id="price")
    return CommandLine(home, {"MEMORY_RAG_HOME": str(home), "MEMORY_RAG_EMBEDDER": "none", "COLUMNS": "80"})


def test_a_memory_goes_to_a_server_to_another_owner_and_back(memory_rag: CommandLine, postgres_url: str) -> None:
    there = memory_rag("migrate", "main", postgres_url, "--owner", "ebba of the command")
    given = ("--owner", "ebba of the command", "--to-owner", "bo of the command")
    across = memory_rag("migrate", postgres_url, postgres_url, *given)
    back = memory_rag("migrate", postgres_url, "again", "--owner", "bo of the command", "--json")

    assert [there.code, across.code, back.code] == [0, 0, 0], (there, across, back)
    assert there.lines[2].endswith("owner 'ebba of the command'")
    assert across.lines[1].endswith("owner 'ebba of the command'")
    assert across.lines[2].endswith("owner 'bo of the command'")
    assert back.json["equal"]
    assert memory_rag("export", "--memory", "again").out == memory_rag("export").out
    told = "".join(one.out + one.err for one in (there, across, back))
    assert PASSWORD not in told
    assert "only%20for" not in told


def test_one_owner_is_not_moved_onto_the_same(memory_rag: CommandLine, postgres_url: str) -> None:
    memory_rag("migrate", "main", postgres_url, "--owner", "same")
    refused = memory_rag("migrate", postgres_url, postgres_url, "--owner", "same")

    assert refused.code == 1
    assert "source and target are both postgresql://" in refused.err


def test_a_memory_that_is_not_on_the_server_is_an_error(memory_rag: CommandLine, postgres_url: str) -> None:
    refused = memory_rag("migrate", postgres_url, "again", "--owner", "nobody here")

    assert refused.code == 1
    assert "owner 'nobody here', holds no memory" in refused.err
    assert not (memory_rag.home / "again").exists()


def test_a_memory_goes_into_tables_that_are_split(memory_rag: CommandLine, postgres: PostgresServer) -> None:
    url = postgres.new_database()
    split = CommandLine(memory_rag.home, {**memory_rag.environment, "MEMORY_RAG_PARTITIONS": "3"})

    there = split("migrate", "main", url, "--owner", "ebba")
    back = split("migrate", url, "again", "--owner", "ebba")

    assert (there.code, back.code) == (0, 0), (there, back)
    parts = postgres.as_superuser(
        "SELECT count(*) FROM pg_inherits WHERE inhparent = 'memory_rag.turns'::regclass", database=postgres.made[-1]
    )
    assert parts == [(3,)]
