"""The dense index of a memory in a folder."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from memory_rag.embedding.embedder import Embedder
from memory_rag.retrieval.dense import DenseIndex
from memory_rag.retrieval.kept_codes import KEPT_FROM
from memory_rag.retrieval.vectors import VectorFile, file_stem
from memory_rag.store.files import DERIVED, LOCK_NAME, locked


def vectors_in(folder: Path, embedder: Embedder, *, waits_for_disk: bool = True) -> VectorFile:
    """Return the file of an embedder's vectors in a memory's folder."""
    return VectorFile(
        folder / "vectors", fingerprint=embedder.fingerprint, dim=embedder.dim, waits_for_disk=waits_for_disk
    )


def dense_in(
    folder: Path,
    embedder: Embedder,
    *,
    lock_timeout_s: float = 10.0,
    kept: VectorFile | None = None,
    kept_from: int = KEPT_FROM,
) -> DenseIndex:
    """Return the index of an embedder's vectors in a memory's folder; codes of ``kept_from`` or more are kept."""
    return DenseIndex(
        kept or vectors_in(folder, embedder),
        embedder,
        alone=partial(locked, folder / LOCK_NAME, timeout_s=lock_timeout_s, what="vectors"),
        codes_path=folder / DERIVED / f"{file_stem(embedder.fingerprint)}.codes.npz",
        kept_from=kept_from,
    )
