"""What ranks a benchmark's candidates: the form of a retriever, the simple baselines, and the bounds.

All retrievers rank the same candidates for a query. Those that need a memory's indexes are made elsewhere and handed
in.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Final, Protocol, TypeVar

import numpy as np

from memory_rag.evaluation.benchmark import Benchmark, Document, Query
from memory_rag.evaluation.held_words import HeldWords, Places, ReadWords
from memory_rag.evaluation.pools import Pools
from memory_rag.evaluation.report_shape import PoolName, Weights
from memory_rag.retrieval.ranking import Entries, Scores

TEMPLATE: Final = "{speaker}: {text}"
"""What the baselines read of a turn; a session is its turns, a line each."""
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Ranked:
    """Document ids, best first, and how long it took, None for what isn't timed."""

    doc_ids: Sequence[str]
    ms: float | None = None


Rank = Callable[[Query, PoolName, int], Ranked]
"""Ranks a query's candidates in a pool, as many as the depth at most."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A retriever by its name in the report; ``weights`` say where its weights come from, if it has any."""

    name: str
    rank: Rank
    weights: Weights | None = None


class Scorer(Protocol):
    """Scores some texts, made ready once, for one query after another."""

    everything: bool
    """Whether a score of 0 is a hit like any other."""

    def scores(self, query: str) -> Scores:
        """Return a score a text, in their order."""


class Overlap:
    """The share of the query's distinct words, lower-cased and split at white space, that a text has."""

    everything = False

    def __init__(self, held: HeldWords) -> None:
        self._n = len(held.lengths)
        self._held = held

    def scores(self, query: str) -> Scores:
        asked = set(query.lower().split())
        found = np.zeros(self._n)
        for word in asked:
            found[self._held.of(word)[0]] += 1
        return found / max(1, len(asked))


class PlainBm25:
    """rank-bm25's ``BM25Okapi`` with its usual call: lower-cased, split at white space, k1 1.5, b .75, epsilon .25.

    The scores are its own; it walks through every text's dictionary for every word, which takes minutes over a whole
    memory, and this goes through the texts that hold the word.
    """

    everything = True
    """0 is the score of the only turn of two that holds a word."""

    def __init__(self, held: HeldWords) -> None:
        lengths, frequencies = held.lengths, held.frequencies()
        self._n = len(lengths)
        self._held = held
        # Added in rank-bm25's order: another gives another last bit, and other ties.
        self._least = 0.25 * (sum(map(self._idf, frequencies)) / len(frequencies)) if frequencies else 0.0
        mean = lengths.sum() / self._n if lengths.any() else 1.0
        self._norm = 1.5 * (1 - 0.75 + 0.75 * lengths / mean)
        self._gains: dict[str, tuple[Places, Scores]] = {}

    def _idf(self, df: int) -> float:
        return math.log(self._n - df + 0.5) - math.log(df + 0.5)

    def scores(self, query: str) -> Scores:
        total = np.zeros(self._n)
        for word in query.lower().split():
            places, gains = self._gains.get(word) or self._gained(word)
            total[places] += gains
        return total

    def _gained(self, word: str) -> tuple[Places, Scores]:
        """Return which texts hold a word, and what it adds to the score of each, whoever asks: kept for the next."""
        places, counts = self._held.of(word)
        idf = self._idf(len(places))
        gains = (idf if idf >= 0 else self._least) * (counts * 2.5 / (counts + self._norm[places]))
        self._gains[word] = places, gains
        return places, gains


class _Candidates:
    """The candidates of a pool, and the order of those that score alike."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._ids = ids = [document.doc_id for document in documents]
        self._rank_of_id = np.empty(len(ids), np.int64)
        self._rank_of_id[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))

    def best(self, places: Entries, scores: Scores, *, k: int) -> list[str]:
        """Return the k best ids, equal scores by id: in a plain BM25 most texts have the same score, 0."""
        if len(places) > k:
            keep = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
            places, scores = places[keep], scores[keep]
        order = np.lexsort((self._rank_of_id[places], -scores))[:k]
        return [self._ids[place] for place in places[order].tolist()]


def text_of(document: Document) -> str:
    """Return a document's words with the speakers' names, as the baselines read them."""
    return "\n".join(TEMPLATE.format(speaker=turn.speaker, text=turn.searchable) for turn in document.turns)


def over_texts(name: str, scorer: Callable[[Sequence[str]], Scorer], *, pools: Pools) -> Contender:
    """Return a retriever that scores texts; each pool is made ready once. Making it ready isn't timed."""

    def ready(query: Query, pool: PoolName) -> Scorer:
        return scorer([text_of(document) for document in pools.candidates(query, pool)])

    return _by_score(name, ready, pools=pools)


def _by_score(name: str, scorer: Callable[[Query, PoolName], Scorer], *, pools: Pools) -> Contender:
    """Return a retriever that ranks by the scores of what a question's pool is made ready with."""
    ready: dict[str, tuple[_Candidates, Scorer]] = {}

    def rank(query: Query, pool: PoolName, depth: int) -> Ranked:
        candidates, scored = _kept(
            ready,
            pools.key(query, pool),
            lambda: (_Candidates(pools.candidates(query, pool)), scorer(query, pool)),
        )
        left_out = pools.left_out(query, pool)
        start = perf_counter()
        scores = scored.scores(query.text)
        places = np.arange(len(scores)) if scored.everything else np.flatnonzero(scores > 0)
        found = candidates.best(places, scores[places], k=depth + len(left_out))
        ms = 1000 * (perf_counter() - start)
        return Ranked(without(found, left_out, depth=depth), ms)

    return Contender(name, rank)


def _kept(ready: dict[str, _Made], key: str, make: Callable[[], _Made]) -> _Made:
    """Return what was made for a pool, made anew where it is not one of the last two."""
    if key not in ready:
        if len(ready) > 1:
            ready.clear()
        ready[key] = make()
    return ready[key]


def without(found: list[str], left_out: frozenset[str], *, depth: int) -> list[str]:
    """Return the first ids that are not left out, as many as the depth."""
    return found[:depth] if not left_out else [doc_id for doc_id in found if doc_id not in left_out][:depth]


def baselines(pools: Pools, *, read: ReadWords | None = None) -> list[Contender]:
    """Return word overlap, and rank-bm25 as people use it.

    Each pool is made ready once for both; ``read`` has the words that other pools of the same documents have read.
    """
    words = ReadWords() if read is None else read
    ready: dict[str, HeldWords] = {}

    def held(query: Query, pool: PoolName) -> HeldWords:
        return _kept(ready, pools.key(query, pool), lambda: _held(words, pools.candidates(query, pool)))

    return [
        _by_score("overlap", lambda query, pool: Overlap(held(query, pool)), pools=pools),
        _by_score("rank-bm25", lambda query, pool: PlainBm25(held(query, pool)), pools=pools),
    ]


def _held(read: ReadWords, documents: Sequence[Document]) -> HeldWords:
    return HeldWords(read, [read.of_named(document.doc_id, partial(text_of, document)) for document in documents])


def bounds(benchmark: Benchmark, pools: Pools, *, seed: int) -> list[Contender]:
    """Return what no retriever should be below or can be above: a random order, and the evidence first."""

    def by_chance(query: Query, pool: PoolName, depth: int) -> Ranked:
        documents, left_out = pools.candidates(query, pool), pools.left_out(query, pool)
        drawn = np.random.default_rng([seed, _number(query.query_id)]).permutation(len(documents))
        found = [documents[place].doc_id for place in drawn[: depth + len(left_out)].tolist()]
        return Ranked(without(found, left_out, depth=depth))

    def by_judgement(query: Query, _pool: PoolName, depth: int) -> Ranked:
        graded: Mapping[str, int] = benchmark.qrels.get(query.query_id, {})
        relevant = sorted((doc_id for doc_id, grade in graded.items() if grade > 0), key=lambda d: (-graded[d], d))
        return Ranked(relevant[:depth])

    return [Contender("random", by_chance), Contender("oracle", by_judgement)]


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])
