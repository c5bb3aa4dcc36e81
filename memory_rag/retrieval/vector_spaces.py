"""The vectors that a memory keeps, embedder by embedder, to be taken elsewhere as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from memory_rag.errors import StoreError
from memory_rag.retrieval.turn_table import content_key
from memory_rag.retrieval.vector_blocks import ERASED, HEAD, MAGIC, Ids
from memory_rag.retrieval.vectors import VectorFile, VectorRows
from memory_rag.store.files import LOCK_NAME, locked
from memory_rag.turns import Turn

AT_ONCE: Final = 2000
"""Vectors that are read and written together, and those of the last turn among them."""
_FOLDER: Final = "vectors"
_MAGIC: Final = MAGIC.to_bytes(4, "little")


class Contents:
    """Which words the turns of a memory have now: the key of each, by row."""

    def __init__(self, turns: Iterable[tuple[int, Turn]]) -> None:
        keys = np.array([(row, content_key(turn)) for row, turn in turns], np.int64).reshape(-1, 2)
        self._rows, self._keys = keys[np.argsort(keys[:, 0], kind="stable")].T

    def are_of(self, ids: Ids) -> npt.NDArray[np.bool_]:
        """Tell which vectors were made of the words that their turn has now."""
        if len(self._rows) == 0:
            return np.zeros(len(ids), np.bool_)
        places = np.minimum(np.searchsorted(self._rows, ids["row"]), len(self._rows) - 1)
        found: npt.NDArray[np.bool_] = (self._rows[places] == ids["row"]) & (self._keys[places] == ids["content"])
        return found


class VectorSpaces(Protocol):
    """The vectors of a memory by the name of what made them: a fingerprint as the name of a file."""

    def dims(self) -> dict[str, int]:
        """Return how many numbers a vector has, by the name of what made it; only of those that made any."""
        ...

    def rows(self, name: str) -> set[int]:
        """Return the rows of the turns that have vectors of this name."""
        ...

    def read(self, name: str, contents: Contents) -> Iterator[VectorRows]:
        """Yield the vectors of a name that were made of present words, by row and place, no turn in two parts."""
        ...

    def append(self, name: str, rows: VectorRows) -> None:
        """Keep more vectors of a name, durably: all of them, or none.

        Raises:
            StoreError: they can't be written.
        """
        ...

    def delete(self) -> None:
        """Delete every vector."""
        ...


class FolderSpaces:
    """The vectors in a memory's folder."""

    def __init__(self, folder: Path, *, lock_timeout_s: float) -> None:
        self._folder = folder
        self._lock_timeout_s = lock_timeout_s
        self._open: dict[str, VectorFile] = {}

    def dims(self) -> dict[str, int]:
        found = {path.stem: dim_of(path) for path in sorted((self._folder / _FOLDER).glob("[!.]*.ids"))}
        return {name: dim for name, dim in found.items() if dim and self.rows(name)}

    def rows(self, name: str) -> set[int]:
        ids_path = self._ids_path(name)
        dim = dim_of(ids_path) if ids_path.is_file() else 0
        return set(_all_of(self._file(name, dim)).ids["row"].tolist()) - {ERASED} if dim else set()

    def read(self, name: str, contents: Contents) -> Iterator[VectorRows]:
        everything = _all_of(self._file(name, dim_of(self._ids_path(name))))
        present = np.flatnonzero(contents.are_of(everything.ids))
        order = present[np.lexsort((present, everything.ids["start"][present], everything.ids["row"][present]))]
        ids = everything.ids[order]
        # What was embedded twice, by two processes or after a stop, counts as it was embedded last.
        is_last = np.ones(len(ids), np.bool_)
        is_last[:-1] = ids[["row", "start"]][1:] != ids[["row", "start"]][:-1]
        order, ids = order[is_last], ids[is_last]
        for start, end in _parts(ids["row"]):
            yield VectorRows(np.array(everything.vectors[order[start:end]], np.float32), ids[start:end])

    def append(self, name: str, rows: VectorRows) -> None:
        with locked(self._folder / LOCK_NAME, timeout_s=self._lock_timeout_s, what="vectors"):
            file = self._open.get(name)
            if file is None:
                file = self._open[name] = self._file(name, rows.vectors.shape[1])
            while file.read_new() is None:
                pass
            file.append(rows.vectors, rows.ids)

    def delete(self) -> None:
        self._open.clear()
        with locked(self._folder / LOCK_NAME, timeout_s=self._lock_timeout_s, what="vectors"):
            for path in (self._folder / _FOLDER).glob("*"):
                path.unlink()

    def _ids_path(self, name: str) -> Path:
        return self._folder / _FOLDER / f"{name}.ids"

    def _file(self, name: str, dim: int) -> VectorFile:
        return VectorFile.at(self._ids_path(name), dim=dim)


def dim_of(ids_path: Path) -> int:
    """Return how many numbers a vector has, as a file of ids says in any of its blocks; 0 if none of them says.

    Raises:
        StoreError: the file can't be read.
    """
    try:
        data = ids_path.read_bytes()
    except OSError as error:
        raise StoreError(f"{ids_path} can't be read ({error.strerror})") from error
    at = -1
    while (at := data.find(_MAGIC, at + 1)) >= 0 and at + HEAD.itemsize <= len(data):
        dim = int(np.frombuffer(data, HEAD, count=1, offset=at)[0]["dim"])
        if 0 < dim < 2**16:
            return dim
    return 0


def _all_of(file: VectorFile) -> VectorRows:
    rows = file.read_new()
    while rows is None:
        rows = file.read_new()
    return rows


def _parts(rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield where parts of sorted rows begin and end, about :data:`AT_ONCE` each, none of them within a row."""
    start = 0
    while start < len(rows):
        last = min(start + AT_ONCE, len(rows)) - 1
        end = int(np.searchsorted(rows, rows[last], side="right"))
        yield start, end
        start = end
