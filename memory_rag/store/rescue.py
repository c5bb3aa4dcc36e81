"""What can still be read of a damaged memory, as a new one; the damaged one stays as it is."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from memory_rag.errors import NotAMemoryError, StoreError, TurnError
from memory_rag.store.backup import beside, refuse_taken
from memory_rag.store.connections import Connection, damaged
from memory_rag.store.files import fsync_path, fsync_tree
from memory_rag.store.folder import FILE_NAME, refuse_link
from memory_rag.store.held_files import HeldFiles
from memory_rag.store.pages import Pages
from memory_rag.store.salvage import salvaged
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.store.turn_rows import turn_of
from memory_rag.store.whole import restoring, said
from memory_rag.turns import Conversation, Turn, text_from_bytes

_ROLE: Final = 5
_SHA256: Final = 8
_TURN_COLUMNS: Final = 18
_OF_TURNS_GONE: Final = ("tombstones", "erased")
_OWN_LOG: Final = "changes"
_SHOWN: Final = 5
_UNREADABLE: Final = "\ufffd"


@dataclass(frozen=True, slots=True)
class Rescued:
    """What a rescue brought into ``folder``, and what it could not.

    ``n_lost`` counts the turns that the log of changes knows and that couldn't be read, or whose words were not those
    that had been stored; ``lost`` names some of them. ``is_log_whole`` is False if the log itself is damaged: more may
    be lost then than anybody can tell. ``n_rows`` counts the rows of other tables (versions, pins, summaries …), and
    ``damaged_tables`` names those of which some couldn't be read.
    """

    folder: Path
    n_turns: int
    n_lost: int
    lost: tuple[str, ...]
    is_log_whole: bool
    n_rows: int
    damaged_tables: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "n_turns": self.n_turns,
            "n_lost": self.n_lost,
            "lost": list(self.lost),
            "is_log_whole": self.is_log_whole,
            "n_rows": self.n_rows,
            "damaged_tables": list(self.damaged_tables),
        }


@dataclass(slots=True)
class _Found:
    """Turns by row, and what the log says of rows."""

    turns: dict[int, Turn] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    added: set[int] = field(default_factory=set)
    removed: set[int] = field(default_factory=set)
    garbled: dict[int, str] = field(default_factory=dict)
    is_log_whole: bool = True
    others: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    damaged_tables: list[str] = field(default_factory=list)

    def hear(self, kind: object, row: object) -> None:
        """Take in an entry of the log."""
        if kind == "add" and isinstance(row, int):
            self.added.add(row)
        elif kind == "remove" and isinstance(row, int):
            self.removed.add(row)

    def take(self, row: int, record: tuple[Any, ...]) -> None:
        """Take in a row of the table of turns, in the order of its columns, if its words are those that were stored."""
        if row in self.turns:
            return
        text, digest = record[_SHA256 - 1], record[_SHA256]
        if not isinstance(text, bytes) or hashlib.sha256(text).digest() != digest:
            self.garbled[row] = str(record[1])
            return
        with suppress(StoreError, TurnError):
            turn_id = f"t{row}" if _UNREADABLE in str(record[1]) else record[1]
            self.turns[row] = turn_of((row, turn_id, *record[2:_SHA256], *record[_SHA256 + 1 : _TURN_COLUMNS]))


def rescue(folder: Path, new: Path) -> Rescued:
    """Read what can be read of a damaged memory into a new folder, and return what came through.

    Every turn that comes through has the very words that were stored, by their SHA-256; what was forgotten stays so.
    Who said them, when and where has no such proof. Turns keep their ids but for garbled ones. What is made from words
    is made anew, but vectors come along. Nothing in the damaged folder is written; close it everywhere else first.

    Raises:
        NotAMemoryError: the folder holds no memory, or not one turn could be read.
        StoreError: the new folder is not empty or can't be written; nothing is left of it.
    """
    if not (folder / FILE_NAME).is_file():
        raise NotAMemoryError(f"{folder} holds no memory (no {FILE_NAME})")
    refuse_link(folder / FILE_NAME)
    refuse_taken(new, "what is rescued goes into a new or empty folder")
    with beside(new) as copy:
        found = _found(folder, copy / "damaged")
        shutil.rmtree(copy / "damaged")
        if not found.turns:
            raise NotAMemoryError(
                f"not one turn can be read in {folder / FILE_NAME}; take the words from a backup with: "
                "memory-rag restore"
            )
        n_rows = _store(found, copy)
        lost = sorted((found.added | found.garbled.keys()) - found.removed - found.turns.keys())
        _copy_vectors(folder, copy)
        fsync_tree(copy)
        copy.replace(new)
        fsync_path(new.parent)
    return Rescued(
        folder=new,
        n_turns=len(found.turns),
        n_lost=len(lost),
        lost=tuple(found.garbled.get(row, f"row {row}") for row in lost[:_SHOWN]),
        is_log_whole=found.is_log_whole,
        n_rows=n_rows,
        damaged_tables=tuple(found.damaged_tables),
    )


def _found(folder: Path, work: Path) -> _Found:
    found = _Found()
    work.mkdir(mode=0o700)
    with HeldFiles(folder / FILE_NAME) as held:
        for name in (FILE_NAME, f"{FILE_NAME}-wal"):
            if (folder / name).is_file():
                held.copy(folder / name, work / name)
    pages = Pages.read(work / FILE_NAME)
    # SQLite first: what it reads is the newest state. What it can't reach is looked for page by page.
    if not _asked(work / FILE_NAME, found):
        # A file is unreadable for its first 100 bytes alone; what they say is known.
        with (work / FILE_NAME).open("r+b") as file:
            file.write(pages.mended_head())
        found.is_log_whole = _asked(work / FILE_NAME, found) and found.is_log_whole
    for row, record in pages.rows():
        if len(record) >= _TURN_COLUMNS and _is_turn(record):
            found.take(row, record)
        elif len(record) == 4 and record[0] is None and record[1] in ("add", "correct", "remove"):
            found.hear(record[1], record[2])
    for row in found.removed:
        found.turns.pop(row, None)
        found.garbled.pop(row, None)
    return found


def _is_turn(record: tuple[Any, ...]) -> bool:
    return (
        record[0] is None
        and all(isinstance(record[at], str) for at in (1, 2, 3, _ROLE))
        and isinstance(record[_SHA256], bytes)
        and len(record[_SHA256]) == 32
    )


def _asked(path: Path, found: _Found) -> bool:
    """Take in what SQLite can read of a damaged file, table by table; tell whether it could read anything."""
    try:
        with damaged(path) as connection:
            _ask(connection, found)
    except StoreError:
        return False
    return True


def _ask(connection: Connection, found: _Found) -> None:
    for salvage in salvaged(connection):
        if not salvage.is_whole:
            found.damaged_tables.append(salvage.table)
            found.is_log_whole &= salvage.table != _OWN_LOG
        for record in salvage.rows:
            match salvage.table:
                case "turns" if isinstance(record[0], int):
                    found.take(record[0], record)
                case "conversations" if isinstance(record[1], bytes):
                    with suppress(UnicodeDecodeError):
                        found.titles[str(record[0])] = text_from_bytes(record[1])
                case "changes":
                    found.hear(record[1], record[2])
                case _:
                    found.others.append((salvage.table, said(record, salvage.columns)))


def _store(found: _Found, folder: Path) -> int:
    """Store what was found in a new store, and return how many rows of other tables could be put back."""
    n_rows = 0
    store = SqliteTurnStore(folder)
    try:
        with restoring(store.connections) as target:
            for row in sorted(found.turns):
                # A garbled id may be another turn's.
                if not _put(partial(target.put_turn, row, found.turns[row])):
                    found.garbled[row] = found.turns.pop(row).turn_id
            target.log_added(sorted(found.turns), now=time.time_ns() // 1000)
            stored = {turn.conversation_id for turn in found.turns.values()}
            for conversation_id, title in sorted(found.titles.items()):
                if conversation_id in stored:
                    target.put_conversation(Conversation(conversation_id, title))
            newest = len(found.turns)
            for table, values in found.others:
                if "row" in values and values["row"] not in found.turns and table not in _OF_TURNS_GONE:
                    continue
                n_rows += _put(partial(target.put_row, table, values))
                newest = max(newest, values["replaced_by"] if table == "versions" else 0)
            # No turn gets the id of one that is lost, and no correction comes before an earlier one.
            target.put_numbers({"turns": max(found.added | found.turns.keys()), "changes": newest})
        problems = store.check()
    finally:
        store.close()
    if problems:
        raise StoreError(f"what was rescued is not what was read: {'; '.join(problems[:3])}; please report this")
    return n_rows


def _put(put: Callable[[], None]) -> bool:
    try:
        put()
    except (StoreError, TurnError):
        return False
    return True


def _copy_vectors(folder: Path, copy: Path) -> None:
    for path in sorted((folder / "vectors").glob("[!.]*")):
        if path.is_file():
            (copy / "vectors").mkdir(mode=0o700, exist_ok=True)
            target = copy / "vectors" / path.name
            target.touch(mode=0o600)
            shutil.copyfile(path, target)
