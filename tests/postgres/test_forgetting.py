"""What is forgotten on a server is in no row and index any more, and what nobody can prove there is told plainly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_rag.memory import Memory
from memory_rag.postgres.turn_store import PostgresTurnStore
from memory_rag.privacy.retention import Scope
from memory_rag.store.correcting import Correction
from memory_rag.turns import Source
from tests.end_to_end.hashed_words import HashedWords
from tests.interfaces.command_line import CommandLine
from tests.postgres.conftest import Say
from tests.postgres_server import PostgresServer
from tests.privacy.full_memory import CANARY, SECRET, fill, turn_id_of

WORDS = (CANARY, "nordanstig", "zebulonius", "marmalade", "öndagsmorgonen")
FEW = 3
"""Turns that a process may hold; of a memory with more, the server has the words."""
OpenMemory = Callable[..., Memory]


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    """A database of this test's own: its files are looked at."""
    return postgres.new_database()


@pytest.fixture
def open_memory(url: str) -> Iterator[OpenMemory]:
    memories: list[Memory] = []

    def opened(owner: str = "ada", **given: Any) -> Memory:
        named = {"embedder": HashedWords(dim=256, name="hashed-words"), "language": "en,sv", **given}
        memories.append(Memory.open(url, owner=owner, **named))
        return memories[-1]

    yield opened
    for memory in memories:
        memory.close()


def every_value(postgres: PostgresServer) -> str:
    """Return every row of every table as a superuser sees it, bytes in hexadecimal."""
    database = postgres.made[-1]
    tables = postgres.as_superuser("SELECT tablename FROM pg_tables WHERE schemaname = 'memory_rag'", database=database)
    rows = [
        row
        for (table,) in tables
        for (row,) in postgres.as_superuser(f'SELECT t::text FROM memory_rag."{table}" AS t', database=database)
    ]
    return "\n".join(rows).lower()


def words_in(text: str) -> list[str]:
    """Return which of the forgotten words a text has, as they are or in hexadecimal."""
    spelled = {word: (word, *(one.encode().hex() for one in (word, word.capitalize()))) for word in WORDS}
    return [word for word in WORDS if any(one in text for one in spelled[word])]


def files_with(postgres: PostgresServer, wanted: list[bytes]) -> list[str]:
    """Return the files of a database's tables and indexes that hold any of some bytes, whatever case their ASCII is."""
    database = postgres.made[-1]
    (place,) = postgres.as_superuser("SHOW data_directory")[0]
    (number,) = postgres.as_superuser(
        "SELECT oid FROM pg_database WHERE datname = current_database()", database=database
    )[0]
    folder = Path(place) / "base" / str(number)
    if not folder.is_dir():
        pytest.skip("the server of MEMORY_RAG_TEST_PG keeps its files elsewhere")
    postgres.as_superuser("CHECKPOINT")
    found = []
    for path in folder.iterdir():
        data = path.read_bytes()
        lowered = data.lower()
        if any(one in data or one in lowered for one in wanted):
            found.append(path.name)
    return found


def traces_of(memory: Memory) -> list[bytes]:
    """Return the bytes of the secret's words and vector, as PostgreSQL's files and the indexes' have them."""
    embedder = HashedWords(dim=256, name="hashed-words")
    (first, *_rest) = embedder.passages(SECRET)
    vector = embedder.embed_turns([first.of(SECRET)])[0]
    terms = [memory.indexes.analyzer.terms(word)[0] for word in (CANARY, "Nordanstigsbron", "Zebulonius")]
    said = [word.encode() for word in WORDS]
    return [
        *said,
        *(term.encode().hex().encode() for term in terms),
        vector.tobytes(),
        vector.astype(np.float16).tobytes(),
    ]


def test_a_forgotten_turn_is_in_no_row_any_more_and_its_proof_says_what_it_proves(
    open_memory: OpenMemory, postgres: PostgresServer
) -> None:
    memory = fill(open_memory())
    assert words_in(every_value(postgres)) == list(WORDS)

    done = memory.forgetting.forget([turn_id_of(memory, SECRET)], prove=True)

    assert (done.pending, done.is_done) == ("", True)
    assert words_in(every_value(postgres)) == []
    proof = done.proof
    assert proof is not None
    assert proof.holds
    told = proof.lines()
    assert told[0].startswith("looked at every byte of ")
    assert " rows (" in told[0]
    assert told[0].endswith("owner 'ada'")
    assert any(line.startswith("VACUUM took the dead rows out of ") for line in told)
    assert not any("written anew" in line for line in proof.done)
    beyond = " ".join(proof.beyond)
    assert all(what in beyond for what in ("free space", "--rewrite", "write-ahead log", "backups", "file system"))
    assert proof.as_json()["rows"] == proof.n_looked_at > 100
    assert proof.as_json()["not_looked_at"] == list(proof.beyond)


@pytest.mark.parametrize("resident", [10_000, FEW], ids=["held", "large"])
def test_rewritten_files_hold_no_byte_of_it(open_memory: OpenMemory, postgres: PostgresServer, resident: int) -> None:
    fill(open_memory()).close()
    memory, other = open_memory(resident=resident), open_memory(resident=resident)
    found = other.search("plant tomatoes").turn_ids
    traces = traces_of(memory)
    terms = [memory.indexes.analyzer.terms("marmalade")[0].encode().hex().encode()]
    assert bool(files_with(postgres, terms)) is (resident == FEW)
    assert files_with(postgres, traces)

    done = memory.forgetting.forget([turn_id_of(memory, SECRET)], prove=True, rewrite=True)

    assert done.is_done
    assert files_with(postgres, traces) == []
    assert done.proof is not None
    assert any("were written anew" in line for line in done.proof.done)
    assert "free space" not in " ".join(done.proof.beyond)
    assert "write-ahead log" in " ".join(done.proof.beyond)
    assert other.search("plant tomatoes").turn_ids == found


def test_terms_that_the_index_of_words_keeps_are_told(open_memory: OpenMemory, postgres: PostgresServer) -> None:
    if not postgres.as_superuser("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_textsearch'"):
        pytest.skip("the server of MEMORY_RAG_TEST_PG has no pg_textsearch")
    fill(open_memory()).close()
    memory = open_memory(resident=FEW)
    memory.search("marmalade")

    done = memory.forgetting.forget([turn_id_of(memory, SECRET)], prove=True)

    assert done.proof is not None
    assert "pages of the index of words" in " ".join(done.proof.beyond)
    assert words_in(every_value(postgres)) == []


def test_what_was_forgotten_earlier_goes_from_the_files_later(
    open_memory: OpenMemory, postgres: PostgresServer
) -> None:
    memory = fill(open_memory())
    traces = traces_of(memory)
    memory.forget([turn_id_of(memory, SECRET)])

    assert memory.forgetting.rewrite() == ""

    assert files_with(postgres, traces) == []


PLANTED = {
    "pins.text": "INSERT INTO pins (text, pinned_at) VALUES (convert_to('nordanstigsbron', 'UTF8'), 0)",
    "facts.value": "INSERT INTO facts VALUES ('export of chat me', '{\"conversations\": [\"zqcanary7731\"]}')",
    "events.details": "INSERT INTO events (kind, happened_at, details) "
    "VALUES ('warning', 0, convert_to('{\"reason\": \"zebulonius\"}', 'UTF8'))",
    "summary_lines.text": "UPDATE summary_lines SET text = convert_to('marmalade', 'UTF8')",
    "words.terms": f"INSERT INTO words VALUES (1, 7, 0, 'x{'söndagsmorgon'.encode().hex()} x{b'garden'.hex()}')",
    "talk_vectors.vectors": "INSERT INTO talk_vectors VALUES (7, 'any', convert_to('söndagsmorgonen', 'UTF8'))",
}


def test_the_proof_finds_a_word_in_any_table_and_a_vector_of_another_turn(open_memory: OpenMemory) -> None:
    memory = fill(open_memory())
    secret = turn_id_of(memory, SECRET)
    sought = memory.forgetting.look_for([secret])
    (vector, *_), _stay = sought.vectors[0]
    memory.forget([secret])
    assert memory.forgetting.prove(sought).holds

    with memory.store.connections.writing() as connection:
        for statement in PLANTED.values():
            assert connection.execute(statement).rowcount > 0
        connection.execute("UPDATE vectors SET embedding = ? WHERE row = 1", (vector,))
    proof = memory.forgetting.prove(sought)

    found = {trace.file.partition(",")[0] for trace in proof.found}
    assert found == {*PLANTED, "vectors.embedding"}
    assert not proof.holds
    assert proof.lines()[-len(proof.beyond) - 1] == "this proves nothing: see above"


def test_dead_rows_stay_pending_while_another_transaction_sees_them(open_memory: OpenMemory) -> None:
    memory, reader = fill(open_memory()), open_memory()
    with reader.store.connections.snapshot() as snapshot:
        assert next(snapshot.rows("SELECT count(*) FROM turns")) == (26,)

        done = memory.forgetting.forget([turn_id_of(memory, SECRET)], prove=True, timeout_s=0)

        assert "another transaction still sees an older state" in done.pending
        assert not done.is_done
        assert done.proof is None
        assert memory.forgetting.is_unfinished
        unfinished = memory.forgetting.prove(memory.forgetting.look_for(["t1"]))
        assert any("dead rows" in line for line in unfinished.unreadable)
        assert not unfinished.holds

    assert memory.forgetting.finish(timeout_s=10) == ""
    assert not memory.forgetting.is_unfinished


def test_what_a_stopped_process_removed_is_vacuumed_by_the_next_opening(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    memory.add("short lived", turn_id="a")
    memory.store.remove(["a"])
    memory.close()

    again = open_memory(embedder="none")

    assert not again.forgetting.is_unfinished


def test_a_role_that_does_not_own_the_tables_is_told_so(
    open_memory: OpenMemory, url: str, postgres: PostgresServer
) -> None:
    open_memory(embedder="none").add("words")
    database, guest = postgres.made[-1], "memory_rag_test_guest"
    for statement in (
        f"DROP ROLE IF EXISTS {guest}",
        f"CREATE ROLE {guest} LOGIN PASSWORD 'guest'",
        f"GRANT USAGE ON SCHEMA memory_rag TO {guest}",
        f"GRANT ALL ON ALL TABLES IN SCHEMA memory_rag TO {guest}",
    ):
        postgres.as_superuser(statement, database=database)
    if postgres.as_superuser("SELECT current_setting('server_version_num')::int >= 170000") == [(True,)]:
        postgres.as_superuser(f"REVOKE MAINTAIN ON ALL TABLES IN SCHEMA memory_rag FROM {guest}", database=database)
    try:
        store = PostgresTurnStore(url.replace("memory_rag_test:only%20for%20tests@", f"{guest}:guest@"), owner="ada")
        why = store.eraser.overwrite(timeout_s=0)
        store.close()
    finally:
        postgres.as_superuser(f"DROP OWNED BY {guest}", database=database)
        postgres.as_superuser(f"DROP ROLE {guest}")

    assert why.startswith("VACUUM was refused (permission denied to vacuum")
    assert "let the role that owns the tables run: VACUUM (INDEX_CLEANUP ON, ANALYZE) memory_rag." in why


def test_a_server_that_counts_no_dead_rows_is_not_believed(
    open_memory: OpenMemory, url: str, postgres: PostgresServer
) -> None:
    open_memory(embedder="none").add("words")
    postgres.as_superuser(f'ALTER DATABASE "{postgres.made[-1]}" SET track_counts = off')

    memory = open_memory(embedder="none")
    done = memory.forgetting.forget(["t1"], prove=True)

    assert done.pending.startswith("the server counts no dead rows (track_counts is off)")
    assert not done.is_done


def test_other_owners_keep_the_same_words(open_memory: OpenMemory) -> None:
    ada, bo = open_memory("ada", embedder="none"), open_memory("bo", embedder="none")
    for memory in (ada, bo):
        memory.add(SECRET, turn_id="secret")

    done = ada.forgetting.forget(["secret"], prove=True)

    assert done.is_done
    assert len(ada) == 0
    assert bo.get("secret").text == SECRET
    assert bo.search("marmalade").turn_ids == ("secret",)


def test_only_the_part_of_the_tables_that_the_owner_is_in_is_vacuumed(
    open_memory: OpenMemory, postgres: PostgresServer
) -> None:
    memory = open_memory(embedder="none", partitions=4)
    memory.add("words", turn_id="a")

    assert memory.forgetting.forget(["a"], prove=True).is_done

    counts = postgres.as_superuser(
        "SELECT relname, vacuum_count FROM pg_stat_all_tables WHERE relname ~ '^(turns|changes)_[0-3]$'",
        database=postgres.made[-1],
    )
    vacuumed = {name for name, n in counts if n}
    (number,) = {name.rpartition("_")[2] for name in vacuumed}
    assert vacuumed == {f"turns_{number}", f"changes_{number}"}


def test_a_correction_that_erases_leaves_nothing_of_what_was_wrong(
    open_memory: OpenMemory, postgres: PostgresServer
) -> None:
    memory = fill(open_memory())
    secret = turn_id_of(memory, SECRET)

    turn, done = memory.forgetting.correct(secret, Correction(text="My code is none of yours."), prove=True)

    assert (turn.text, done.is_done) == ("My code is none of yours.", True)
    assert words_in(every_value(postgres)) == []
    assert memory.get(secret).text == "My code is none of yours."
    assert memory.search("code none").turn_ids[0] == secret


def test_what_is_due_goes_and_does_not_come_back(open_memory: OpenMemory, said: Say) -> None:
    now = datetime(2026, 6, 1, tzinfo=UTC)
    memory = open_memory(embedder="none", clock=lambda: now)
    old = said("old", turn_id="old", said_at=now - timedelta(days=40), source=Source("chat", "1"))
    memory.add_many([old, said("new", turn_id="new", said_at=now, source=Source("chat", "2"))])
    memory.retention.set(Scope.MEMORY, days=30)

    done = memory.retention.apply()

    assert done is not None
    assert (done.n_turns, done.pending) == (1, "")
    assert [turn.turn_id for turn in memory.turns()] == ["new"]
    assert memory.add_many([old]).forgotten == ("1",)


def test_the_command_line_tells_the_proof_and_what_lies_beyond_it(
    open_memory: OpenMemory, url: str, tmp_path: Path
) -> None:
    memory = open_memory(embedder="none")
    memory.add(SECRET, turn_id="secret")
    memory.add("stays", turn_id="other")
    memory_rag = CommandLine(tmp_path, {"MEMORY_RAG_HOME": str(tmp_path), "MEMORY_RAG_EMBEDDER": "none"})
    place = ("--memory", url, "--owner", "ada")

    forgot = memory_rag("forget", "secret", "--yes", "--prove", *place)
    rewritten = memory_rag("forget", "--rewrite", *place)

    assert (forgot.code, rewritten.code) == (0, 0)
    assert forgot.lines[0] == "forgot 1 turn"
    assert any(line.startswith("VACUUM took the dead rows out of") for line in forgot.lines)
    assert "  not looked at: backups of the server, and its own log of statements" in forgot.lines
    assert "memory-rag forget --rewrite" in forgot.err
    assert rewritten.out == "the files were written anew; nothing of what was forgotten earlier is in them\n"
    assert "only for tests" not in forgot.out + forgot.err
