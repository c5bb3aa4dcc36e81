"""Files are written whole or not at all, by one process at a time."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from memory_rag.errors import MemoryLockedError, StoreError
from memory_rag.store.files import bytes_by_kind, locked, write_atomically


def test_a_file_is_written_for_its_owner_in_a_folder_that_is_made(tmp_path: Path) -> None:
    path = tmp_path / "derived" / "snapshot"

    write_atomically(path, lambda file: file.write(b"one"))
    write_atomically(path, lambda file: file.write(b"two"))

    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "snapshot"
    write_atomically(path, lambda file: file.write(b"old"))

    def stopped(file: BinaryIO) -> None:
        file.write(b"half of the n")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, stopped)

    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"old", [path])


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_what_a_killed_process_left_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "snapshot"

    def killed(file: BinaryIO) -> None:
        file.write(b"half of the n" * 1000)
        file.flush()
        os._exit(0)

    child = os.fork()
    if child == 0:
        write_atomically(path, killed)
    os.waitpid(child, 0)
    assert [left.name for left in tmp_path.iterdir()] == [".snapshot.tmp"]

    write_atomically(path, lambda file: file.write(b"new"))

    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"new", [path])


def test_a_place_that_cant_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "derived").write_text("a file")

    with pytest.raises(StoreError, match=r"derived/snapshot can't be written .*the old file, if any, is unchanged"):
        write_atomically(tmp_path / "derived" / "snapshot", lambda file: file.write(b"x"))
    with (
        pytest.raises(StoreError, match=r"derived can't be written .*the words are safe"),
        locked(tmp_path / "derived" / ".lock", timeout_s=1, what="derived files"),
    ):
        pass


def test_one_at_a_time_holds_the_lock_and_the_other_is_told_who(tmp_path: Path) -> None:
    path = tmp_path / "derived" / ".lock"
    with locked(path, timeout_s=0, what="vectors"):
        with (
            pytest.raises(MemoryLockedError) as caught,
            locked(path, timeout_s=0.1, what="vectors"),
        ):
            pass
        assert str(caught.value) == (
            f"another process is writing vectors (lock {path}); waited 0.1 s, try again when it is done"
        )

    with locked(path, timeout_s=0, what="vectors"):
        pass


def test_who_waits_long_enough_gets_the_lock(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    release = threading.Event()
    held = threading.Event()

    def hold() -> None:
        with locked(path, timeout_s=0, what="vectors"):
            held.set()
            release.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    threading.Timer(0.2, release.set).start()
    with locked(path, timeout_s=10, what="vectors"):
        assert release.is_set()
    thread.join()


def test_a_killed_process_gives_the_lock_back(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from memory_rag.store.files import locked\n"
        "with locked(Path(sys.argv[1]), timeout_s=0, what='vectors'):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(MemoryLockedError), locked(path, timeout_s=0, what="vectors"):
            pass
        holder.kill()
        holder.wait()

    with locked(path, timeout_s=0, what="vectors"):
        pass


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_process_that_is_forked_meanwhile_does_not_keep_the_lock(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with locked(path, timeout_s=0, what="vectors"):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
        os.close(reading)

    with locked(path, timeout_s=0, what="vectors"):
        pass
    os.close(writing)
    os.waitpid(child, 0)


def test_the_lock_works_again_after_its_folder_was_deleted(tmp_path: Path) -> None:
    path = tmp_path / "derived" / ".lock"
    with locked(path, timeout_s=0, what="vectors"):
        shutil.rmtree(path.parent)

    with (
        locked(path, timeout_s=0, what="vectors"),
        pytest.raises(MemoryLockedError),
        locked(path, timeout_s=0, what="vectors"),
    ):
        pass


def test_bytes_are_those_on_disk_by_kind(tmp_path: Path) -> None:
    for name, size in {"turns.sqlite": 100, "turns.sqlite-wal": 10, "vectors/a.f32": 7, "derived/b.npz": 3}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(bytes(size))

    assert bytes_by_kind(tmp_path) == {"words": 110, "vectors": 7, "derived": 3}
