"""Where an engine keeps what is made from the words: the keyword index as it was saved, and vectors."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from memory_rag.embedding.embedder import Embedder
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.store.files import DERIVED, LOCK_NAME, locked, write_atomically
from memory_rag.text.analyzer import Analyzer

if TYPE_CHECKING:
    # Loading it loads FAISS, which keyword search does without.
    from memory_rag.retrieval.dense import DenseIndex
    from memory_rag.retrieval.vectors import VectorFile

MANIFEST: Final = "manifest.json"


class Derived(Protocol):
    """What is made from one memory's words, as far as it is kept beside them."""

    def keyword(self, analyzer: Analyzer) -> KeywordIndex:
        """Return the keyword index as it was saved; an empty one if there is none that can be used."""
        ...

    def empty_keyword(self, analyzer: Analyzer) -> KeywordIndex:
        """Return a keyword index that is still to catch up."""
        ...

    def dense(self, embedder: Embedder) -> DenseIndex:
        """Return the index of an embedder's vectors, which catches up with those that are kept."""
        ...

    def alone(self, *, timeout_s: float) -> AbstractContextManager[None]:
        """Keep others from saving meanwhile.

        Raises:
            MemoryLockedError: another process is saving.
        """
        ...

    def save(self, keyword: KeywordIndex, *, embedder: str | None) -> None:
        """Keep the keyword index for the next process, if this engine keeps one; ``embedder`` is a fingerprint.

        Raises:
            StoreError: it can't be written; the words are safe.
        """
        ...

    def prune(self, embedder: Embedder | None) -> None:
        """Delete the vectors of all embedders but this one."""
        ...


class DerivedFiles:
    """What is made from the words of a memory in a folder: ``derived/``, which may be deleted, and ``vectors/``."""

    def __init__(self, folder: Path, *, lock_timeout_s: float, waits_for_disk: bool) -> None:
        self._folder = folder
        self._lock_timeout_s = lock_timeout_s
        self._waits_for_disk = waits_for_disk
        self.vector_files: dict[Path, VectorFile] = {}
        """Those that this process searches in, by the paths of their ids."""

    def keyword(self, analyzer: Analyzer) -> KeywordIndex:
        return KeywordIndex.load(self._folder / DERIVED, analyzer)

    def empty_keyword(self, analyzer: Analyzer) -> KeywordIndex:
        return KeywordIndex(analyzer)

    def dense(self, embedder: Embedder) -> DenseIndex:
        from memory_rag.retrieval.dense_files import dense_in, vectors_in

        file = vectors_in(self._folder, embedder, waits_for_disk=self._waits_for_disk)
        self.vector_files[file.ids_path] = file
        return dense_in(self._folder, embedder, lock_timeout_s=self._lock_timeout_s, kept=file)

    def alone(self, *, timeout_s: float) -> AbstractContextManager[None]:
        return locked(self._folder / LOCK_NAME, timeout_s=timeout_s, what="derived files")

    def save(self, keyword: KeywordIndex, *, embedder: str | None) -> None:
        keyword.save(self._folder / DERIVED)
        manifest = {
            "seq": keyword.applied_seq,
            "n_turns": keyword.table.n_alive,
            "analyzer": keyword.analyzer.fingerprint,
            "embedder": embedder,
        }
        data = json.dumps(manifest, ensure_ascii=False, indent=1).encode()
        write_atomically(self._folder / DERIVED / MANIFEST, lambda file: file.write(data))

    def prune(self, embedder: Embedder | None) -> None:
        from memory_rag.retrieval.vectors import file_stem

        own = None if embedder is None else file_stem(embedder.fingerprint)
        for path in (self._folder / "vectors").glob("*"):
            if path.stem != own:
                path.unlink()
