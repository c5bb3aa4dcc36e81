"""Vectors of turns that are gone, or had other words: taken out of every file of vectors, whoever made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Vectors
from memory_rag.retrieval.vector_blocks import ERASED, BlockDamagedError
from memory_rag.retrieval.vector_spaces import dim_of
from memory_rag.retrieval.vectors import Checked, VectorFile, VectorRows

FOLDER: Final = "vectors"


class VectorErasure:
    """Takes vectors out of the files of a memory, and remembers which of these it has found whole."""

    def __init__(self, folder: Path, *, in_use: Mapping[Path, VectorFile] = MappingProxyType({})) -> None:
        """Erase in a memory's folder; ``in_use`` are files that this process searches in, by their paths of ids.

        What these found whole isn't compared again here, nor by them what is written here.
        """
        self._folder = folder / FOLDER
        self._in_use = in_use
        self._whole: dict[Path, Checked] = {}

    def erase(self, contents: Mapping[int, int | None]) -> None:
        """Take the vectors of these rows that were made of other words than they have now out of every file.

        ``contents`` says, for each row, the key of the words that it has now; None if it is gone. Call under the
        memory's lock. What a killed process left is taken away too, since it may be of these rows: then the file is
        written anew.

        Raises:
            StoreError: the files can't be read or written.
        """
        for ids_path in sorted(self._folder.glob("*.ids")):
            _finish_replacing(ids_path)
            searched, known = self._in_use.get(ids_path), self._whole.pop(ids_path, None)
            if searched is not None and searched.whole is not None:
                known = searched.whole
            try:
                whole = _erase(ids_path, contents, known=known)
            except BlockDamagedError:
                whole = _erase(ids_path, contents, known=None)
            if whole is not None:
                self._whole[ids_path] = whole
                if searched is not None:
                    searched.whole = whole
        for path in sorted(self._folder.glob("*")):
            is_alone = path.suffix == ".f32" and not path.with_suffix(".ids").exists()
            if path.name.startswith(".") or is_alone:
                path.unlink()


def _erase(ids_path: Path, contents: Mapping[int, int | None], *, known: Checked | None) -> Checked | None:
    """Take vectors out of one file, and return how much of it is whole; None if that is to be found out.

    Raises:
        BlockDamagedError: part of what is ``known`` to be whole isn't any more; nothing was done.
    """
    file = _opened(ids_path)
    if file is None:
        # Nothing in it can be read, so nothing in it is of use.
        ids_path.unlink()
        ids_path.with_suffix(".f32").unlink(missing_ok=True)
        return None
    file.checked = known
    rows = _all_of(file)
    told = _told(rows, contents)
    if not file.has_rest and not file.n_damaged:
        file.erase(rows, told)
        return file.whole
    stays = ~told & (rows.ids["row"] != ERASED)
    file.replace_with(VectorRows(rows.vectors[stays], rows.ids[stays]))
    return None


def vectors_of(folder: Path, contents: Mapping[int, int | None]) -> Iterator[tuple[Vectors, Vectors]]:
    """Yield (what would be erased, what would stay) of every file of vectors; shapes (n, dim)."""
    for ids_path in sorted((folder / FOLDER).glob("*.ids")):
        file = _opened(ids_path)
        if file is not None:
            rows = _all_of(file)
            told, erased = _told(rows, contents), rows.ids["row"] == ERASED
            yield rows.vectors[told], rows.vectors[~told & ~erased]


def _told(rows: VectorRows, contents: Mapping[int, int | None]) -> npt.NDArray[np.bool_]:
    told = np.isin(rows.ids["row"], np.array(list(contents), np.int64))
    for place in np.flatnonzero(told).tolist():
        told[place] = contents[int(rows.ids["row"][place])] != int(rows.ids["content"][place])
    return told


def _opened(ids_path: Path) -> VectorFile | None:
    """Return a file of vectors; None if it doesn't say how many numbers a vector has."""
    dim = dim_of(ids_path)
    return VectorFile.at(ids_path, dim=dim) if dim else None


def _all_of(file: VectorFile) -> VectorRows:
    rows = file.read_new()
    if rows is None:
        rows = file.read_new()
    assert rows is not None  # a file that was just opened is no other one than before
    return rows


def _finish_replacing(ids_path: Path) -> None:
    """Put the new ids in place where a process was killed after it had done so with the new vectors."""
    new = ids_path.with_name(f".{ids_path.name}.new")
    rows_path = ids_path.with_suffix(".f32")
    if not new.exists() or rows_path.with_name(f".{rows_path.name}.new").exists():
        return
    file = _opened(new)
    if file is None:
        return
    file.rows_path = rows_path
    if len(_all_of(file).ids) and not file.has_rest and not file.n_damaged:
        new.replace(ids_path)
