"""An embedder that remembers questions: each is embedded once, and how long it took is kept with its vector."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Embedder, Vectors
from memory_rag.store.archives import read_archive, write_archive
from memory_rag.trials.embedder_over import EmbedderOver
from memory_rag.turns import text_bytes


class RememberingEmbedder(EmbedderOver):
    """An embedder as any other, over one whose questions' vectors are kept in a folder, by its fingerprint."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        super().__init__(embedder)
        self._folder = folder
        self._known: dict[bytes, tuple[Vectors, float]] | None = None
        self._n_saved = 0

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row per question, embedded one at a time as a search does it."""
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        return np.stack([self._of(text)[0] for text in texts])

    def embedding_ms(self, text: str) -> float:
        """Return how long it took to embed a question, when it was embedded."""
        return self._of(text)[1]

    def save(self) -> None:
        """Write the vectors of questions down, if there are new ones."""
        if self._known is None or len(self._known) == self._n_saved:
            return
        arrays: dict[str, npt.NDArray[Any]] = {
            "keys": np.frombuffer(b"".join(self._known), np.uint8).reshape(-1, 32),
            "vectors": np.stack([vector for vector, _ in self._known.values()]),
            "ms": np.array([ms for _, ms in self._known.values()]),
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        write_archive(self._path, arrays)
        self._n_saved = len(self._known)

    @property
    def _path(self) -> Path:
        name = hashlib.sha256(self.fingerprint.encode()).hexdigest()[:16]
        return self._folder / f"questions-{name}.npz"

    def _of(self, text: str) -> tuple[Vectors, float]:
        if self._known is None:
            self._known = self._load()
            self._n_saved = len(self._known)
        key = hashlib.sha256(text_bytes(text)).digest()
        found = self._known.get(key)
        if found is None:
            if not self._known:
                # The first call loads the model, which is no part of a question's time.
                self._embedder.embed_queries([text])
            start = perf_counter()
            vector = np.asarray(self._embedder.embed_queries([text]), np.float32)[0]
            found = self._known[key] = (vector, 1000 * (perf_counter() - start))
        return found

    def _load(self) -> dict[bytes, tuple[Vectors, float]]:
        return read_archive(self._path, self._read) or {}

    def _read(self, arrays: Mapping[str, npt.NDArray[Any]]) -> dict[bytes, tuple[Vectors, float]] | None:
        keys, vectors, ms = arrays["keys"], arrays["vectors"], arrays["ms"]
        if vectors.shape != (len(keys), self.dim) or len(ms) != len(keys):
            return None
        return {key.tobytes(): (vector, float(spent)) for key, vector, spent in zip(keys, vectors, ms, strict=True)}
