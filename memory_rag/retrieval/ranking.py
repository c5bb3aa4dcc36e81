"""Hits in their order: the one place that sorts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from memory_rag.turns import Span, Turn

_MANY: Final = 16_384
"""Among so many values the best of each group of them is looked at first; among fewer, sorting them takes less."""
_SPARE: Final = 4
"""So many groups there are for each value that is wanted: with fewer, most groups would have one of the best."""
_LEAST_GROUP: Final = 4
_LARGEST_GROUP: Final = 64
Scores = npt.NDArray[np.float64]
Entries = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Hit:
    """A turn that a search found; ``rank`` starts at 1, a higher score is better.

    ``span`` is where in the turn's text the best passage lies; ``signals`` says why the turn is here.
    """

    turn: Turn
    score: float
    rank: int
    span: Span
    signals: Mapping[str, float] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        from memory_rag.retrieval.in_notebook import hit_html

        return hit_html(self)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The hits of one search, best first, each turn once.

    ``pending`` counts the turns that were found by keyword only because they are not embedded yet; ``evidence`` is
    ``strong``, ``weak`` (hits that may well not answer the question) or ``none`` (nothing said answers it);
    ``evidence_value`` is the number behind it, where an embedder's floor was measured. ``notes`` are sentences for the
    user.
    """

    query: str
    mode: str
    hits: tuple[Hit, ...] = ()
    pending: int = 0
    evidence: str = "none"
    evidence_value: float | None = None
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, index: int) -> Hit:
        return self.hits[index]

    @property
    def turn_ids(self) -> tuple[str, ...]:
        return tuple(hit.turn.turn_id for hit in self.hits)

    def _repr_html_(self) -> str:
        from memory_rag.retrieval.in_notebook import ranking_html

        return ranking_html(self)


class Retriever(Protocol):
    """Anything that ranks the turns of one pool for a query."""

    def search(self, query: str, *, k: int) -> Ranking: ...


def best_first(scored: Iterable[tuple[str, float]], *, k: int) -> list[tuple[str, float]]:
    """Return the k best (id, score) pairs; equal scores by id, ascending, whatever order they came in."""
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]


def nth_best(values: Scores, n: int) -> float:
    """Return the n-th highest of n values or more; what ties is counted as it stands."""
    if len(values) >= _MANY and len(values) >= _LEAST_GROUP * _SPARE * n:
        # The n-th best of the best of groups is no higher: what is below it needs no sorting.
        size = min(_LARGEST_GROUP, len(values) // (_SPARE * n))
        n_groups = len(values) // size
        best = values[: size * n_groups].reshape(size, n_groups).max(axis=0)
        values = values[values >= np.partition(best, n_groups - n)[n_groups - n]]
    return float(np.partition(values, len(values) - n)[len(values) - n])


def best_places(entries: Entries, scores: Scores, *, k: int, turn_id: Callable[[int], str]) -> list[int]:
    """Return the places of the k best of parallel arrays, in the order of :func:`best_first`."""
    places = None
    if len(entries) > k:
        # Everything that ties with the k-th stays until ids have been compared.
        places = (scores >= nth_best(scores, k)).nonzero()[0]
        entries, scores = entries[places], scores[places]
    ids = map(turn_id, entries.tolist())
    ranked = sorted(
        zip((-scores).tolist(), ids, range(len(entries)) if places is None else places.tolist(), strict=True)
    )
    return [place for _, _, place in ranked[:k]]


def best_entries(entries: Entries, scores: Scores, *, k: int, turn_id: Callable[[int], str]) -> list[tuple[int, float]]:
    """Return the k best of parallel arrays as (entry, score), in the order of :func:`best_first`."""
    best = best_places(entries, scores, k=k, turn_id=turn_id)
    return list(zip(entries[best].tolist(), scores[best].tolist(), strict=True))
