"""Copies of a memory that is in use, checked word by word before they count; and back again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory_rag.errors import MemoryLockedError, NotAMemoryError, StoreError
from memory_rag.store.files import LOCK_NAME, fsync_path, fsync_tree, locked
from memory_rag.store.folder import FILE_NAME, refuse_link
from memory_rag.store.held_files import HeldFiles
from memory_rag.store.sqlite_store import SqliteTurnStore

_BESIDE_THE_WORDS: Final = ("vectors/*.ids", "vectors/*.f32", "derived/keyword.npz", "derived/manifest.json")


@dataclass(frozen=True, slots=True)
class Copied:
    """What a checked copy holds: turns, the number of its newest change, files and their bytes."""

    folder: Path
    n_turns: int
    last_seq: int
    n_files: int
    n_bytes: int


def backup(folder: Path, destination: Path, *, lock_timeout_s: float = 10.0) -> Copied:
    """Copy a memory, which may be in use, to a new folder, and return what the checked copy holds.

    The copy holds every turn that was acknowledged before the call. It is written beside its place and renamed into
    it, so that a backup is whole or absent.

    Raises:
        NotAMemoryError: the folder holds no memory.
        MemoryLockedError: another process writes vectors or derived files for longer than ``lock_timeout_s``.
        StoreError: the destination is not empty or can't be written, or the copy is not what it should be; nothing is
            left of it.
    """
    refuse_taken(destination, "a backup goes into a new or empty folder")
    if destination.resolve().is_relative_to(folder.resolve()):
        raise StoreError(f"{destination} lies inside the memory that is copied; choose a folder outside {folder}")
    with SqliteTurnStore.opened(folder) as store, beside(destination) as copy:
        # What is made from the words first: it may lag behind them, never the other way round.
        with locked(folder / LOCK_NAME, timeout_s=lock_timeout_s, what="derived files"):
            _copy_derived(folder, copy)
        store.copy_to(copy / FILE_NAME)
        _check(copy)
        fsync_tree(copy)
        copy.replace(destination)
        fsync_path(destination.parent)
    return _copied(destination)


def restore(source: Path, folder: Path, *, overwrite: bool = False, lock_timeout_s: float = 10.0) -> Copied:
    """Make a backup a memory again, and return what it holds; the backup stays as it is.

    It is copied and checked beside its place first. A memory that is there already is replaced only with
    ``overwrite``, and only while nobody has it open: its words all at once, then what was made from them.

    Raises:
        NotAMemoryError: the backup holds no memory.
        MemoryLockedError: somebody has the memory open that is to be overwritten.
        StoreError: there is a memory or something else already, the backup is damaged, or it can't be written; what
            was there is unchanged.
    """
    if not (source / FILE_NAME).is_file():
        raise NotAMemoryError(f"{source} holds no backup of a memory (no {FILE_NAME})")
    refuse_link(source / FILE_NAME)
    replacing = (folder / FILE_NAME).exists()
    if replacing and not overwrite:
        raise StoreError(
            f"{folder} holds a memory already; restore to another folder, or tell to replace it: --overwrite"
        )
    if not replacing:
        refuse_taken(folder, "a backup is restored to a new or empty folder, or over a memory")
    with beside(folder) as copy:
        _copy_derived(source, copy)
        if _size(source / f"{FILE_NAME}-wal"):
            with SqliteTurnStore.opened(source) as store:
                store.copy_to(copy / FILE_NAME)
        else:
            # Not opened: a backup may lie on a disk that can't be written.
            with HeldFiles(source / FILE_NAME) as held:
                (copy / FILE_NAME).touch(mode=0o600)
                held.copy(source / FILE_NAME, copy / FILE_NAME)
        _check(copy)
        fsync_tree(copy)
        if replacing:
            _replace(folder, copy, lock_timeout_s=lock_timeout_s)
        else:
            copy.replace(folder)
            fsync_path(folder.parent)
    return _copied(folder)


def _replace(folder: Path, copy: Path, *, lock_timeout_s: float) -> None:
    with locked(folder / LOCK_NAME, timeout_s=lock_timeout_s, what="derived files"), _held_alone(folder):
        # Without a log that would be read into the new file.
        for name in (f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"):
            (folder / name).unlink(missing_ok=True)
        (copy / FILE_NAME).replace(folder / FILE_NAME)
        fsync_path(folder)
    # From here on the words are the backup's; an index that was made of others is not used.
    for part in ("vectors", "derived"):
        for old in (folder / part).glob("[!.]*"):
            old.unlink()
        for new in (copy / part).glob("*"):
            (folder / part).mkdir(mode=0o700, exist_ok=True)
            new.replace(folder / part / new.name)


@contextmanager
def _held_alone(folder: Path) -> Iterator[None]:
    in_use = f"{folder} is open, here or in another process; close it there first, then restore"
    try:
        store = SqliteTurnStore(folder, create=False, busy_timeout_s=0)
    except MemoryLockedError as error:
        raise MemoryLockedError(in_use) from error
    except StoreError:
        # What is damaged so that it can't be opened is replaced as it is.
        yield
        return
    alone = False
    try:
        with store.held_alone():
            alone = True
            yield
    except MemoryLockedError as error:
        if alone:
            raise
        raise MemoryLockedError(in_use) from error
    finally:
        store.close()


@contextmanager
def beside(place: Path) -> Iterator[Path]:
    """A new folder beside a place, to be renamed into it; gone afterwards if it wasn't, whatever happens.

    Its name is always the same, so that what a killed process left is not kept for ever.
    """
    copy = place.parent / f".{place.name}.partial"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir(mode=0o700)
        try:
            yield copy
        finally:
            shutil.rmtree(copy, ignore_errors=True)
    except OSError as error:
        raise StoreError(
            f"{place} can't be written ({error.strerror}: {error.filename}); nothing is left there of this copy, free "
            "some space or choose another folder"
        ) from error


def refuse_taken(place: Path, rule: str) -> None:
    """Refuse a place that isn't a new or empty folder; ``rule`` says what goes there.

    Raises:
        StoreError: something is there, or it can't be read.
    """
    try:
        taken = place.exists() and (not place.is_dir() or any(place.iterdir()))
    except OSError as error:
        raise StoreError(f"{place} can't be read ({error.strerror}); choose another folder") from error
    if taken:
        raise StoreError(f"{place} is not empty; {rule}")


def _copy_derived(source: Path, copy: Path) -> None:
    for pattern in _BESIDE_THE_WORDS:
        for path in sorted(source.glob(pattern)):
            target = copy / path.relative_to(source)
            target.parent.mkdir(mode=0o700, exist_ok=True)
            target.touch(mode=0o600)
            shutil.copyfile(path, target)


def _check(copy: Path) -> None:
    with SqliteTurnStore.opened(copy) as store:
        problems = store.check()
    if problems:
        shown = "; ".join(problems[:3]) + (f"; and {len(problems) - 3} more" if len(problems) > 3 else "")
        raise StoreError(f"the copy is not what was stored: {shown}; check the memory with: memory-rag doctor")


def _copied(folder: Path) -> Copied:
    with SqliteTurnStore.opened(folder) as store:
        n_turns, last_seq = len(store), store.last_seq
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return Copied(folder, n_turns, last_seq, len(files), sum(_size(path) for path in files))


def _size(path: Path) -> int:
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0
