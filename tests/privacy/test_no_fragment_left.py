"""No piece of what was forgotten lies in any file, whatever was stored and removed before, beside whom, and how."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.privacy.erasure import Erasure
from memory_rag.store.connections import Connection
from memory_rag.store.sqlite_eraser import SqliteEraser
from memory_rag.store.sqlite_store import SqliteTurnStore
from tests.end_to_end.hashed_words import HashedWords
from tests.privacy.a_long_life import LONG, SHORT, LongLife, lives
from tests.said import said
from tests.store.page_map import leftovers

N_STEPS = 20


class FoldingOnly(SqliteEraser):
    def _is_cleaned(self, connection: Connection, *, deadline: float) -> bool:
        return True


class Uncleaned(SqliteTurnStore):
    """A store that leaves the file's pages as SQLite left them."""

    @property
    def eraser(self) -> SqliteEraser:
        return FoldingOnly(self.connections)


class WithoutZeros(SqliteTurnStore):
    """A store in which SQLite writes no zeros over what it deletes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        with self.connections.reading() as connection:
            connection.execute("PRAGMA secure_delete = OFF")


@pytest.mark.parametrize(("seed", "durability"), [(1, "normal"), (3, "full")])
def test_no_fragment_is_left_after_any_forgetting_of_a_long_life(tmp_path: Path, seed: int, durability: str) -> None:
    folder = tmp_path / "memory"
    n_gone = 0
    for life, pending in lives(
        folder, n_steps=N_STEPS, seed=seed, opened=lambda path: SqliteTurnStore(path, durability=durability)
    ):
        assert pending == ""
        assert life.found_in(folder) == {}
        assert leftovers(folder / "turns.sqlite") == {}
        assert life.store.check() == []
        n_gone = len(life.gone)

    assert n_gone > 100


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 40))
def test_no_fragment_is_left_in_a_longer_life(tmp_path: Path, seed: int) -> None:
    folder = tmp_path / "memory"
    for life, pending in lives(folder, n_steps=60, seed=seed):
        assert (pending, life.found_in(folder), leftovers(folder / "turns.sqlite")) == ("", {}, {})


@pytest.mark.parametrize("opened", [Uncleaned, WithoutZeros])
def test_without_the_cleaning_or_the_zeros_of_sqlite_there_would_be_fragments(
    tmp_path: Path, opened: type[SqliteTurnStore]
) -> None:
    folder = tmp_path / "memory"
    found: dict[str, list[bytes]] = {}
    for life, _pending in lives(folder, n_steps=N_STEPS, seed=3, opened=opened):
        found |= life.found_in(folder)

    assert "turns.sqlite" in found


READS_AND_WRITES = """
import sys
from pathlib import Path
from memory_rag.store.sqlite_store import SqliteTurnStore
from tests.said import said
store = SqliteTurnStore(Path(sys.argv[1]))
for line in sys.stdin:
    # All pages stay in this process's memory, and a row is written into one of them.
    for _row, turn in store.scan():
        last = turn
    store.correct(last.turn_id, text=last.text + "+")
    print(len(store), flush=True)
"""


def test_a_process_that_has_the_pages_in_memory_brings_no_fragment_back(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    SqliteTurnStore(folder).close()
    command = [sys.executable, "-c", READS_AND_WRITES, str(folder)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        for life, pending in lives(folder, n_steps=8, seed=5):
            assert (pending, life.found_in(folder)) == ("", {})
            for _ in range(3):
                print("go on", file=other.stdin, flush=True)
                assert int(other.stdout.readline()) > 0
                assert life.found_in(folder) == {}
            assert life.store.check() == []
        other.stdin.close()


def test_no_fragment_is_left_of_a_turn_of_any_length_amid_others_of_that_length(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    store = SqliteTurnStore(folder)
    life = LongLife(store, seed=6)
    for length in (*SHORT, *LONG):
        texts = [life.text_of(length) for _ in range(7)]
        ids = store.append(said(text) for text in texts).turn_ids
        for place in (3, 0, 6):
            store.remove([ids[place]])
            life.gone.append(texts[place])
        assert Erasure(folder, store).finish(timeout_s=5) == ""
        assert life.found_in(folder) == {}
    store.close()


def test_no_fragment_is_left_in_a_memory_with_vectors_and_a_snapshot(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with Memory.open(folder, embedder=HashedWords(), language="en") as memory:
        life = LongLife(memory.store, seed=7)
        for _ in range(6):
            turns = [memory.add(f"{life.text_of(40)} garden {life.text_of(90)}") for _ in range(20)]
            memory.embed()
            memory.indexes.save()
            for turn in turns[::3]:
                life.gone.append(turn.text)
            done = memory.forgetting.forget([turn.turn_id for turn in turns[::3]], prove=True)
            assert done.is_done
            assert life.found_in(folder) == {}
            assert len(memory.search("garden", mode="dense", k=999, floor=False)) == len(memory)
    with closing(sqlite3.connect(folder / "turns.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
