"""A backup is whole and checked, or absent; so is what is restored from it."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from memory_rag.errors import MemoryLockedError, NotAMemoryError, StoreError
from memory_rag.memory import Memory
from memory_rag.store.backup import backup, restore
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.turns import Role, Turn
from tests.end_to_end.hashed_words import HashedWords
from tests.end_to_end.places import fill, small_disk

Say = Callable[..., Turn]
TEXTS = ["Vi ses på mötet i Malmö", "NUL \0 and a lone \ud83d", "", "the price is 49 euro", "kayak trip on Sunday"]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "work", embedder=HashedWords(), language="en") as memory:
        for text in TEXTS:
            memory.add(text)
        memory.embed()
        memory.indexes.save()
        yield memory


def texts_in(folder: Path) -> list[str]:
    with SqliteTurnStore.opened(folder) as store:
        return [turn.text for _, turn in store.scan()]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_backup_of_an_open_memory_holds_every_acknowledged_turn(memory: Memory, tmp_path: Path) -> None:
    copied = backup(memory.folder, tmp_path / "safe" / "copy")

    assert copied.folder == tmp_path / "safe" / "copy"
    assert (copied.n_turns, copied.last_seq, copied.n_files) == (5, 5, 5)
    assert copied.n_bytes == sum(len(data) for data in contents(copied.folder).values())
    assert texts_in(copied.folder) == TEXTS
    memory.add("after the backup")
    assert texts_in(copied.folder) == TEXTS


def test_a_backup_is_for_its_owner_alone_and_leaves_nothing_beside_it(memory: Memory, tmp_path: Path) -> None:
    safe = tmp_path / "safe"
    backup(memory.folder, safe / "copy")

    assert [path.name for path in safe.iterdir()] == ["copy"]
    modes = {str(path.relative_to(safe)): stat.S_IMODE(path.stat().st_mode) for path in safe.rglob("*")}
    assert modes == {
        "copy": 0o700,
        "copy/turns.sqlite": 0o600,
        "copy/vectors": 0o700,
        "copy/vectors/hashed-words-64.f32": 0o600,
        "copy/vectors/hashed-words-64.ids": 0o600,
        "copy/derived": 0o700,
        "copy/derived/keyword.npz": 0o600,
        "copy/derived/manifest.json": 0o600,
    }


def test_what_is_restored_searches_as_before_without_embedding_again(memory: Memory, tmp_path: Path) -> None:
    asked = ("price of the kayak", "mötet i Malmö")
    before = [
        [(hit.turn, hit.score) for hit in memory.search(query, mode=mode, floor=False)]
        for query in asked
        for mode in ("keyword", "dense", "hybrid")
    ]
    backup(memory.folder, tmp_path / "copy")

    restored = restore(tmp_path / "copy", tmp_path / "new" / "place")

    assert (restored.n_turns, restored.last_seq) == (5, 5)
    embedder = HashedWords()
    with Memory.open(tmp_path / "new" / "place", embedder=embedder, language="en") as again:
        after = [
            [(hit.turn, hit.score) for hit in again.search(query, mode=mode, floor=False)]
            for query in asked
            for mode in ("keyword", "dense", "hybrid")
        ]
        assert after == before
        assert again.embed() == 0
        assert embedder.n_embedded == len(asked)


def test_turns_after_a_restored_backup_are_not_taken_for_those_of_the_lost_time(memory: Memory, tmp_path: Path) -> None:
    backup(memory.folder, tmp_path / "copy")
    memory.add("a dinosaur in the garden")
    memory.embed()
    memory.indexes.save()
    # The words alone are put back, as people do.
    memory.close()
    shutil.copy(tmp_path / "copy" / "turns.sqlite", memory.folder / "turns.sqlite")

    with Memory.open(memory.folder, embedder=HashedWords(), language="en") as again:
        again.add("tax forms are due in May")

        assert [hit.turn.text for hit in again.search("tax forms", mode="keyword")] == ["tax forms are due in May"]
        assert again.search("dinosaur garden", mode="keyword").hits == ()
        best = again.search("a dinosaur in the garden", mode="dense", k=1)[0]
        assert (best.turn.text, best.score < 0.9) != ("tax forms are due in May", False)
        assert again.search("tax forms are due in May", mode="dense", k=1)[0].score == pytest.approx(1, abs=1e-6)


def test_a_backup_while_others_write_is_a_moment_of_the_memory(memory: Memory, tmp_path: Path) -> None:
    stop = threading.Event()
    acknowledged = list(TEXTS)

    def write() -> None:
        number = 0
        while not stop.is_set():
            memory.add_many(Turn("", "other", "s", -1, Role.USER, "user", f"pair {number} {half}") for half in "ab")
            acknowledged.extend(f"pair {number} {half}" for half in "ab")
            number += 1
            if number % 20 == 0:
                memory.embed()
                memory.indexes.save()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for number in range(8):
            time.sleep(0.02)
            before = len(acknowledged)
            backup(memory.folder, tmp_path / f"copy{number}")
            held = texts_in(tmp_path / f"copy{number}")
            assert len(held) >= before
            assert len(held) % 2 == 1
    finally:
        stop.set()
        thread.join()
    for number in range(8):
        held = texts_in(tmp_path / f"copy{number}")
        assert held == acknowledged[: len(held)]
        with Memory.open(tmp_path / f"copy{number}", embedder=HashedWords(), language="en") as copy:
            assert len(copy.search("pair", mode="keyword", k=10_000)) == len(held) - len(TEXTS)


@pytest.mark.parametrize("name", ["work", "work/copy", "work/derived/copy"])
def test_a_backup_into_the_memory_itself_is_refused(memory: Memory, name: str, tmp_path: Path) -> None:
    before = contents(memory.folder)

    with pytest.raises(StoreError, match=r"is not empty|lies inside the memory"):
        backup(memory.folder, tmp_path / name)

    assert contents(memory.folder) == before


def test_a_backup_writes_over_nothing(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "letter.txt").write_text("words")
    (tmp_path / "file").write_text("words")

    for name in ("copy", "file"):
        with pytest.raises(StoreError, match=rf"{name} is not empty; a backup goes into a new or empty folder"):
            backup(memory.folder, tmp_path / name)
        with pytest.raises(StoreError, match=f"{name} is not empty"):
            restore(memory.folder, tmp_path / name, overwrite=True)

    assert contents(tmp_path / "copy") == {"letter.txt": b"words"}
    (tmp_path / "copy" / "letter.txt").unlink()
    assert backup(memory.folder, tmp_path / "copy").n_turns == 5


def test_what_is_no_memory_is_neither_backed_up_nor_restored(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "letter.txt").write_text("words")

    with pytest.raises(NotAMemoryError, match="holds no memory"):
        backup(tmp_path / "letters", tmp_path / "copy")
    with pytest.raises(NotAMemoryError, match="holds no backup of a memory"):
        restore(tmp_path / "letters", tmp_path / "place")

    assert [path.name for path in tmp_path.iterdir()] == ["letters"]


def test_damaged_words_are_neither_backed_up_nor_restored(memory: Memory, tmp_path: Path) -> None:
    backup(memory.folder, tmp_path / "copy")
    for folder in (memory.folder, tmp_path / "copy"):
        with closing(sqlite3.connect(folder / "turns.sqlite", isolation_level=None)) as database:
            database.execute("UPDATE turns SET text = CAST('the price is 59 euro' AS BLOB) WHERE turn_id = 't4'")

    for copy in (partial(backup, memory.folder), partial(restore, tmp_path / "copy")):
        with pytest.raises(StoreError, match="not what was stored: turn t4: its text doesn't have the SHA-256"):
            copy(tmp_path / "new")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "work"]


def test_a_backup_that_was_cut_off_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    backup(memory.folder, tmp_path / "copy")
    memory.close()
    words = tmp_path / "copy" / "turns.sqlite"
    words.write_bytes(words.read_bytes()[:5000])
    before = contents(memory.folder)

    with pytest.raises(StoreError, match="damaged"):
        restore(tmp_path / "copy", memory.folder, overwrite=True)

    assert contents(memory.folder) == before
    assert texts_in(memory.folder) == TEXTS


def test_a_memory_is_replaced_only_when_told(memory: Memory, tmp_path: Path) -> None:
    backup(memory.folder, tmp_path / "copy")
    memory.add("since then")
    memory.close()

    with pytest.raises(StoreError, match=r"work holds a memory already; .* tell to replace it: --overwrite"):
        restore(tmp_path / "copy", memory.folder)
    assert texts_in(memory.folder) == [*TEXTS, "since then"]

    restore(tmp_path / "copy", memory.folder, overwrite=True)
    assert texts_in(memory.folder) == TEXTS
    assert contents(memory.folder / "vectors") == contents(tmp_path / "copy" / "vectors")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "work"]


def test_a_memory_that_is_open_is_not_replaced(memory: Memory, tmp_path: Path) -> None:
    backup(memory.folder, tmp_path / "copy")
    memory.add("since then")

    with pytest.raises(MemoryLockedError, match=r"work is open, here or in another process; close it there first"):
        restore(tmp_path / "copy", memory.folder, overwrite=True)

    memory.add("and then")
    assert texts_in(memory.folder) == [*TEXTS, "since then", "and then"]
    memory.close()
    assert restore(tmp_path / "copy", memory.folder, overwrite=True).n_turns == 5


@pytest.mark.parametrize("damage", [b"", b"garbage", None])
def test_a_damaged_memory_is_replaced_from_its_backup(memory: Memory, tmp_path: Path, damage: bytes | None) -> None:
    backup(memory.folder, tmp_path / "copy")
    memory.close()
    words = memory.folder / "turns.sqlite"
    words.write_bytes(words.read_bytes()[:9000] if damage is None else damage)
    words.with_name("turns.sqlite-wal").write_bytes(b"what is left of a log")

    restore(tmp_path / "copy", memory.folder, overwrite=True)

    assert texts_in(memory.folder) == TEXTS
    with Memory.open(memory.folder, embedder=HashedWords(), language="en") as again:
        assert again.search("kayak", mode="keyword")[0].turn.text == "kayak trip on Sunday"


def test_a_copy_with_a_log_beside_it_is_restored_with_what_is_in_the_log(memory: Memory, tmp_path: Path) -> None:
    shutil.copytree(memory.folder, tmp_path / "copy")
    assert (tmp_path / "copy" / "turns.sqlite-wal").stat().st_size > 0

    restore(tmp_path / "copy", tmp_path / "place")

    assert texts_in(tmp_path / "place") == TEXTS


def test_a_disk_that_fills_up_leaves_nothing_half(memory: Memory, tmp_path: Path) -> None:
    memory.add_many(Turn("", "long", "s", -1, Role.USER, "user", f"{i} " * 5000) for i in range(100))
    with small_disk(tmp_path / "disk", n_bytes=4_000_000) as disk:
        filling = fill(disk, leaving=700_000)

        with pytest.raises(StoreError, match=r"disk/\.?copy.*(is full|No space left)"):
            backup(memory.folder, disk / "copy")
        assert list(disk.iterdir()) == [filling]

        filling.unlink()
        backup(memory.folder, disk / "copy")
        filling = fill(disk, leaving=700_000)
        with pytest.raises(StoreError, match="No space left on device"):
            restore(disk / "copy", disk / "place")
        assert sorted(disk.iterdir()) == [disk / "copy", filling]
        assert len(texts_in(disk / "copy")) == 105
    assert len(memory) == 105


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this platform can't kill -9")
def test_a_backup_that_is_killed_leaves_nothing_that_looks_like_one(memory: Memory, tmp_path: Path) -> None:
    memory.add_many(Turn("", "long", "s", -1, Role.USER, "user", f"{i} " * 5000) for i in range(500))
    program = (
        "import sys\nfrom pathlib import Path\nfrom memory_rag.store.backup import backup\n"
        "print('ready', flush=True)\nsys.stdin.readline()\nbackup(Path(sys.argv[1]), Path(sys.argv[2]))\n"
    )
    killed = 0
    for attempt in range(8):
        command = [sys.executable, "-c", program, str(memory.folder), str(tmp_path / "copy")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            process.stdout.readline()
            process.stdin.write(b"go\n")
            process.stdin.flush()
            time.sleep(0.004 * attempt)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        if (tmp_path / "copy").exists():
            assert len(texts_in(tmp_path / "copy")) == 505
            break
        killed += 1
    assert killed > 0

    shutil.rmtree(tmp_path / "copy", ignore_errors=True)
    assert backup(memory.folder, tmp_path / "copy").n_turns == 505
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "work"]
    assert len(memory) == 505
