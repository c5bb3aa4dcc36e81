"""The file is cleaned while others have it open, and nothing that they have in memory brings anything back."""

from __future__ import annotations

import math
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from memory_rag.store.connections import Connection
from memory_rag.store.remnants import Layout, erase, remnants
from memory_rag.store.sqlite_eraser import READERS, SqliteEraser
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.turns import Turn
from tests.said import said
from tests.store.page_map import leftovers, unused


@contextmanager
def opened(folder: Path) -> Iterator[SqliteTurnStore]:
    store = SqliteTurnStore(folder)
    try:
        yield store
    finally:
        store.close()


def fill(store: SqliteTurnStore) -> list[str]:
    """Add turns and lengthen many, so that cells are shared out anew among pages and leave copies behind."""
    chance = random.Random(3)
    ids = store.append(said(f"{number} ".ljust(60, "x")) for number in range(500)).turn_ids
    for turn_id in chance.sample(ids, 200):
        store.correct(turn_id, text="y" * chance.randint(200, 900), keep_old=False)
    return list(ids)


def fold(store: SqliteTurnStore) -> None:
    with store.connections.reading() as connection:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def has_words(path: Path) -> bool:
    """Whether any of the texts lies where nothing is; places of cells that were moved may."""
    return any(b"xxx" in data or b"yyy" in data for _kind, data in unused(path))


class ReadInBetween(SqliteEraser):
    """Erases while another reads the whole file just when the log is folded."""

    def __init__(self, store: SqliteTurnStore, other: SqliteTurnStore) -> None:
        super().__init__(store.connections)
        self._other = other

    def _is_folded(self, connection: Connection) -> bool:
        is_folded = super()._is_folded(connection)
        with self._other.connections.reading() as connection:
            connection.execute("SELECT sum(length(text)) FROM turns").fetchone()
        return is_folded


class AddInBetween(SqliteEraser):
    """Erases while another thread adds a turn just when the log is folded, if it may."""

    def __init__(self, store: SqliteTurnStore, adder: ThreadPoolExecutor) -> None:
        super().__init__(store.connections)
        self._store = store
        self._adder = adder
        self.added: list[Future[Turn]] = []

    def _is_folded(self, connection: Connection) -> bool:
        is_folded = super()._is_folded(connection)
        self.added.append(self._adder.submit(self._store.add, said("meanwhile")))
        wait(self.added, timeout=0.1)
        return is_folded


def write_in_every_page(store: SqliteTurnStore) -> None:
    """Change a number in each row, in its place: the rest of a page is written as it is in memory."""
    with store.connections.writing() as connection:
        connection.execute("UPDATE turns SET recalled = 1 - recalled")
    fold(store)


def test_pages_that_another_connection_has_in_memory_do_not_come_back_as_they_were(tmp_path: Path) -> None:
    with opened(tmp_path) as store, opened(tmp_path) as other:
        fill(store)
        fold(store)
        assert has_words(store.path)

        assert ReadInBetween(store, other).overwrite(timeout_s=5) == ""
        write_in_every_page(other)

        assert not has_words(store.path)


def test_what_was_written_over_by_one_who_was_killed_before_others_heard_of_it_does_not_come_back(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as store, opened(tmp_path) as other:
        fill(store)
        fold(store)
        with other.connections.reading() as connection:
            connection.execute("SELECT sum(length(text)) FROM turns").fetchone()
        with store.path.open("rb+") as file:
            erase(file.fileno(), remnants(file.fileno(), Layout.of(file.fileno())))

        assert store.eraser.overwrite(timeout_s=5) == ""
        write_in_every_page(other)

        assert not has_words(store.path)


WRITES = """
import sys
from pathlib import Path
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.turns import Turn
from tests.said import said
store = SqliteTurnStore(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(1, 10**9):
    store.add(said(f"from elsewhere, number {number}", turn_id=f"e{number}"))
    print(number, flush=True)
"""


def test_it_is_cleaned_while_another_process_adds_all_the_time_and_none_of_its_turns_is_lost(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        ids = fill(store)
        root = Path(__file__).parents[2]
        command = [sys.executable, "-c", WRITES, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "ready\n"
            told = []
            for turn_id in ids[::10]:
                store.remove([turn_id])
                assert store.eraser.overwrite(timeout_s=30) == ""
                told.append(int(other.stdout.readline()))
            other.kill()
            told += [int(line) for line in other.stdout.read().split()]

        assert store.check() == []
        assert [turn.turn_id for turn in store.get([f"e{number}" for number in told])] == [f"e{n}" for n in told]
        assert len(store) - len(told) - (len(ids) - len(ids[::10])) in (0, 1)


def test_threads_of_the_same_process_that_add_all_the_time_do_not_keep_it_waiting(tmp_path: Path) -> None:
    with opened(tmp_path) as store, ThreadPoolExecutor(1) as adder:
        store.remove(fill(store)[:1])
        eraser = AddInBetween(store, adder)

        assert eraser.overwrite(timeout_s=0) == ""
        assert [one.result().text for one in eraser.added] == ["meanwhile"]


@pytest.mark.parametrize("timeout_s", [3e6, math.inf])
def test_a_time_that_is_longer_than_sqlite_can_wait_is_waited_for(tmp_path: Path, timeout_s: float) -> None:
    with opened(tmp_path) as store, closing(sqlite3.connect(store.path, isolation_level=None)) as writer:
        store.remove(fill(store)[:1])
        waited: list[int] = []

        class Looking(SqliteEraser):
            def _is_cleaned(self, connection: Connection, *, deadline: float) -> bool:
                connection.set_trace_callback(lambda statement: waited.extend(told(statement)))
                return super()._is_cleaned(connection, deadline=deadline)

        def told(statement: str) -> list[int]:
            return [int(statement.rpartition(" ")[2])] if statement.startswith("PRAGMA busy_timeout =") else []

        assert Looking(store.connections).overwrite(timeout_s=timeout_s) == ""
        writer.execute(f"PRAGMA busy_timeout = {waited[0]}")
        assert writer.execute("PRAGMA busy_timeout").fetchone()[0] == waited[0] > 2e9


def test_who_reads_an_old_state_is_told_of(tmp_path: Path) -> None:
    with opened(tmp_path) as store, closing(sqlite3.connect(store.path, isolation_level=None)) as reader:
        ids = fill(store)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM turns").fetchone()
        store.remove(ids[:1])

        assert store.eraser.overwrite(timeout_s=0.1) == READERS
        reader.execute("COMMIT")
        assert store.eraser.overwrite(timeout_s=0.1) == ""
        assert leftovers(store.path) == {}


def test_a_file_gets_smaller_once_a_good_part_of_it_is_free_and_not_before(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        ids = store.append(said("x" * 3000) for _ in range(200)).turn_ids
        fold(store)
        full = store.path.stat().st_size

        store.remove(ids[:20])
        assert store.eraser.overwrite(timeout_s=5) == ""
        assert store.path.stat().st_size == full
        store.remove(ids[20:150])
        assert store.eraser.overwrite(timeout_s=5) == ""
        assert store.path.stat().st_size < full / 2
        assert leftovers(store.path) == {}


@pytest.mark.parametrize("how", ["FULL", "INCREMENTAL"])
def test_a_file_that_only_sqlite_knows_its_way_about_is_written_anew_by_it(tmp_path: Path, how: str) -> None:
    # As a build of SQLite makes it whose default that is.
    with closing(sqlite3.connect(tmp_path / "turns.sqlite")) as database:
        database.executescript(f"PRAGMA auto_vacuum = {how}; CREATE TABLE one (two); DROP TABLE one;")
    with opened(tmp_path) as store:
        ids = fill(store)
        goes = [turn for turn in store.get(ids[::3]) if turn.text.endswith("x")]
        store.remove([turn.turn_id for turn in goes])
        assert goes[0].text.encode() in store.path.read_bytes() + Path(f"{store.path}-wal").read_bytes()

        assert store.eraser.overwrite(timeout_s=5) == ""
        data = store.path.read_bytes()

    assert [turn.text for turn in goes if turn.text.encode() in data] == []


def test_asked_to_write_the_file_anew_it_does(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        ids = store.append(said("x" * 3000) for _ in range(200)).turn_ids
        fold(store)
        full = store.path.stat().st_size
        store.remove(ids[:20])

        assert store.eraser.overwrite(timeout_s=5, anew=True) == ""
        assert store.path.stat().st_size < full
