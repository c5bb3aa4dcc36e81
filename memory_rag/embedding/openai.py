"""Embeddings over HTTP: OpenAI's, or those of any server that speaks as OpenAI does, through the official
SDK."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
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
from memory_rag.embedding.openai_api import OpenAIApi
from memory_rag.embedding.passages import PassageShape, passages_that_fit
from memory_rag.embedding.retry import RetryPolicy
from memory_rag.errors import EmbedderError
from memory_rag.turns import Span, printable

KNOWN_DIMS: Final = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
BYTES_PER_TOKEN: Final = 3
"""Bytes of UTF-8 counted as a token. English has four to five, so the estimate is high rather than low."""
REQUEST_TOKENS: Final = 100_000
"""Estimated tokens of a request at most; OpenAI takes 300,000."""
BLANK: Final = "."
"""What is sent for a text without a word, because the API refuses an empty one."""


class OpenAIEmbedder:
    """An embedding model behind an API: the texts leave this machine.

    The key is ``api_key`` or ``OPENAI_API_KEY``; a server other than OpenAI's, ``base_url`` or
    ``OPENAI_BASE_URL``, may need none. ``dimensions`` asks for shorter vectors. The fingerprint names the
    model and not the server. The number of tokens is estimated: three bytes of UTF-8 each. No hub correction
    by default, because it was measured for other models only.

    Raises:
        EmbedderError: there is no key.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        dimensions: int | None = None,
        max_tokens: int = 8191,
        shape: PassageShape | None = None,
        reads_speaker: bool = True,
        hub_strength: float = 0.0,
        batch_texts: int = 256,
        timeout_s: float = 60.0,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.max_tokens = max_tokens
        self.reads_speaker = reads_speaker
        self._model = model
        self._dimensions = dimensions
        self._told_dim: int | None = dimensions or KNOWN_DIMS.get(model)
        self._most = max_tokens - (LONGEST_LABEL if reads_speaker else 0)
        self._shape = (shape or PassageShape(size=192, overlap=24)).within(self._most)
        self._hub_strength = hub_strength
        self._batch_texts = batch_texts
        self._retry = retry or RetryPolicy()
        self._api = OpenAIApi(
            model, what="embeddings", error=EmbedderError, api_key=api_key, base_url=base_url, timeout_s=timeout_s,
            retry=self._retry,
        )  # fmt: skip

    @property
    def fingerprint(self) -> str:
        speaker = ":speaker" if self.reads_speaker else ""
        return f"openai:{self._model}:{self._dimensions or 'full'}:{self._shape}{speaker}"

    @property
    def dim(self) -> int:
        """How many numbers a vector has; for a model that isn't known by name, one short text is sent to find
        out."""
        if self._told_dim is None:
            self._told_dim = self._ask([BLANK]).shape[1]
        return self._told_dim

    @cached_property
    def query_shift(self) -> Vectors:
        return hub_shift(self.embed_queries, strength=self._hub_strength, dim=self.dim)

    def passages(self, text: str) -> tuple[Span, ...]:
        return passages_that_fit(
            text, starts=_estimated_starts, count=estimated_tokens, shape=self._shape, most=self._most
        )

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        n_tokens = map(estimated_tokens, texts)
        check_lengths(texts, n_tokens=n_tokens, most=self.max_tokens, reader=self._model)
        distinct = Distinct.of([_sendable(text) for text in texts])
        answers = [self._ask(batch) for batch in self._batches(distinct.texts)]
        if not answers:
            return checked_vectors([], n=0, dim=self.dim)
        rows = np.concatenate(answers)
        self._told_dim = rows.shape[1]
        return checked_vectors(rows[distinct.places], n=len(texts), dim=rows.shape[1])

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return mean_of_passages(texts, passages=self.passages, embed=self.embed_turns)

    def close(self) -> None:
        """Close the connections; the embedder can't be used afterwards."""
        self._api.close()

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        n_tokens = 0
        for text in texts:
            own = estimated_tokens(text)
            if batch and (len(batch) == self._batch_texts or n_tokens + own > REQUEST_TOKENS):
                yield batch
                batch, n_tokens = [], 0
            batch.append(text)
            n_tokens += own
        if batch:
            yield batch

    def _ask(self, texts: list[str]) -> Vectors:
        """Return the vectors of one request, as the server gave them, in the order of the texts."""
        rows = self._rows(self._retry.run(lambda: self._ask_once(texts)), n=len(texts))
        if self._told_dim is not None and rows.shape[1] != self._told_dim:
            why = f"dimensions={self._dimensions}" if self._dimensions else "as it is known or was before"
            raise EmbedderError(
                f"{self._api.server} gave vectors of dim {rows.shape[1]} for {self._model}, but {self._told_dim} "
                f"was expected ({why}); name a model and dimensions that the server has"
            )
        return rows

    def _ask_once(self, texts: list[str]) -> Any:
        asked: dict[str, Any] = {"dimensions": self._dimensions} if self._dimensions else {}
        with self._api.faults():
            return self._api.client.embeddings.create(model=self._model, input=texts, encoding_format="float", **asked)

    def _rows(self, answer: Any, *, n: int) -> Vectors:
        """Return the vectors of an answer, sorted by the index that it gives them; shape (n, dim)."""
        try:
            by_index = {item.index: np.asarray(item.embedding, np.float32) for item in answer.data}
            n_given = len(answer.data)
        except (AttributeError, TypeError, ValueError) as error:
            raise EmbedderError(
                f"{self._api.server} gave an answer without embeddings for {self._model}: {error}; "
                "check the address: it usually ends in /v1"
            ) from error
        if n_given != n or set(by_index) != set(range(n)):
            raise EmbedderError(
                f"{self._api.server} gave {n_given} vectors with the indexes {sorted(by_index, key=str)[:8]} for "
                f"{n} texts; each text needs one, with indexes 0 to {n - 1}"
            )
        shapes = {row.shape for row in by_index.values()}
        if len(shapes) != 1 or len(next(iter(shapes))) != 1 or 0 in next(iter(shapes)):
            raise EmbedderError(f"{self._api.server} gave vectors of different or no dim for {self._model}: {shapes}")
        return np.stack([by_index[index] for index in range(n)])


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has: its bytes of UTF-8 divided by three, rounded up."""
    return -(-len(printable(text).encode()) // BYTES_PER_TOKEN)


def _estimated_starts(text: str) -> Sequence[int]:
    places = array("q")
    n_bytes = 0
    for place, character in enumerate(text):
        while n_bytes >= len(places) * BYTES_PER_TOKEN:
            places.append(place)
        code = ord(character)
        n_bytes += 1 + (code > 0x7F) + (code > 0x7FF) + (code > 0xFFFF)
    return places


def _sendable(text: str) -> str:
    clean = printable(text)
    return clean if clean.strip() else BLANK
