"""From a removal to the last byte: files made of the words, then the tables; taken up again after any stop."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from memory_rag.errors import DiskFullError, StoreError
from memory_rag.privacy.vector_erasure import VectorErasure
from memory_rag.retrieval.turn_table import content_key
from memory_rag.store.erasing import Erasing
from memory_rag.store.files import DERIVED, LOCK_NAME, locked
from memory_rag.store.turn_writer import TurnWriter

if TYPE_CHECKING:
    from memory_rag.retrieval.vectors import VectorFile


class Erasure:
    """Overwrites what the store notes as still to be erased. Every step may be done twice, and by several at once."""

    def __init__(
        self, folder: Path | None, store: TurnWriter, *, in_use: Mapping[Path, VectorFile] = MappingProxyType({})
    ) -> None:
        """Erase in a memory's tables, and in its folder if it has one.

        ``in_use`` are the files of vectors that this process searches in, by the paths of their ids.
        """
        self._folder = folder
        self._vectors = None if folder is None else VectorErasure(folder, in_use=in_use)
        self._store = store
        self._erasing = Erasing(store.connections)

    @property
    def is_unfinished(self) -> bool:
        """Whether something was removed of which bytes may be left."""
        return bool(self._erasing.unfinished())

    def finish(self, *, timeout_s: float, anew: bool = False) -> str:
        """Overwrite what is left, and return why that couldn't be done; an empty text if nothing is left.

        What is derived from the words is deleted: it is rebuilt when it is needed. Waits ``timeout_s`` at most for
        those who write files, write the store, and read an older state of it. With ``anew`` the file, or a
        server's files, are written anew too.
        """
        unfinished = self._erasing.unfinished()
        if not unfinished:
            return ""
        try:
            if unfinished.files_waiting:
                self._erase_files(unfinished.files_waiting, timeout_s=timeout_s)
            if why := self._store.eraser.overwrite(timeout_s=timeout_s, anew=anew):
                return why
            self._erasing.done(unfinished.since)
        except DiskFullError as error:
            return f"{error.what}; what is removed stays so, and the next opening goes on when there is room"
        except (StoreError, OSError) as error:
            return str(error)
        return ""

    def contents(self, rows: Collection[int]) -> Mapping[int, int | None]:
        """Return, for each row, the key of the words that it has now; None if it is gone."""
        turns = self._store.turns_at(list(rows))
        return {row: content_key(turns[row]) if row in turns else None for row in rows}

    def _erase_files(self, rows: Mapping[int, int], *, timeout_s: float) -> None:
        if self._folder is None or self._vectors is None:
            self._erasing.note_files_done(rows)
            return
        with locked(self._folder / LOCK_NAME, timeout_s=timeout_s, what="vectors or derived files"):
            # Read under the lock: who embeds or saves after it looks at the store first.
            self._vectors.erase(self.contents(rows))
            derived = self._folder / DERIVED
            for path in sorted(derived.iterdir()) if derived.is_dir() else ():
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
            self._erasing.note_files_done(rows)
