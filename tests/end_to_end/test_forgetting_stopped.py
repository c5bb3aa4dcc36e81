"""A removal that somebody's reading holds up, or that was killed, is finished when the memory is opened next."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_rag.errors import UnknownTurnError
from memory_rag.memory import Memory
from memory_rag.retrieval.vectors import VectorFile, VectorRows
from memory_rag.store.erasing import is_unfinished
from memory_rag.store.files import LOCK_NAME, locked
from tests.end_to_end.hashed_words import HashedWords
from tests.interfaces.command_line import CommandLine

CANARY = "zqcanary7731"
HOLDS = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN")
print(database.execute("SELECT count(*) FROM turns").fetchone()[0], flush=True)
sys.stdin.readline()
"""


@contextmanager
def a_reader(folder: Path) -> Iterator[None]:
    """Another process that reads the memory as it is now, and goes on seeing it so."""
    command = [sys.executable, "-c", HOLDS, str(folder / "turns.sqlite")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) > 0
        yield
        process.communicate("\n")


def opened(folder: Path) -> Memory:
    return Memory.open(folder, embedder=HashedWords(), language="en")


def with_canary(folder: Path, *, n_turns: int = 30) -> Memory:
    memory = opened(folder)
    for number in range(n_turns):
        memory.add(f"number {number} of the garden")
    memory.add(f"the secret {CANARY} is out", turn_id="secret")
    memory.embed()
    memory.indexes.save()
    return memory


def files_with_canary(folder: Path) -> list[str]:
    return [path.name for path in sorted(folder.rglob("*")) if path.is_file() and CANARY.encode() in path.read_bytes()]


def test_while_another_process_reads_an_old_state_bytes_are_pending_and_the_next_opening_finishes(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "memory"
    with with_canary(folder) as memory, a_reader(folder):
        began = time.monotonic()
        done = memory.forgetting.forget(["secret"], timeout_s=0.3, prove=True)

        assert time.monotonic() - began >= 0.3
        assert not done.is_done
        assert done.pending.startswith("another process, or a thread of this one, still reads an older state")
        assert done.proof is None
        with pytest.raises(UnknownTurnError):
            memory.get("secret")
        assert memory.search(CANARY, mode="keyword").turn_ids == ()
        assert files_with_canary(folder) != []
        with opened(folder) as another:
            assert another.forgetting.is_unfinished

    with opened(folder) as memory:
        assert not memory.forgetting.is_unfinished
        assert files_with_canary(folder) == []


def test_the_command_says_that_bytes_are_pending_and_ends_with_one(tmp_path: Path) -> None:
    line = CommandLine(tmp_path, {"MEMORY_RAG_HOME": str(tmp_path), "MEMORY_RAG_EMBEDDER": "none"})
    with_canary(tmp_path / "main").close()
    with a_reader(tmp_path / "main"):
        ended = line("forget", "secret", "--yes", "--prove", "--timeout", "0.2")

    assert ended.code == 1
    assert ended.out == "forgot 1 turn\n"
    assert "removed, bytes pending: another process, or a thread of this one, still reads" in ended.err
    assert "the next opening of this memory removes them" in ended.err
    assert line("stats").code == 0
    assert files_with_canary(tmp_path / "main") == []


def test_who_only_has_the_memory_open_delays_nothing(tmp_path: Path) -> None:
    with with_canary(tmp_path / "memory") as memory, opened(tmp_path / "memory") as other:
        other.search(CANARY)

        assert memory.forgetting.forget(["secret"], timeout_s=0.0, prove=True).is_done
        assert other.search(CANARY, mode="keyword").turn_ids == ()


def test_while_another_process_writes_vectors_bytes_are_pending(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with with_canary(folder) as memory:
        with locked(folder / LOCK_NAME, timeout_s=1, what="vectors"):
            done = memory.forgetting.forget(["secret"], timeout_s=0.1)
        assert "another process is writing vectors or derived files" in done.pending

    opened(folder).close()
    assert files_with_canary(folder) == []


def test_an_opening_never_waits_for_what_it_can_not_finish(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with with_canary(folder) as memory, a_reader(folder):
        memory.forgetting.forget(["secret"], timeout_s=0.0)
        began = time.monotonic()
        with opened(folder) as another:
            assert time.monotonic() - began < 2
            assert another.forgetting.is_unfinished


def test_a_file_that_can_not_be_taken_away_is_told_and_keeps_nobody_from_opening(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with with_canary(folder) as memory:
        (folder / "vectors" / ".odd.new").mkdir()

        done = memory.forgetting.forget(["secret"], timeout_s=0)

        assert ".odd.new" in done.pending
    opened(folder).close()
    (folder / "vectors" / ".odd.new").rmdir()
    opened(folder).close()
    assert files_with_canary(folder) == []


# -- killed


def test_a_removal_that_was_only_noted_is_finished_by_whoever_opens_next(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with with_canary(folder) as memory:
        memory.store.remove(["secret"])
        assert files_with_canary(folder) != []

    with opened(folder) as memory:
        assert files_with_canary(folder) == []
        assert not is_unfinished(memory.store.connections)
        assert len(memory) == 30
        memory.search("garden", mode="dense")
        assert memory.indexes.dense() is not None


KILLED_AT = ("open", "os.rename", "os.remove", "os.truncate", "sqlite3.connect", "fcntl.flock")


def forget_and_die(folder: Path, *, after_events: int, after_s: float) -> int:
    """Forget in a child that is killed at its n-th use of a file, or after a time; return the signal that ended it."""
    child = os.fork()
    if child:
        time.sleep(after_s)
        if after_s:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        return os.WTERMSIG(status)
    memory = opened(folder)
    left = [after_events]

    def watch(event: str, _arguments: tuple[object, ...]) -> None:
        if after_events and event in KILLED_AT:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    memory.forget(["secret"])
    os._exit(0)


def check_either_there_or_gone(folder: Path) -> bool:
    """Check that a turn is wholly there or gone to the last byte, and tell whether it is gone."""
    with opened(folder) as memory:
        is_gone = "secret" not in {turn.turn_id for turn in memory.turns()}
        assert memory.store.check() == []
        if is_gone:
            assert files_with_canary(folder) == []
            assert memory.search(CANARY, mode="keyword").turn_ids == ()
        else:
            assert memory.search(CANARY, mode="keyword").turn_ids == ("secret",)
        assert len(memory.search("garden", mode="dense", k=99, floor=False)) == (30 if is_gone else 31)
        assert not memory.forgetting.is_unfinished
    return is_gone


def rounds(place: Path, *, n_rounds: int, seed: int) -> list[bool]:
    """Kill so many removals, each at another point, and return which of them had gone so far that they were done."""
    chance = random.Random(seed)
    with_canary(place / "made").close()
    gone: list[bool] = []
    for number in range(n_rounds):
        folder = place / f"round{number}"
        copy_of(place / "made", folder)
        if number % 2:
            forget_and_die(folder, after_events=number // 2 + 1, after_s=0)
        else:
            forget_and_die(folder, after_events=0, after_s=chance.uniform(0.001, 0.06))
        gone.append(check_either_there_or_gone(folder))
    return gone


def copy_of(source: Path, target: Path) -> None:
    for path in sorted(source.rglob("*")):
        if path.is_file():
            (target / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            (target / path.relative_to(source)).write_bytes(path.read_bytes())


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")


@needs_fork
def test_a_removal_that_is_killed_anywhere_is_finished_at_the_next_opening_in_fifty_rounds(tmp_path: Path) -> None:
    gone = rounds(tmp_path, n_rounds=50, seed=1)

    assert 5 < sum(gone) < 50


@pytest.mark.slow
@needs_fork
def test_a_removal_that_is_killed_anywhere_is_finished_at_the_next_opening_in_a_thousand_rounds(tmp_path: Path) -> None:
    gone = [one for seed in range(10) for one in rounds(tmp_path / str(seed), n_rounds=100, seed=seed)]

    assert 100 < sum(gone) < 1000


@needs_fork
def test_vectors_that_stay_are_not_lost_to_a_kill_between_the_two_files(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with with_canary(folder) as memory:
        (rows, ids) = sorted((folder / "vectors").glob("*.f32")) + sorted((folder / "vectors").glob("*.ids"))
        old_ids = ids.read_bytes()
        file = VectorFile.at(ids, dim=64)
        all_rows = file.read_new()
        assert all_rows is not None
        stays = all_rows.ids["row"] != memory.store.rows_of(["secret"])[0]
        file.replace_with(VectorRows(all_rows.vectors[stays], all_rows.ids[stays]))
        n_bytes = rows.stat().st_size
        # As a kill after the first of the two renames leaves it.
        ids.with_name(f".{ids.name}.new").write_bytes(ids.read_bytes())
        ids.write_bytes(old_ids)
        memory.store.remove(["secret", "t1"])

    with opened(folder) as memory:
        assert rows.stat().st_size == n_bytes
        dense = memory.indexes.dense()
        assert dense is not None
        assert len(dense.pending(memory.indexes.keyword.table)) == 0


def test_the_journal_of_a_closed_memory_holds_nothing_either(tmp_path: Path) -> None:
    with with_canary(tmp_path / "memory") as memory:
        memory.forget(["secret"])
    database = sqlite3.connect(tmp_path / "memory" / "turns.sqlite")
    assert database.execute("PRAGMA freelist_count").fetchone() == (0,)
    database.close()

    assert files_with_canary(tmp_path / "memory") == []


def test_two_that_forget_at_once_finish_both(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with with_canary(folder) as memory, opened(folder) as other:
        memory.add(f"and again {CANARY}", turn_id="other")
        failures: list[BaseException] = []

        def forget(one: Memory, turn_id: str) -> None:
            try:
                one.forgetting.forget([turn_id], timeout_s=20)
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=forget, args=pair) for pair in ((memory, "secret"), (other, "other"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert failures == []
    opened(folder).close()
    assert files_with_canary(folder) == []


def test_an_export_that_is_being_read_in_another_thread_holds_an_old_state_too(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with with_canary(folder) as memory:
        lines = memory.export()
        next(lines)

        assert memory.forgetting.forget(["secret"], timeout_s=0.1).pending
        list(lines)
        assert memory.forgetting.finish(timeout_s=1) == ""
        assert files_with_canary(folder) == []


def test_everything_can_be_forgotten_and_said_again(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with with_canary(folder) as memory:
        assert memory.forget([turn.turn_id for turn in memory.turns()]) == 31
        assert memory.forget([]) == 0
        assert len(memory) == 0
        assert memory.search("garden").turn_ids == ()
        memory.add("the garden")
        assert memory.search("garden", mode="dense").turn_ids == ("t32",)
        assert files_with_canary(folder) == []
