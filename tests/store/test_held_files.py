"""Looking into SQLite's files takes no lock away from it: what is added afterwards is not lost."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.store.backup import restore
from memory_rag.store.held_files import HeldFiles
from memory_rag.store.rescue import rescue

OPENS_AND_CLOSES = """
import sys
from memory_rag import Memory
with Memory.open(sys.argv[1], embedder="none") as memory:
    memory.add("from elsewhere")
"""


def open_and_close_elsewhere(folder: Path) -> None:
    subprocess.run([sys.executable, "-c", OPENS_AND_CLOSES, str(folder)], check=True)


def prove(memory: Memory, folder: Path) -> None:
    memory.add("something else", turn_id="gone")
    assert memory.forgetting.forget(["gone"], prove=True).is_done


def forget(memory: Memory, folder: Path) -> None:
    memory.add("something else", turn_id="gone")
    memory.forget(["gone"])


def open_again(memory: Memory, folder: Path) -> None:
    Memory.open(folder, embedder="none").close()


def restore_elsewhere(memory: Memory, folder: Path) -> None:
    # What is restored from a memory whose log is empty is its file alone.
    with memory.store.connections.reading() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert restore(folder, folder.with_name("restored")).n_turns == 1


def rescue_elsewhere(memory: Memory, folder: Path) -> None:
    assert rescue(folder, folder.with_name("rescued")).n_turns == 1


def import_what_lies_around(memory: Memory, folder: Path) -> None:
    lines = [json.dumps({"role": role, "content": "imported"}) for role in ("user", "assistant")]
    (folder.parent / "talk.jsonl").write_text("\n".join(lines), encoding="utf-8")
    memory.import_path(folder.parent)
    memory.forget([turn.turn_id for turn in memory.turns() if turn.text == "imported"])


@pytest.mark.parametrize(
    "look", [prove, forget, open_again, restore_elsewhere, rescue_elsewhere, import_what_lies_around]
)
def test_nothing_is_lost_when_another_process_opens_and_closes_a_memory_after_a_look_into_its_files(
    tmp_path: Path, look: Callable[[Memory, Path], None]
) -> None:
    folder = tmp_path / "memory"
    with Memory.open(folder, embedder="none") as memory:
        memory.add("before")
        look(memory, folder)
        log = (folder / "turns.sqlite-wal").stat().st_ino
        open_and_close_elsewhere(folder)

        # Had it taken itself for the last one, it would have deleted the log that this process writes to.
        assert (folder / "turns.sqlite-wal").stat().st_ino == log
        memory.add("after")
        open_and_close_elsewhere(folder)

    with Memory.open(folder, embedder="none") as memory:
        said = [turn.text for turn in memory.turns()]
    assert said == ["before", "from elsewhere", "after", "from elsewhere"]


def test_the_last_user_of_a_store_closes_what_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.write_bytes(b"words")
    first, second = HeldFiles(path), HeldFiles(path)
    descriptor = first.descriptor(path)
    assert second.descriptor(path) == descriptor

    first.release()
    first.release()
    with second.open(path) as file:
        assert file.read() == b"words"
        assert file.seek(-2, 2) == 3
        assert file.read() == b"ds"
    assert second.open(path).read(3) == b"wor"
    second.release()

    with HeldFiles(path) as held:
        assert held.open(path).read() == b"words"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system doesn't tell what a process has open")
def test_a_memory_that_nobody_closed_leaves_no_file_open(tmp_path: Path) -> None:
    def used(folder: Path) -> None:
        memory = Memory.open(folder, embedder="none", summaries="off")
        memory.forget([memory.add("something").turn_id])

    used(tmp_path / "first")
    gc.collect()
    before = sorted(Path("/proc/self/fd").iterdir())
    used(tmp_path / "second")
    gc.collect()

    assert sorted(Path("/proc/self/fd").iterdir()) == before


def test_its_files_are_those_that_begin_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.touch()
    with HeldFiles(path) as held:
        assert [held.are(tmp_path / name) for name in ("store", "store-wal", "other")] == [True, True, False]
        assert not held.are(tmp_path / "below" / "store")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_process_that_is_forked_while_another_thread_opens_a_file_can_hold_on_to_files(tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.touch()
    # Opening a pipe waits for who writes to it.
    os.mkfifo(tmp_path / "store-wal")
    with HeldFiles(path) as held, ThreadPoolExecutor(1) as other:
        opening = other.submit(held.descriptor, tmp_path / "store-wal")
        while opening.running() is False:
            time.sleep(0.001)
        time.sleep(0.05)
        if (child := os.fork()) == 0:
            signal.alarm(5)
            HeldFiles(path).release()
            os._exit(0)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with (tmp_path / "store-wal").open("wb"):
            opening.result()
    assert ended == 0
