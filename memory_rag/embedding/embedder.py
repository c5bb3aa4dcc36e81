"""What an embedder is: texts in, unit-length vectors out, and nothing cut off in silence."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memory_rag.errors import EmbedderError
from memory_rag.turns import Span, printable

Vectors = NDArray[np.float32]

LONGEST_LABEL: Final = 64
"""Bytes (UTF-8) of a speaker's name that are embedded with a turn; passages leave room for as many tokens."""


class Embedder(Protocol):
    """Turns texts into vectors whose inner product says how near they are in meaning.

    Every vector has length 1, so an inner product is a cosine. A turn that is longer than the model reads is
    cut by :meth:`passages` first; :meth:`embed_turns` refuses a text that is too long and never cuts it. A
    model is loaded when it is first needed.
    """

    @property
    def fingerprint(self) -> str:
        """The name of the vectors' space: model, revision, size of a passage. Spaces are never mixed."""

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""

    @property
    def max_tokens(self) -> int:
        """How many tokens the model reads at once, its own marks included."""

    @property
    def reads_speaker(self) -> bool:
        """Whether a turn is best embedded with its speaker's name before it; see :func:`as_embedded`."""

    @property
    def query_shift(self) -> Vectors:
        """What to subtract from a query's vector, without normalising it again; shape (dim,)."""

    def passages(self, text: str) -> tuple[Span, ...]:
        """Return the spans of a turn's text to embed, in order and overlapping; a short text is one span.

        Together they hold every character that isn't white space. Each of them, with its speaker's name where
        ``reads_speaker`` asks for it, is short enough for :meth:`embed_turns`. An empty text is
        ``Span(0, 0)``.
        """

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        """Return one unit-length float32 row per text, in input order; shape (len(texts), dim).

        No text gives shape (0, dim); an empty text has a vector too.

        Raises:
            EmbedderError: a text is too long, or the model can't be loaded or reached.
        """

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit-length float32 row per question, in input order; shape (len(texts), dim).

        A question that is longer than the model reads is the mean of its passages.

        Raises:
            EmbedderError: the model can't be loaded or reached.
        """


def as_embedded(text: str, *, speaker: str, embedder: Embedder) -> str:
    """Return a passage as the embedder wants it: as it is, or after its speaker's name and a colon.

    A name is NFKC-normalised and cut at 64 bytes of UTF-8, the room that every passage leaves for it.
    """
    name = unicodedata.normalize("NFKC", printable(speaker)).encode()
    label = name[:LONGEST_LABEL].decode(errors="ignore").strip()
    return f"{label}: {text}" if embedder.reads_speaker and label else text


def checked_vectors(array: ArrayLike, *, n: int, dim: int, names: Sequence[str] | None = None) -> Vectors:
    """Return vectors as unit-length float32 rows, shape (n, dim); the array given is copied, never changed.

    ``names`` says what each row belongs to, for example turn ids; without it an error counts texts from 1.

    Raises:
        EmbedderError: another shape, a number that isn't finite, or a row of zeros.
    """
    given = np.asarray(array)
    if given.shape != (n, dim) and not (n == 0 and given.size == 0):
        raise EmbedderError(
            f"{n} vectors of dim {dim} were expected, shape ({n}, {dim}), but the embedder gave shape "
            f"{given.shape}; an embedder returns one row of its dim for each text"
        )
    rows = given.reshape(n, dim).astype(np.float64)
    scale = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    for fault, reason in ((~np.isfinite(scale), "is not finite"), (scale == 0, "is all zeros")):
        if fault.any():
            first = int(np.flatnonzero(fault)[0])
            name = f"text {first + 1} of {n}" if names is None else repr(names[first])
            raise EmbedderError(
                f"the vector of {name} {reason}, so it has no direction; embed it again or leave it out"
            )
    # By the largest number first: the squares of 1e-200 and 1e200 are no float64.
    rows /= scale
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32)


def check_lengths(texts: Sequence[str], *, n_tokens: Iterable[int], most: int, reader: str) -> None:
    """Refuse texts of more tokens than a model reads; ``n_tokens`` counts those of each text.

    Raises:
        EmbedderError: names the first text that is too long.
    """
    for place, (text, own) in enumerate(zip(texts, n_tokens, strict=True), start=1):
        if own > most:
            raise EmbedderError(
                f"text {place} of {len(texts)}, {text[:40]!r}, has {own} tokens, but {reader} reads at most "
                f"{most}; embed its passages(text) instead"
            )


@dataclass(frozen=True, slots=True)
class Distinct:
    """Texts without repetitions, each at its first place; ``texts[places[i]]`` is the i-th text given."""

    texts: tuple[str, ...]
    places: NDArray[np.intp]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Distinct:
        number: dict[str, int] = {}
        places = [number.setdefault(text, len(number)) for text in texts]
        return cls(tuple(number), np.array(places, np.intp))


def mean_of_passages(
    texts: Sequence[str],
    *,
    passages: Callable[[str], tuple[Span, ...]],
    embed: Callable[[Sequence[str]], Vectors],
) -> Vectors:
    """Embed texts of any length: one passage as it is, more as their vectors' normalised mean."""
    spans = [passages(text) for text in texts]
    rows = embed([span.of(text) for text, own in zip(texts, spans, strict=True) for span in own])
    if len(rows) == len(texts):
        return rows
    ends = np.cumsum([len(own) for own in spans])
    means = [rows[end - len(own) : end].mean(axis=0) for end, own in zip(ends, spans, strict=True)]
    return checked_vectors(means, n=len(texts), dim=rows.shape[1])
