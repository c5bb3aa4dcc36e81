"""Which turns hold a term: arrays that take some turns at a time and one slice at a search."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.kinds import Kinds
from memory_rag.retrieval.turn_table import Mask, pack_texts, unpack_texts

_SEAL_FROM: Final = 4096
"""Postings that are listed one by one until they are made a segment; so many at once are made one right away."""
_GROWTH: Final = 4
"""A segment is folded into the one before it when that isn't so many times as large."""
_Numbers = npt.NDArray[np.int64]
Held = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
"""The entries of a term, ascending, and of which kind each posting is, or how often each entry has it."""


class Postings:
    """Which entries hold a term, how often, and in how many terms in all: ``kinds`` has both, by a posting's kind.

    What is old lies in a few sealed segments, each much larger than the next; what is new in lists of its own.
    """

    def __init__(self) -> None:
        self.kinds = Kinds()
        self._vocabulary = _Vocabulary()
        self._segments: list[_Segment] = []
        self._tail: dict[int, tuple[array[int], array[int]]] = {}
        self._tail_size = 0

    @property
    def terms(self) -> list[str]:
        """Every term that was seen, by its number."""
        return self._vocabulary.terms

    def add(self, first: int, texts: Sequence[Sequence[str]]) -> None:
        """Add entries by their terms, the first of them ``first``; entries come in rising order."""
        if sum(map(len, texts)) >= _SEAL_FROM:
            self._seal_tail()
            self._put(_Segment.of_texts(texts, first=first, vocabulary=self._vocabulary, kinds=self.kinds))
            return
        for entry, terms in enumerate(texts, first):
            counts = Counter(terms)
            for term, count in counts.items():
                number = self._vocabulary[term]
                listed = self._tail.get(number)
                if listed is None:
                    listed = self._tail[number] = array("i"), array("i")
                listed[0].append(entry)
                listed[1].append(self.kinds.number(count, len(terms)))
            self._tail_size += len(counts)
        if self._tail_size > _SEAL_FROM:
            self._seal_tail()

    def of(self, term: str) -> Held | None:
        """Return (entries, counts) of a term, entries rising; None for a term that was never seen."""
        if term not in self._vocabulary:
            return None
        entries, kinds = joined(self.parts_of(term))
        return entries, self.kinds.counts[kinds]

    def parts_of(self, term: str) -> list[Held]:
        """Return (entries, kinds) of a term as they lie, one part after the other; none of a term never seen."""
        number = self._vocabulary.get(term)
        if number is None:
            return []
        found = [held for segment in self._segments if len((held := segment.of(number))[0])]
        tail = self._tail.get(number)
        if tail is not None:
            # Copies: a live view would forbid the arrays to grow.
            found.append((np.array(tail[0], np.int32), np.array(tail[1], np.int32)))
        return found

    def within(self, chosen: Mask) -> tuple[_Numbers, _Numbers]:
        """Return (term's number, entry) for all that some entries hold; takes time in proportion to all postings."""
        self._seal_tail()
        numbers, entries = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for segment in self._segments:
            places = np.flatnonzero(chosen[segment.entries])
            numbers.append(segment.terms_at(places))
            entries.append(segment.entries[places].astype(np.int64))
        return np.concatenate(numbers), np.concatenate(entries)

    def seal(self) -> _Segment:
        """Fold everything into one segment and return it; takes time in proportion to all postings."""
        self._seal_tail()
        while len(self._segments) > 1:
            self._fold_last()
        if not self._segments:
            self._segments = [_Segment(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))]
        self._segments = [self._segments[0].with_room(len(self.terms))]
        return self._segments[0]

    def document_frequencies(self, searched: Mask) -> _Numbers:
        """Return, for every term by number, in how many of the searched entries it occurs."""
        sealed = self.seal()
        return np.diff(_before(searched[sealed.entries])[sealed.starts])

    def only(self, kept: Mask) -> Postings:
        """Return the postings of these entries alone, numbered anew from 0; a term that none of them holds is gone."""
        sealed = self.seal()
        held = kept[sealed.entries]
        # Those that go are counted: hardly any, as a rule, and of the others there are millions.
        gone = sealed.terms_at(np.flatnonzero(~held))
        lengths = np.diff(sealed.starts) - np.bincount(gone, minlength=len(sealed.starts) - 1)
        used = np.flatnonzero(lengths)
        terms = list(map(self.terms.__getitem__, used.tolist()))
        entries = (np.cumsum(kept, dtype=np.int32) - 1)[sealed.entries[held]]
        made, numbers = self.kinds.only(sealed.kinds[held])
        return Postings._made(terms, _Segment(_before(lengths[used]), entries, numbers), made)

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return the whole as arrays, for a snapshot."""
        sealed = self.seal()
        return {
            "terms": pack_texts(self.terms),
            "starts": sealed.starts,
            "entries": sealed.entries,
            "kinds": sealed.kinds,
            "counts_of_kinds": self.kinds.counts,
            "lengths_of_kinds": self.kinds.lengths,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[np.generic]]) -> Postings:
        """Return the postings whose :meth:`arrays` these are."""
        segment = _Segment(
            np.asarray(arrays["starts"], np.int64),
            np.asarray(arrays["entries"], np.int32),
            np.asarray(arrays["kinds"], np.int32),
        )
        kinds = Kinds(np.asarray(arrays["counts_of_kinds"], np.int32), np.asarray(arrays["lengths_of_kinds"], np.int32))
        return cls._made(unpack_texts(arrays["terms"]), segment, kinds)

    @classmethod
    def _made(cls, terms: list[str], segment: _Segment, kinds: Kinds) -> Postings:
        postings = cls()
        postings.kinds = kinds
        postings._vocabulary = _Vocabulary(terms)
        postings._segments = [segment]
        return postings

    def _seal_tail(self) -> None:
        if not self._tail:
            return
        lengths = np.zeros(len(self.terms), np.int64)
        numbers = sorted(self._tail)
        lengths[numbers] = [len(self._tail[number][0]) for number in numbers]
        entries, kinds = array("i"), array("i")
        for number in numbers:
            entries += self._tail[number][0]
            kinds += self._tail[number][1]
        self._tail, self._tail_size = {}, 0
        self._put(_Segment(_before(lengths), np.array(entries, np.int32), np.array(kinds, np.int32)))

    def _put(self, segment: _Segment) -> None:
        self._segments.append(segment)
        while len(self._segments) > 1 and len(self._segments[-2]) < _GROWTH * len(self._segments[-1]):
            self._fold_last()

    def _fold_last(self) -> None:
        last = self._segments.pop()
        self._segments[-1] = self._segments[-1].followed_by(last)


class _Vocabulary(dict[str, int]):
    """Numbers for terms, given in the order of first use."""

    def __init__(self, terms: list[str] | None = None) -> None:
        self.terms = terms or []
        super().__init__(zip(self.terms, range(len(self.terms)), strict=True))

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self.terms)
        self.terms.append(term)
        return number


@dataclass(frozen=True, slots=True)
class _Segment:
    """The postings of a stretch of entries, sorted by term and entry.

    Those of term ``n`` lie from ``starts[n]`` to ``starts[n + 1]``; a term that is newer than the segment has none.
    """

    starts: _Numbers
    entries: npt.NDArray[np.int32]
    kinds: npt.NDArray[np.int32]

    @classmethod
    def of_texts(cls, texts: Sequence[Sequence[str]], *, first: int, vocabulary: _Vocabulary, kinds: Kinds) -> _Segment:
        """Return the postings of some entries' terms."""
        numbers = np.fromiter(map(vocabulary.__getitem__, chain.from_iterable(texts)), np.int64)
        n_terms = np.array([len(terms) for terms in texts])
        of_entry = np.repeat(np.arange(len(texts)), n_terms)
        keys = np.sort(numbers * len(texts) + of_entry)
        firsts = np.flatnonzero(np.diff(keys, prepend=-1))
        number, entry = np.divmod(keys[firsts], max(1, len(texts)))
        counts = np.diff(firsts, append=len(keys))
        sizes = np.bincount(number, minlength=len(vocabulary.terms))
        return cls(_before(sizes), (entry + first).astype(np.int32), kinds.numbers(counts, n_terms[entry]))

    def __len__(self) -> int:
        return len(self.entries)

    def of(self, number: int) -> Held:
        """Return a term's entries and kinds."""
        if number + 1 >= len(self.starts):
            return self.entries[:0], self.kinds[:0]
        part = slice(self.starts[number], self.starts[number + 1])
        return self.entries[part], self.kinds[part]

    def terms_at(self, places: _Numbers) -> _Numbers:
        """Return the number of the term that each of some places among the postings belongs to."""
        return self.starts.searchsorted(places, "right") - 1

    def with_room(self, n_terms: int) -> _Segment:
        """Return the segment with places for terms that it has none of."""
        missing = n_terms + 1 - len(self.starts)
        return _Segment(np.append(self.starts, self.starts[-1:].repeat(missing)), self.entries, self.kinds)

    def followed_by(self, later: _Segment) -> _Segment:
        """Return both as one; the entries of the other come after this one's."""
        n = len(later.starts) - 1
        early = self.with_room(n)
        sizes = np.diff(early.starts), np.diff(later.starts)
        starts = _before(sizes[0] + sizes[1])
        entries = np.empty(starts[-1], np.int32)
        kinds = np.empty(starts[-1], np.int32)
        for segment, size, begin in ((early, sizes[0], starts[:-1]), (later, sizes[1], starts[:-1] + sizes[0])):
            places = np.repeat(begin - segment.starts[:-1], size)
            places += np.arange(len(segment))
            entries[places], kinds[places] = segment.entries, segment.kinds
        return _Segment(starts, entries, kinds)


def joined(parts: Sequence[Held]) -> Held:
    """Return parts of a term's postings as one."""
    if len(parts) == 1:
        return parts[0]
    nothing = np.zeros(0, np.int32)
    return (
        np.concatenate([nothing, *(held[0] for held in parts)]),
        np.concatenate([nothing, *(held[1] for held in parts)]),
    )


def _before(sizes: npt.NDArray[np.generic]) -> _Numbers:
    """Return how many there are before each of some groups, and after the last: where each begins and all end."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts
