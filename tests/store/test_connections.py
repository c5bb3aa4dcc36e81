"""One connection a thread, and a file that is never written to when it is no longer the memory's."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from memory_rag.errors import MemoryLockedError, StoreError
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.turns import Turn

Say = Callable[..., Turn]


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files in /proc, which isn't here")
def test_a_thread_that_ends_leaves_no_file_open(store: SqliteTurnStore, said: Say) -> None:
    store.add(said("words"))
    before = open_files()

    for _ in range(50):
        thread = threading.Thread(target=store.get, args=[["t1"]])
        thread.start()
        thread.join()

    # SQLite keeps one that it may not close yet.
    assert open_files() <= before + 2


def test_a_store_may_be_closed_while_others_use_it(tmp_path: Path, said: Say) -> None:
    for number in range(5):
        store = SqliteTurnStore(tmp_path / f"{number}")
        stored: list[str] = []

        def use(store: SqliteTurnStore = store, stored: list[str] = stored) -> str:
            try:
                while True:
                    stored.append(store.add(said("words")).turn_id)
                    assert [turn.text for turn in store.get(stored[-3:])] != []
                    for _ in store.scan():
                        pass
            except StoreError as error:
                return str(error)

        with ThreadPoolExecutor(6) as threads:
            ended = [threads.submit(use) for _ in range(6)]
            time.sleep(0.05)
            store.close()
            assert {("is closed; open it again" in end.result(30)) for end in ended} == {True}

        again = SqliteTurnStore(tmp_path / f"{number}")
        assert {turn.turn_id for _, turn in again.scan()} == set(stored)
        assert again.check() == []
        again.close()


def test_another_process_that_writes_for_too_long_is_named(tmp_path: Path, said: Say) -> None:
    store = SqliteTurnStore(tmp_path / "memory", busy_timeout_s=0.05)
    store.add(said("before"))
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(MemoryLockedError, match=r"turns\.sqlite is locked by another process .*busy_timeout_s"):
            store.add(said("meanwhile"))
        assert len(store) == 1

        other.execute("ROLLBACK")
    assert store.add(said("after")).turn_id == "t2"
    store.close()


def test_a_full_file_is_an_error_that_leaves_nothing(store: SqliteTurnStore, said: Say) -> None:
    store.add(said("before"))
    with store._connections.reading() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 4}")

    with pytest.raises(StoreError, match=r"is full .*nothing of this change was stored, free some space and repeat"):
        store.append(said(f"long {i} " * 300) for i in range(100))

    assert ([turn.text for _, turn in store.scan()], store.last_seq) == (["before"], 1)
    with store._connections.reading() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    assert len(store.append(said(f"long {i} " * 300) for i in range(100)).turn_ids) == 100
    assert store.check() == []


# -- the file goes away


def test_a_store_that_is_deleted_while_it_is_open_takes_no_more_words(store: SqliteTurnStore, said: Say) -> None:
    store.add(said("before"))
    shutil.rmtree(store.path.parent)

    for use in (lambda: store.add(said("lost")), lambda: len(store), lambda: store.get(["t1"])):
        with pytest.raises(StoreError, match="was deleted or replaced while it was open"):
            use()
    with ThreadPoolExecutor(1) as other, pytest.raises(StoreError, match="was deleted or replaced"):
        other.submit(store.add, said("lost")).result()

    assert not store.path.parent.exists()
    store.close()


def test_no_file_is_made_where_a_store_was_deleted(store: SqliteTurnStore, said: Say) -> None:
    store.add(said("before"))
    for path in store.path.parent.iterdir():
        path.unlink()

    for use in (store.connections.snapshot, store.connections.apart):
        with pytest.raises(StoreError, match="was deleted or replaced while it was open"), use():
            pass

    assert list(store.path.parent.iterdir()) == []


def test_a_store_that_is_moved_away_and_linked_to_takes_no_words_into_another_log(
    store: SqliteTurnStore, said: Say, tmp_path: Path
) -> None:
    store.add(said("before"))
    (tmp_path / "large disk").mkdir()
    moved = tmp_path / "large disk" / store.path.name
    store.path.rename(moved)
    store.path.symlink_to(moved)

    with ThreadPoolExecutor(1) as other, pytest.raises(StoreError, match="was deleted or replaced"):
        other.submit(store.add, said("lost")).result()

    assert list(moved.parent.iterdir()) == [moved]


def test_a_store_that_is_put_back_goes_on(store: SqliteTurnStore, said: Say, tmp_path: Path) -> None:
    store.add(said("before"))
    store.path.parent.rename(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="was deleted or replaced"):
        store.add(said("lost"))

    (tmp_path / "elsewhere").rename(store.path.parent)

    store.add(said("after"))
    assert [turn.text for _, turn in store.scan()] == ["before", "after"]


def test_a_store_that_is_replaced_while_it_is_open_does_no_harm_to_the_new_one(
    store: SqliteTurnStore, said: Say
) -> None:
    store.add(said("old"))
    shutil.rmtree(store.path.parent)
    new = SqliteTurnStore(store.path.parent)
    new.add(said("new one"))

    with pytest.raises(StoreError, match="was deleted or replaced"):
        store.add(said("lost"))
    store.close()

    # Its write-ahead log has the name that the old one's had.
    new.add(said("new two"))
    copy = store.path.parent.with_name("copy")
    shutil.copytree(store.path.parent, copy)
    new.close()
    for folder in (store.path.parent, copy):
        again = SqliteTurnStore(folder)
        assert [turn.text for _, turn in again.scan()] == ["new one", "new two"]
        again.close()


# -- a forked process


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_is_told_to_open_the_store_itself_and_does_the_parent_no_harm(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import os, sys, threading
        from pathlib import Path
        from memory_rag.errors import StoreError
        from memory_rag.store.sqlite_store import SqliteTurnStore
        from memory_rag.turns import Role, Turn

        def said(text):
            return Turn("", "c", "s", -1, Role.USER, "user", text)

        store = SqliteTurnStore(Path(sys.argv[1]))
        store.add(said("before"))
        holding, done = threading.Event(), threading.Event()

        def hold():
            with store._connections.writing():
                holding.set()
                done.wait(20)

        thread = threading.Thread(target=hold)
        thread.start()
        holding.wait()
        child = os.fork()
        if child == 0:
            for use in (lambda: store.add(said("child")), lambda: len(store), lambda: store.get(["t1"])):
                try:
                    use()
                except StoreError as error:
                    print(error, flush=True)
            store.close()
            sys.exit(0)
        _, status = os.waitpid(child, 0)
        done.set()
        thread.join()
        store.add(said("after"))
        print(status, [turn.text for _, turn in store.scan()], store.check())
        store.close()
        """
    )

    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / "memory")],
        capture_output=True,
        text=True,
        timeout=60,
    )

    told = f"the memory at {tmp_path / 'memory'} was opened before this process was forked; open it in the child"
    assert (ran.stdout.splitlines(), ran.stderr) == ([told] * 3 + ["0 ['before', 'after'] []"], "")
