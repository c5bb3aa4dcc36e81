"""The default embedder: all-MiniLM-L6-v2 through ONNX Runtime, without torch and without a download."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Final

import numpy as np

from memory_rag.embedding.embedder import (
    Distinct,
    Vectors,
    check_lengths,
    checked_vectors,
    mean_of_passages,
)
from memory_rag.embedding.generic_questions import ENGLISH, hub_shift
from memory_rag.embedding.loading import Loading
from memory_rag.embedding.minilm_network import (
    DIM,
    GRAPH_SHA256,
    MODEL_PATH_VARIABLE,
    MODEL_SHA256,
    MiniLmNetwork,
    is_packaged,
)
from memory_rag.embedding.parallel import in_parallel, thread_count
from memory_rag.embedding.passages import PassageShape, passages_that_fit
from memory_rag.embedding.pinned_files import sha256_of
from memory_rag.embedding.wordpiece import WordPiece
from memory_rag.turns import Span

MAX_TOKENS: Final = 256
MARKS: Final = 2
OWN_TOKENS: Final = MAX_TOKENS - MARKS
"""Tokens of a text itself, between the two marks."""


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 in int8: English, 384 numbers, about 4 ms a turn on one core.

    A text's vector doesn't depend on what it is embedded together with. The model is loaded with the first
    text; ``threads`` (0: one a core) texts run at a time. ``model_path``, or ``MEMORY_RAG_MINILM_PATH`` in
    the environment, names another ONNX export of the same model.
    """

    dim = DIM
    max_tokens = MAX_TOKENS
    reads_speaker = False

    def __init__(
        self,
        *,
        model_path: str | Path | None = None,
        threads: int = 0,
        shape: PassageShape | None = None,
        hub_strength: float = 0.5,
    ) -> None:
        path = model_path or os.environ.get(MODEL_PATH_VARIABLE)
        self._named_path = named = Path(path) if path else None
        self._threads = thread_count(threads)
        self._shape = (shape or PassageShape()).within(OWN_TOKENS)
        self._hub_strength = hub_strength
        self._tokenizer = Loading(WordPiece)
        self._network = Loading(partial(MiniLmNetwork.of, named))

    @cached_property
    def fingerprint(self) -> str:
        named = self._another
        model = sha256_of(named)[:12] if named else f"{MODEL_SHA256[:12]}-{GRAPH_SHA256[:8]}"
        return f"minilm-int8:{DIM}:{model}:{self._shape}"

    @cached_property
    def _another(self) -> Path | None:
        """The model file that was named, if it isn't the package's."""
        named = self._named_path
        return None if named is None or is_packaged(named) else named

    @cached_property
    def query_shift(self) -> Vectors:
        return hub_shift(
            self.embed_queries,
            strength=self._hub_strength,
            dim=DIM,
            questions=ENGLISH,
            model_sha256="" if self._another else GRAPH_SHA256,
        )

    def load_ahead(self) -> None:
        """Begin to load the network, which takes .2 s, and return at once."""
        self._network.begin()

    def passages(self, text: str) -> tuple[Span, ...]:
        tokenizer = self._tokenizer.loaded()
        return passages_that_fit(
            text, starts=tokenizer.starts, count=tokenizer.count, shape=self._shape, most=OWN_TOKENS
        )

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        tokenizer = self._tokenizer.loaded()
        distinct = Distinct.of(texts)
        tokens = [tokenizer.ids(text) for text in distinct.texts]
        of_each = (len(tokens[place]) + MARKS for place in distinct.places)
        check_lengths(texts, n_tokens=of_each, most=MAX_TOKENS, reader="minilm")
        return self._vectors_of(tokens)[distinct.places]

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        # Somebody waits, and each look of the tokenizer gives the interpreter's lock up to other threads: one a text.
        tokenizer = self._tokenizer.loaded()
        tokens = [tokenizer.ids(text) for text in texts]
        if max(map(len, tokens), default=0) <= self._shape.size:
            return self._vectors_of(tokens)
        return mean_of_passages(texts, passages=self.passages, embed=self.embed_turns)

    def _vectors_of(self, tokens: Sequence[list[int]]) -> Vectors:
        """Return a unit-length row for the tokens of each text, none of which is too long."""
        run = self._network.loaded().run
        rows = np.zeros((len(tokens), DIM), np.float32)
        for row, vector in zip(rows, in_parallel(run, tokens, threads=self._threads), strict=True):
            row[:] = vector
        return checked_vectors(rows, n=len(tokens), dim=DIM)
