"""BM25 over posting arrays.

Scores follow Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with Lucene's idf
``ln(1 + (N - df + .5) / (df + .5))``, which is never negative. Everything that a score depends on (N, df, the length
norm) is taken from the turns that are searched: a search within one conversation scores as a memory that holds
nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from itertools import chain
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ascending import are_among, distinct, places_of
from memory_rag.retrieval.entry_scores import EntryScores
from memory_rag.retrieval.growing import Growing
from memory_rag.retrieval.kinds import Kinds
from memory_rag.retrieval.length_norm import K1, LengthCounts, Lengths
from memory_rag.retrieval.once import once
from memory_rag.retrieval.postings import Held, Postings, joined
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.turn_table import Mask

Holders = npt.NDArray[np.int32]
_NOWHERE: Final[Held] = (np.zeros(0, np.int32), np.zeros(0, np.int32))


class Pool:
    """The entries that one search looks at, with what scores take from them as a whole."""

    def __init__(self, searched: Selected, lengths: Lengths, *, counts: LengthCounts | None = None) -> None:
        self.searched = searched
        self.lengths = lengths
        self.n_entries = searched.n_entries
        self.n = len(searched)
        self.partial = self.n < self.n_entries
        self._counts = counts or LengthCounts(lengths[searched.entries] if self.partial else lengths)
        self.norm = self._counts.norm
        self.left_out: Entries = np.zeros(0, np.int64)

    @property
    def entries(self) -> Entries:
        """The entries that are searched, ascending."""
        return self.searched.entries

    def grown(self, searched: Selected, lengths: Lengths, *, ended: Entries) -> Pool:
        """Return the pool that this one has become, with entries more and without those of it that have ended."""
        more = lengths[searched.since(self.n_entries)]
        fewer = lengths[ended[self.searched[ended]]]
        return Pool(searched, lengths, counts=self._counts.changed(more=more, fewer=fewer))

    def leaving_out(self, entries: Entries) -> Self:
        """Return this pool with some of its entries not counted; what is typical is still told by all of them."""
        made = copy(self)
        made.left_out = entries[self.searched[entries]]
        made.n = self.n - len(made.left_out)
        return made

    def idf(self, df: int) -> float:
        """Return Lucene's idf of a term that occurs in ``df`` of the searched entries."""
        return math.log1p((self.n - df + 0.5) / (df + 0.5))

    def rarity(self, holders: Holders) -> float:
        """Return the idf of a word that these of the searched entries hold."""
        return self.idf(len(holders))


class Bm25:
    """Scores entries for a list of query terms, over postings and the entries' lengths in terms."""

    def __init__(self, postings: Postings | None = None, lengths: Lengths | None = None) -> None:
        self.postings = postings or Postings()
        self._lengths = Growing(np.zeros(0, np.int32) if lengths is None else lengths)

    def add(self, entry: int, texts: Sequence[Sequence[str]]) -> None:
        """Add entries by their terms, the first of them ``entry``; they are numbered from 0 without gaps."""
        if entry != len(self._lengths):
            raise ValueError(f"the next entry is {len(self._lengths)}, got {entry}")
        self._lengths.extend(np.array([len(terms) for terms in texts], np.int32))
        self.postings.add(entry, texts)

    def only(self, kept: Mask) -> Bm25:
        """Return the index of these entries alone, numbered anew from 0."""
        return Bm25(self.postings.only(kept), self.lengths[kept])

    @property
    def lengths(self) -> Lengths:
        """How many terms each entry has."""
        return self._lengths.values

    def look_up(self, words: Sequence[Sequence[str]], pool: Pool) -> FoundWords:
        """Find who holds each word, given as the terms that it may be in the index (one a language)."""
        found: dict[str, Held] = {}
        for word in words:
            for term in word:
                if term not in found:
                    found[term] = self._held(term, pool)
        return FoundWords(tuple(tuple(found[term] for term in word) for word in words), pool, self.postings.kinds)

    def _held(self, term: str, pool: Pool) -> Held:
        parts = self.postings.parts_of(term)
        if pool.partial:
            # Each by itself: joined first, all that others hold would be copied for the sake of a few.
            kept = [pool.searched.places_in(entries) for entries, _ in parts]
            parts = [(part[0][keep], part[1][keep]) for part, keep in zip(parts, kept, strict=True)]
        entries, kinds = joined(parts)
        if len(pool.left_out) and len(entries):
            left_out = places_of(pool.left_out, entries)
            if len(left_out):
                entries, kinds = np.delete(entries, left_out), np.delete(kinds, left_out)
        return entries, kinds

    def scores(self, terms: Sequence[str], pool: Pool) -> EntryScores:
        """Return a score for every entry; 0 for an entry outside the pool or without any of the terms.

        A term that stands twice in the query counts twice.
        """
        return self.look_up([(term,) for term in terms], pool).scores

    def matching(self, terms: Sequence[str]) -> Mask:
        """Return which entries hold any of the terms; what tells a match where a score of 0 doesn't."""
        matching = np.zeros(len(self._lengths), np.bool_)
        for term in set(terms):
            for entries, _ in self.postings.parts_of(term):
                matching[entries] = True
        return matching

    def possible(self, words: Sequence[Sequence[str]], pool: Pool) -> float:
        """Return :attr:`FoundWords.possible` of some words."""
        return self.look_up(words, pool).possible

    def okapi_scores(self, terms: Sequence[str], searched: Mask) -> Scores:
        """Return the scores of rank-bm25's ``BM25Okapi`` (k1 1.5, b .75, epsilon .25) for every entry.

        Its idf ``ln(N - df + .5) - ln(df + .5)`` is negative for a term in more than half of the entries and is then
        replaced by .25 of the mean idf over the vocabulary, so that a score of 0 or below is not "no match".
        """
        n = int(searched.sum())
        total = np.zeros(len(searched))
        if n == 0:
            return total
        frequencies = self.postings.document_frequencies(searched)
        present = frequencies[frequencies > 0]
        of_vocabulary = np.log(n - present + 0.5) - np.log(present + 0.5)
        mean_idf = float(np.sum(of_vocabulary) / len(present)) if len(present) else 0.0
        lengths = self.lengths
        typical = lengths[searched].sum() / n
        for term in terms:
            found = self.postings.of(term)
            if found is None:
                continue
            keep = searched[found[0]]
            entries, counts = found[0][keep], found[1][keep].astype(np.float64)
            df = len(entries)
            if df == 0:
                continue
            idf = float(np.log(n - df + 0.5) - np.log(df + 0.5))
            idf = 0.25 * mean_idf if idf < 0 else idf
            total[entries] += idf * counts * 2.5 / (counts + 1.5 * (0.25 + 0.75 * lengths[entries] / typical))
        return total


class FoundWords:
    """Who in a pool holds the words of one question."""

    def __init__(self, words: Sequence[Sequence[Held]], pool: Pool, kinds: Kinds) -> None:
        self._words = words
        self._pool = pool
        self._kinds = kinds
        self._rarities = [[pool.rarity(entries) for entries, _ in word] for word in words]
        held, rarities = chain.from_iterable(words), chain.from_iterable(self._rarities)
        self._held = [(kinds, rarity) for (_, kinds), rarity in zip(held, rarities, strict=True)]
        self._all = np.concatenate([_NOWHERE[0], *(entries for entries, _ in chain.from_iterable(words))])

    def __len__(self) -> int:
        """The number of words, those that nobody holds included."""
        return len(self._words)

    @once
    def scores(self) -> EntryScores:
        """BM25 of every entry; 0 for an entry outside the pool or without any of the words.

        A word that stands twice counts twice.
        """
        by_kind = len(self._all) > len(self._held) * len(self._kinds)
        made = self.scores_by_kind() if by_kind else self.scores_by_posting()
        return EntryScores.summed(self._all, made, n_entries=self._pool.n_entries)

    def scores_by_posting(self) -> Scores:
        """Return the score of each posting; all words in one go, since each step costs more than the numbers in it."""
        kinds = np.concatenate([_NOWHERE[1], *(of_word for of_word, _ in self._held)])
        scores: Scores = self._kinds.counts[kinds].astype(np.float64)
        norm = self._pool.norm.denominators(self._kinds.lengths[kinds])
        norm += scores
        end = 0
        for of_word, rarity in self._held:
            start, end = end, end + len(of_word)
            scores[start:end] *= rarity * (K1 + 1)
        scores /= norm
        return scores

    def scores_by_kind(self) -> Scores:
        """Return the same to the last bit, worked out for each kind and looked up for each posting."""
        counts = self._kinds.counts.astype(np.float64)
        norm = self._pool.norm.denominators(self._kinds.lengths)
        norm += counts
        made = [(counts * (rarity * (K1 + 1)) / norm)[of_word] for of_word, rarity in self._held]
        scores: Scores = np.concatenate([np.zeros(0), *made])
        return scores

    @property
    def possible(self) -> float:
        """About the score of an entry that holds each word once, at the typical length.

        Of the terms that a word may be the commonest counts. A word that no searched entry holds counts with the idf of
        an unseen one: a question about something never said has much that is possible and little that is found.
        """
        return sum(map(min, self._rarities))

    @once
    def holders(self) -> tuple[Holders, ...]:
        """The entries that hold each word, ascending."""
        return tuple(
            word[0][0] if len(word) == 1 else distinct(np.sort(np.concatenate([entries for entries, _ in word])))
            for word in self._words
        )

    def share(self, entries: Entries) -> Scores:
        """Return what share of the words each of these entries holds, weighed by idf, 0 to 1."""
        total, held = 0.0, np.zeros(len(entries))
        for holding in self.holders:
            idf = self._pool.rarity(holding)
            total += idf
            held[are_among(holding, entries)] += idf
        return held / total if total else held

    def of_all(self) -> Holders:
        """Return the entries that hold every word, ascending; none if there is no word."""
        fewest, *others = sorted(self.holders, key=len) or [_NOWHERE[0]]
        for holding in others:
            if len(fewest) == 0:
                break
            fewest = fewest[are_among(holding, fewest)]
        return fewest
