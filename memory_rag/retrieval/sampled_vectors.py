"""How cosines spread over a sample of entries, whose vectors lie side by side from one question to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.embedding.embedder import Vectors
from memory_rag.retrieval.ascending import are_among
from memory_rag.retrieval.faiss_indexes import FlatVectors
from memory_rag.retrieval.ranking import Entries
from memory_rag.retrieval.scene import mean_and_deviation
from memory_rag.retrieval.vector_groups import NOTHING, VectorGroups

_KEPT: Final = 8


@dataclass(frozen=True, slots=True)
class _Sample:
    """The vectors of some entries; holds these, so that no other array can have the same id."""

    entries: Entries
    known: Entries
    """Those of the entries that have vectors."""
    numbers: npt.NDArray[np.int64]
    """The numbers of these vectors, of which those of an entry begin at ``firsts``."""
    firsts: npt.NDArray[np.int64]
    vectors: FlatVectors


class SampledVectors:
    """The vectors of the samples that were asked for last, copied out of all vectors."""

    def __init__(self) -> None:
        self._kept: dict[int, _Sample] = {}
        """By the id of the array of entries."""
        self._unsettled: set[int] = set()
        """Which of them may have other vectors by now."""

    def spread(
        self, query: Vectors, entries: Entries, *, groups: VectorGroups, vectors: FlatVectors, without: Entries | None
    ) -> tuple[float, float]:
        """Return mean and standard deviation of the cosines of those of the entries that have vectors.

        But for those ``without`` which it is asked. What is copied serves the next question with the same array.
        """
        name = id(entries)
        sample = self._kept.get(name)
        if sample is None or name in self._unsettled:
            sample = self._kept[name] = _side_by_side(entries, groups, vectors, before=sample)
            self._unsettled.discard(name)
            if len(self._kept) > _KEPT:
                self._kept.pop(next(iter(self._kept)))
        cosines = sample.vectors.scores(query)
        if len(sample.firsts) < len(cosines):
            cosines = np.maximum.reduceat(cosines, sample.firsts)
        if without is not None:
            cosines = cosines[~are_among(np.sort(without), sample.known)]
        return mean_and_deviation(cosines.astype(np.float64))

    def look_again(self) -> None:
        """Note that entries may have got other vectors, whose numbers are new, or none."""
        self._unsettled.update(self._kept)

    def forget(self) -> None:
        """Note that numbers may be other vectors' from now on."""
        self._kept.clear()


def _side_by_side(entries: Entries, groups: VectorGroups, vectors: FlatVectors, *, before: _Sample | None) -> _Sample:
    """Return the vectors of some entries; what was kept of them ``before``, if they have the same still."""
    places = groups.of_entry[entries]
    has = places != NOTHING
    numbers, firsts = groups.vectors_of(places[has])
    if before is not None and np.array_equal(numbers, before.numbers):
        return before
    return _Sample(entries, entries[has], numbers, firsts, FlatVectors(vectors.rows(numbers)))
