"""What the page about servers says of SQL and of dumps is so."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memory_rag.memory import Memory
from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.turns import Turn
from tests.postgres.conftest import Say
from tests.postgres_nodes import postgres_nodes, program
from tests.postgres_server import PostgresServer

PAGE = (Path(__file__).parents[2] / "docs" / "postgres.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
BLOCKS = re.findall(r"^```sql\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_every_table_is_distributed_by_its_owner_beside_the_first(postgres: PostgresServer, postgres_url: str) -> None:
    PostgresTurnStore(postgres_url).close()
    (making,) = [block for block in BLOCKS if "create_distributed_table" in block]

    with psycopg.connect(postgres_url) as connection:
        made = [str(statement) for (statement,) in connection.execute(making.encode())]
        owned = connection.execute(
            "SELECT table_name FROM information_schema.columns WHERE table_schema = 'memory_rag' "
            "AND column_name = 'owner' AND table_name IN (SELECT relname FROM pg_class WHERE relkind = 'r')"
        ).fetchall()

    named = [re.fullmatch(r"SELECT create_distributed_table\('memory_rag\.(\w+)', 'owner', .*\);", one) for one in made]
    assert sorted(found[1] for found in named if found) == sorted(table for (table,) in owned)
    assert len(made) == len(owned) > 20
    quoted = re.findall(r"`(SELECT create_distributed_table\([^`]*;)`", PAGE)
    assert quoted == made[:2]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_opens_a_memory(postgres_url: str, number: int) -> None:
    code, n_urls = re.subn(r'"postgresql://[^"]*"', repr(postgres_url), EXAMPLES[number])
    names: dict[str, object] = {}

    exec(compile(code, "postgres.md", "exec"), {"Memory": Memory}, names)

    assert n_urls == 1 + ("replica=" in code)
    memory = names["memory"]
    assert isinstance(memory, Memory)
    assert memory.settings.owner == "ada"
    memory.close()


@pytest.mark.parametrize("partitions", [0, 2])
def test_a_key_of_every_table_begins_with_the_owner(postgres: PostgresServer, partitions: int) -> None:
    """As a table that is distributed by it needs; a unique key without it is refused there."""
    url = postgres.new_database()
    PostgresTurnStore(url, n_partitions=partitions).close()

    with psycopg.connect(url) as connection:
        keys = connection.execute(
            "SELECT indexrelid::regclass::text, attname FROM pg_index JOIN pg_attribute "
            "ON attrelid = indrelid AND attnum = indkey[0] JOIN pg_class ON pg_class.oid = indrelid "
            "WHERE relnamespace = 'memory_rag'::regnamespace AND indisunique AND relname <> 'migrations'"
        ).fetchall()

    assert len(keys) > 20
    assert [key for key in keys if key[1] != "owner"] == []


@pytest.mark.slow
@pytest.mark.needs_postgres
def test_a_dump_holds_every_owner_and_is_made_by_a_superuser(tmp_path: Path, said: Say) -> None:
    with postgres_nodes() as nodes:
        node = nodes.primary()
        url = node.server.new_database()
        stored: dict[str, list[Turn]] = {}
        for owner in ("ada", "bo"):
            store = PostgresTurnStore(url, owner=owner)
            store.append([said(f"of {owner}, {number} ö\0") for number in range(5)])
            stored[owner] = [turn for _row, turn in store.scan()]
            store.close()
        database = str(conninfo_to_dict(url)["dbname"])
        dump = [program("pg_dump"), "--file", str(tmp_path / "dump.sql"), "--dbname"]

        as_owner = subprocess.run([*dump, url], capture_output=True, text=True, check=False)
        subprocess.run([*dump, make_conninfo(node.superuser, dbname=database)], check=True)

        assert as_owner.returncode != 0
        assert "row-level security" in as_owner.stderr
        again = node.server.new_database()
        there = make_conninfo(node.superuser, dbname=str(conninfo_to_dict(again)["dbname"]))
        restore = ["--quiet", "--set", "ON_ERROR_STOP=1", "--file", str(tmp_path / "dump.sql"), "--dbname", there]
        subprocess.run([program("psql"), *restore], check=True, capture_output=True)
        for owner, turns in stored.items():
            store = PostgresTurnStore(again, owner=owner, create=False)
            assert [turn for _row, turn in store.scan()] == turns
            assert store.add(said("goes on")).turn_id == "t6"
            store.close()
