"""Which turns hold a term: arrays that take one turn at a time and one slice at a search."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.turn_table import Mask, pack_texts, unpack_texts

_SEAL_AT_LEAST: Final = 4096


class Postings:
    """Which entries hold a term and how often; sealed arrays for what is old, growing ones for what is new."""

    def __init__(self) -> None:
        self.terms: list[str] = []
        self._numbers: dict[str, int] = {}
        self._starts = np.zeros(1, np.int64)
        self._entries = np.zeros(0, np.int32)
        self._counts = np.zeros(0, np.float32)
        self._tail: dict[int, tuple[array[int], array[float]]] = {}
        self._tail_size = 0

    def add(self, entry: int, counts: Mapping[str, int]) -> None:
        """Add an entry's terms; entries come in rising order."""
        for term, count in counts.items():
            number = self._numbers.get(term)
            if number is None:
                number = self._numbers[term] = len(self.terms)
                self.terms.append(term)
            tail = self._tail.get(number)
            if tail is None:
                tail = self._tail[number] = (array("i"), array("f"))
            tail[0].append(entry)
            tail[1].append(count)
        self._tail_size += len(counts)
        if self._tail_size > max(_SEAL_AT_LEAST, len(self._entries) // 4):
            self.seal()

    def of(self, term: str) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]] | None:
        """Return (entries, counts) of a term, entries rising; None for a term that was never seen."""
        number = self._numbers.get(term)
        if number is None:
            return None
        entries, counts = self._entries[:0], self._counts[:0]
        if number < len(self._starts) - 1:
            part = slice(self._starts[number], self._starts[number + 1])
            entries, counts = self._entries[part], self._counts[part]
        tail = self._tail.get(number)
        if tail is not None:
            # Copies: a live view would forbid the arrays to grow.
            entries = np.concatenate([entries, np.array(tail[0], np.int32)])
            counts = np.concatenate([counts, np.array(tail[1], np.float32)])
        return entries, counts

    def within(self, chosen: Mask) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return (term's number, entry) for all that some entries hold; takes time in proportion to all postings."""
        if self._tail_size > _SEAL_AT_LEAST:
            self.seal()
        held = chosen[self._entries]
        of_each = np.diff(np.concatenate([[0], np.cumsum(held)])[self._starts])
        new = [(number, entry) for number, (listed, _) in self._tail.items() for entry in listed if chosen[entry]]
        numbers, entries = np.array(new, np.int64).reshape(-1, 2).T
        return (
            np.concatenate([np.repeat(np.arange(len(of_each)), of_each), numbers]),
            np.concatenate([self._entries[held].astype(np.int64), entries]),
        )

    def seal(self) -> None:
        """Fold the growing arrays into the sealed ones; takes time in proportion to all postings."""
        if not self._tail:
            return
        n = len(self.terms)
        old = np.diff(self._starts, append=self._starts[-1:].repeat(n + 1 - len(self._starts)))
        new = np.zeros(n, np.int64)
        for number, (listed, _) in self._tail.items():
            new[number] = len(listed)
        starts = np.concatenate([[0], np.cumsum(old + new)])
        entries = np.empty(starts[-1], np.int32)
        counts = np.empty(starts[-1], np.float32)
        shift = np.repeat(starts[:-1] - self._starts_padded(n), old)
        places = np.arange(len(self._entries)) + shift
        entries[places], counts[places] = self._entries, self._counts
        for number, (listed, counted) in self._tail.items():
            part = slice(starts[number] + old[number], starts[number + 1])
            entries[part], counts[part] = listed, counted
        self._starts, self._entries, self._counts = starts, entries, counts
        self._tail, self._tail_size = {}, 0

    def _starts_padded(self, n: int) -> npt.NDArray[np.int64]:
        known = self._starts[:-1]
        return np.concatenate([known, np.full(n - len(known), self._starts[-1], np.int64)])

    def document_frequencies(self, searched: Mask) -> npt.NDArray[np.int64]:
        """Return, for every term by number, in how many of the searched entries it occurs."""
        self.seal()
        hits = np.concatenate([[0], np.cumsum(searched[self._entries])])
        frequencies: npt.NDArray[np.int64] = hits[self._starts[1:]] - hits[self._starts[:-1]]
        return frequencies

    def only(self, kept: Mask) -> Postings:
        """Return the postings of these entries alone, numbered anew from 0; a term that none of them holds is gone."""
        self.seal()
        held = kept[self._entries]
        starts = np.concatenate([[0], np.cumsum(held)])[self._starts]
        lengths = np.diff(starts)
        used = np.flatnonzero(lengths)
        return Postings.from_arrays(
            {
                "terms": pack_texts([self.terms[number] for number in used.tolist()]),
                "starts": np.concatenate([[0], np.cumsum(lengths[used])]),
                "entries": (np.cumsum(kept) - 1)[self._entries[held]],
                "counts": self._counts[held],
            }
        )

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        self.seal()
        return {
            "terms": pack_texts(self.terms),
            "starts": self._starts,
            "entries": self._entries,
            "counts": self._counts,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[np.generic]]) -> Postings:
        postings = cls()
        postings.terms = unpack_texts(arrays["terms"])
        postings._numbers = {term: number for number, term in enumerate(postings.terms)}
        postings._starts = np.asarray(arrays["starts"], np.int64)
        postings._entries = np.asarray(arrays["entries"], np.int32)
        postings._counts = np.asarray(arrays["counts"], np.float32)
        return postings
