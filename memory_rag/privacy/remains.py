"""Where bytes of forgotten turns may remain, and are looked for: a memory's folder, or its rows on a server."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.privacy.proof import Proof, prove
from memory_rag.privacy.proof_of_rows import prove_rows
from memory_rag.privacy.sought import Needle
from memory_rag.privacy.vector_erasure import vectors_of
from memory_rag.retrieval.turn_table import content_key
from memory_rag.store.engine import Connection
from memory_rag.store.erasing import Erasing, ServerEraser
from memory_rag.store.folder import FILE_NAME
from memory_rag.store.held_files import HeldFiles
from memory_rag.store.turn_writer import TurnWriter

_OF_FILES: Final = (
    "SQLite format 3",
    "{'descr': '<i8', 'fortran_order': False, 'shape': (), }",
    "seq n_turns analyzer embedder kind data caption made_by languages conversation session",
    "turns.sqlite vectors derived keyword.npz manifest.json .lock",
)
_OF_TABLES: Final = (
    "SELECT name FROM sqlite_master UNION ALL SELECT sql FROM sqlite_master WHERE sql IS NOT NULL",
    "SELECT name || ' ' || applied_at FROM migrations",
)


class Remains(Protocol):
    """Where a memory's bytes are."""

    def vectors(self, contents: Mapping[int, int | None]) -> Iterator[tuple[Vectors, Vectors]]:
        """Yield, embedder by embedder, the vectors of rows whose words are not ``contents``, and all others."""
        ...

    def words(self, connection: Connection) -> Iterator[str]:
        """Yield the words that stand there whatever was said."""
        ...

    def prove(
        self, texts: Sequence[Needle], others: Sequence[Needle], *, left_out: int, named: tuple[str, ...]
    ) -> Proof:
        """Look at all of it; ``texts`` are in lower case, ``others`` as they are."""
        ...


class FolderRemains:
    """Every file under a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def vectors(self, contents: Mapping[int, int | None]) -> Iterator[tuple[Vectors, Vectors]]:
        return vectors_of(self._folder, contents)

    def words(self, connection: Connection) -> Iterator[str]:
        yield from _OF_FILES
        for select in _OF_TABLES:
            yield "\n".join(str(value) for (value,) in connection.execute(select))
        yield from (path.stem for path in (self._folder / "vectors").glob("*.ids"))
        for path in sorted((self._folder / "derived").glob("*.npz")):
            with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
                yield "\n".join(archive.namelist())

    def prove(
        self, texts: Sequence[Needle], others: Sequence[Needle], *, left_out: int, named: tuple[str, ...]
    ) -> Proof:
        with HeldFiles(self._folder / FILE_NAME) as held:
            return prove(
                self._folder,
                texts,
                others,
                left_out=left_out,
                named=named,
                opened=lambda path: held.open(path) if held.are(path) else path.open("rb"),
            )


class ServerRemains:
    """Every row of one owner on a server."""

    def __init__(self, store: TurnWriter, eraser: ServerEraser) -> None:
        self._store = store
        self._eraser = eraser

    def vectors(self, contents: Mapping[int, int | None]) -> Iterator[tuple[Vectors, Vectors]]:
        now = self._store.turns_at(list(contents))
        # A server keeps no vector of words that aren't a turn's present ones.
        goes = [row for row, turn in now.items() if contents[row] != content_key(turn)]
        for rows, vectors in self._eraser.vectors():
            told = np.isin(np.asarray(rows, np.int64), goes)
            yield vectors[told], vectors[~told]

    def words(self, connection: Connection) -> Iterator[str]:
        del connection
        return self._eraser.words()

    def prove(
        self, texts: Sequence[Needle], others: Sequence[Needle], *, left_out: int, named: tuple[str, ...]
    ) -> Proof:
        waiting = len(Erasing(self._store.connections).unfinished().since)
        return prove_rows(
            self._store.connections.place,
            self._eraser,
            texts,
            others,
            left_out=left_out,
            named=named,
            unlooked=(f"dead rows of {waiting:,} turns, which VACUUM has still to take out",) if waiting else (),
        )


def remains_of(store: TurnWriter, folder: Path | None) -> Remains:
    """Return where the bytes of a memory are: in its folder, if it has one, else on its server."""
    if folder is not None:
        return FolderRemains(folder)
    eraser = store.eraser
    assert isinstance(eraser, ServerEraser)  # a store without a folder is a server's
    return ServerRemains(store, eraser)
