"""The folder of a memory: made when it is new, refused when it is something else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from memory_rag.errors import NotAMemoryError, StoreError
from memory_rag.store.held_files import HeldFiles

FILE_NAME: Final = "turns.sqlite"
IF_DAMAGED: Final = "if it was one, bring what can still be read into a new memory with: memory-rag doctor --rescue NEW"
_HEAD: Final = b"SQLite format 3\0"


def prepare_folder(folder: Path, *, create: bool) -> None:
    """Make the folder and an empty file of words in it, if they aren't there.

    Raises:
        NotAMemoryError: there is no file of words and ``create`` is False, or something else is in its place.
        StoreError: the folder can't be read or written, or the file has lost its words.
    """
    path = folder / FILE_NAME
    try:
        refuse_link(path)
        if path.is_file():
            _refuse_other_file(path)
            return
        if not create:
            raise NotAMemoryError(
                f"{folder} holds no memory (no {FILE_NAME}); make one with: memory-rag add or memory-rag import"
            )
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Another process may have made the file of words, and SQLite its own beside it, since the look above.
        others = sorted(entry.name for entry in folder.iterdir() if not _is_of_a_store(entry))
        if others:
            raise NotAMemoryError(
                f"{folder} holds no memory but other files ({', '.join(others[:3])} …); choose a new or empty folder, "
                f"or put the {FILE_NAME} back that belongs to them"
            )
        # Made by us and not by SQLite, so that the file and its WAL (which copies its mode) are ours alone.
        path.touch(mode=0o600)
    except (FileExistsError, NotADirectoryError) as error:
        raise NotAMemoryError(f"{folder} is a file, not the folder of a memory") from error
    except OSError as error:
        raise StoreError(
            f"the memory at {folder} can't be opened or made ({error.strerror}); it needs a folder and files that "
            "you may write to, on a disk with free space"
        ) from error


def refuse_link(path: Path) -> None:
    """Refuse a file of words that lies elsewhere: its newest words do too, in a log that nobody here would look for.

    Raises:
        NotAMemoryError: it is a symbolic link.
    """
    if path.is_symlink():
        raise NotAMemoryError(
            f"{path} is a link to {path.readlink()}, beside which SQLite keeps the newest words; link the memory's "
            "whole folder instead, or move that file and those whose names begin with its name here"
        )


def _is_of_a_store(entry: Path) -> bool:
    return entry.name.startswith(".") or (entry.name.startswith(FILE_NAME) and not entry.is_dir())


def _refuse_other_file(path: Path) -> None:
    """Refuse what SQLite would take for a new, empty file and write over."""
    # It may be open already, in another place of this process.
    with HeldFiles(path) as held:
        head = os.pread(held.descriptor(path), len(_HEAD), 0)
    if head and head != _HEAD:
        raise NotAMemoryError(f"{path} is not a store of memory_rag (it is no SQLite file); {IF_DAMAGED}")
    made_from_words = [part for part in ("vectors", "derived") if (path.parent / part).exists()]
    if not head and made_from_words:
        raise StoreError(
            f"{path} is empty, but {path.parent} holds what was made from its words ({', '.join(made_from_words)}); "
            "take the words from a backup with: memory-rag restore, or delete the folder to begin anew"
        )


def damaged_text(path: Path, text: str) -> str:
    """Return the message for a file that SQLite can't make sense of; ``text`` is what it says."""
    return (
        f"{path} is damaged ({text}); keep a copy of its folder, then take the words from a backup with: "
        "memory-rag restore, or bring what can still be read into a new memory with: memory-rag doctor --rescue NEW"
    )
