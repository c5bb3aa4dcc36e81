"""The retrievers that a memory has, each ranking a benchmark's candidates by the scores that a search would use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from memory_rag.evaluation.benchmark import Benchmark, Query
from memory_rag.evaluation.pools import Pools
from memory_rag.evaluation.report_shape import PoolName, Weights
from memory_rag.evaluation.retrievers import Contender, Rank, Ranked, without
from memory_rag.evaluation.tuning import OTHERS, Example, cross_validated
from memory_rag.memory import Memory
from memory_rag.retrieval.candidates import candidates
from memory_rag.retrieval.filters import Scope
from memory_rag.retrieval.query import QueryAnalysis
from memory_rag.retrieval.ranker import ConversationRanker
from memory_rag.retrieval.ranking import Entries
from memory_rag.retrieval.scene import Scene
from memory_rag.retrieval.searcher import Searcher
from memory_rag.retrieval.shortlist import Shortlist
from memory_rag.retrieval.signals import WEIGHTS, signals
from memory_rag.retrieval.stage import Stage
from memory_rag.trials.asked_pools import AskedPools
from memory_rag.trials.entry_order import EntryOrder
from memory_rag.trials.query_vectors import RememberingEmbedder
from memory_rag.trials.simple_scores import Scored, by_convex_sum, by_cosine, by_ranks

if TYPE_CHECKING:
    from memory_rag.retrieval.dense import DenseIndex

KEPT: Final = 3 * OTHERS
"""Candidates of a question that its weights are fitted on, beside the relevant ones."""
_MOST_KEPT_BYTES: Final = 512 * 2**20
"""Signals of questions are kept up to this size between hybrid and hybrid-cv; beyond it they are made again."""
_Key = tuple[str, PoolName]
"""A question before a pool."""


class _Signalled(NamedTuple):
    """A question's candidates, each signal's unweighted value for them (signals, candidates), and the time it took."""

    entries: Entries
    values: npt.NDArray[np.float64]
    ms: float


class _Asked(NamedTuple):
    """A question before a pool."""

    query: Query
    pool: PoolName
    analysis: QueryAnalysis
    scope: Scope
    stage: Stage


class MemoryRetrievers:
    """Keyword, dense and fused retrieval over a memory's indexes, for one benchmark whose turns it holds.

    A question is asked on the day that the data set gives, else on the day on which its conversation ends. A session's
    score is that of its best turn. Times are those of analysing and scoring, and of embedding the question where that
    is needed; fetching the turns' words is left out, since it is the same for all.
    """

    def __init__(
        self,
        memory: Memory,
        benchmark: Benchmark,
        pools: Pools,
        *,
        embedder: RememberingEmbedder | None,
        weights: Mapping[str, float] = WEIGHTS,
        origin: Weights,
    ) -> None:
        memory.indexes.catch_up()
        self._memory = memory
        self._benchmark = benchmark
        self._pools = pools
        self._embedder = embedder
        self._origin = origin
        self._keyword = memory.indexes.keyword
        self._searcher = Searcher(memory.store, self._keyword, zone=memory.zone)
        self._asked_pools = AskedPools(pools, self._searcher, self._keyword)
        self._dense: DenseIndex | None = None
        self._analyses: dict[str, tuple[QueryAnalysis, float]] = {}
        # In the order of the ranker, whose sum is taken in it.
        self._weights = {signal.name: signal.weight for signal in signals(weights)}
        self._unweighted = ConversationRanker(signals(dict.fromkeys(self._weights, 1.0)))
        self._last_scene: tuple[_Key, Scene, float] | None = None
        self._last_cosines: tuple[_Key, Scored, float] | None = None
        self._signals_of: dict[_Key, _Signalled] = {}
        self._keeps_signals = False
        self._kept_bytes = 0
        # What a ranking takes from before, and how long that took then.
        self._reused: dict[str, float] = {}
        document_of = {turn.turn_id: document.doc_id for document in benchmark.documents for turn in document.turns}
        self._order = EntryOrder(self._keyword.table.turn_ids, document_of)

    @property
    def weights(self) -> Mapping[str, float]:
        """The weights of ``hybrid`` that aren't 0, in the order of an example's signals."""
        return self._weights

    def by_words(self) -> list[Contender]:
        """Return what needs no vector."""
        return [Contender("keyword", self._ranking(self._by_keyword, embeds=False))]

    def by_meaning(self) -> list[Contender]:
        """Return the others, best asked when all turns are embedded; without an embedder there is hybrid only."""
        if self._embedder is not None:
            self._dense = self._memory.indexes.dense()
        hybrid = Contender("hybrid", self._ranking(self._by_signals(self._weights), embeds=True), self._origin)
        if self._dense is None:
            return [hybrid]
        return [
            Contender("dense", self._ranking(self._by_cosine, embeds=True)),
            Contender("rrf", self._ranking(self._by_rrf, embeds=True)),
            Contender("convex", self._ranking(self._by_convex, embeds=True)),
            hybrid,
        ]

    def cross_validated(self, examples: Sequence[Example]) -> dict[str, dict[str, float]]:
        """Return for each conversation the weights fitted on the questions of the others.

        Raises:
            QueryError: all questions are about one conversation, or there is nothing to fit to.
        """
        return cross_validated(examples, start=self._weights)

    def by_conversation(self, weights: Mapping[str, Mapping[str, float]]) -> Contender:
        """Return hybrid-cv with these weights by conversation."""
        rankings = {name: self._ranking(self._by_signals(found), embeds=True) for name, found in weights.items()}
        shipped = self._ranking(self._by_signals(self._weights), embeds=True)

        def rank(query: Query, pool: PoolName, depth: int) -> Ranked:
            return rankings.get(query.conversation_id, shipped)(query, pool, depth)

        return Contender("hybrid-cv", rank, {"source": "cv", "fitted_on": [self._benchmark.sha256]})

    def keep_signals(self, keep: bool) -> None:
        """Keep the signals of what is asked from now on, to rank by other weights; or forget what was kept."""
        self._signals_of.clear()
        self._keeps_signals, self._kept_bytes = keep, 0

    def example(self, query: Query, pool: PoolName) -> list[Example]:
        """Return what weights are fitted on: a question's candidates that the weights rank best; none if it has none.

        Evidence that is no candidate can't be found whatever the weights, and is left out.
        """
        asked = self._asked(query, pool)
        if asked.analysis.is_empty or len(asked.scope.allowed) == 0:
            return []
        found = self._signalled(asked)
        values = found.values.T
        graded, left_out = self._benchmark.qrels[query.query_id], self._pools.left_out(query, pool)
        ids = self._order.documents(found.entries)
        wanted = {doc_id for doc_id, grade in graded.items() if grade > 0}
        relevant = np.fromiter(map(wanted.__contains__, ids), np.bool_, len(ids))
        start = np.array(list(self._weights.values()))
        kept = relevant.copy()
        kept[np.argsort(-(values @ start), kind="stable")[:KEPT]] = True
        if left_out:
            kept &= np.array([doc_id not in left_out for doc_id in ids], np.bool_)
        return [Example(query.conversation_id, values[kept].astype(np.float32), relevant[kept])]

    # -- one question

    def _ranking(self, scored: Callable[[_Asked], Scored], *, embeds: bool) -> Rank:
        def rank(query: Query, pool: PoolName, depth: int) -> Ranked:
            asked = self._asked(query, pool)
            ms = self._analyses[query.query_id][1]
            if asked.analysis.is_empty or len(asked.scope.allowed) == 0:
                return Ranked([], ms)
            if embeds and self._dense is not None and self._embedder is not None:
                ms += self._embedder.embedding_ms(asked.analysis.dense_text)
            left_out = self._pools.left_out(query, pool)
            self._reused.clear()
            start = perf_counter()
            found = scored(asked)
            ms += sum(self._reused.values())
            k = depth + len(left_out) if self._benchmark.unit == "turn" else len(found.entries)
            best = self._order.best(found.entries, found.scores, k=max(1, k))
            ms += 1000 * (perf_counter() - start)
            doc_ids = self._order.documents(best)
            if self._benchmark.unit == "session":
                doc_ids = list(dict.fromkeys(doc_ids))
            return Ranked(without(doc_ids, left_out, depth=depth), ms)

        return rank

    def _asked(self, query: Query, pool: PoolName) -> _Asked:
        found = self._analyses.get(query.query_id)
        if found is None:
            start = perf_counter()
            analysis = self._searcher.analyze(query.text, today=self._asked_on(query))
            found = self._analyses[query.query_id] = (analysis, 1000 * (perf_counter() - start))
        scope, stage = self._asked_pools.of(query, pool)
        return _Asked(query, pool, found[0], scope, stage)

    def _asked_on(self, query: Query) -> date | None:
        at = query.asked_at or self._ends.get(query.conversation_id)
        return None if at is None else at.astimezone(self._memory.zone).date()

    @cached_property
    def _ends(self) -> dict[str, datetime]:
        """When each conversation's last turn was said, of those whose times are known."""
        ends: dict[str, datetime] = {}
        for turn in self._benchmark.turns():
            if turn.said_at is not None:
                ends[turn.conversation_id] = max(turn.said_at, ends.get(turn.conversation_id, turn.said_at))
        return ends

    def _scene(self, asked: _Asked) -> Scene:
        """Return both sides' scores; the last question's are kept, and the time that they took is charged again."""
        key = (asked.query.query_id, asked.pool)
        if self._last_scene is None or self._last_scene[0] != key:
            start = perf_counter()
            scene = self._searcher.scene(asked.analysis, asked.stage, self._dense)
            self._last_scene = (key, scene, 1000 * (perf_counter() - start))
            self._reused["scene"] = 0.0
        self._reused.setdefault("scene", self._last_scene[2])
        return self._last_scene[1]

    def _cosines(self, asked: _Asked) -> Scored:
        """Return the cosines of all candidates; kept and charged as scenes are."""
        key, scene = (asked.query.query_id, asked.pool), self._scene(asked)
        if self._last_cosines is None or self._last_cosines[0] != key:
            start = perf_counter()
            found = by_cosine(scene, asked.scope.allowed)
            self._last_cosines = (key, found, 1000 * (perf_counter() - start))
            self._reused["cosines"] = 0.0
        self._reused.setdefault("cosines", self._last_cosines[2])
        return self._last_cosines[1]

    def _signalled(self, asked: _Asked) -> _Signalled:
        """Return the candidates with their signals; kept ones are charged with their scene."""
        key = (asked.query.query_id, asked.pool)
        found = self._signals_of.get(key)
        if found is not None:
            self._reused["scene"] = 0.0
            self._reused.setdefault("signals", found.ms)
            return found
        scene = self._scene(asked)
        assert self._last_scene is not None
        start = perf_counter()
        entries = candidates(scene, allowed=asked.scope.allowed, depth=self._memory.settings.depth)
        by_name = self._unweighted.values(Shortlist(scene, entries))
        values = np.array([by_name[name] for name in self._weights]).reshape(len(self._weights), len(entries))
        found = _Signalled(entries, values, 1000 * (perf_counter() - start) + self._last_scene[2])
        self._reused["signals"] = 0.0
        if not self._keeps_signals:
            self._signals_of.clear()
        if not self._keeps_signals or self._kept_bytes + values.nbytes <= _MOST_KEPT_BYTES:
            self._signals_of[key] = found
            self._kept_bytes += values.nbytes if self._keeps_signals else 0
        return found

    # -- the scores

    def _by_keyword(self, asked: _Asked) -> Scored:
        scores = self._keyword.bm25.scores(asked.analysis.terms, asked.stage.pool)
        return Scored.of(scores, asked.scope.allowed)

    def _by_cosine(self, asked: _Asked) -> Scored:
        return self._cosines(asked)

    def _by_rrf(self, asked: _Asked) -> Scored:
        keyword = Scored.of(self._scene(asked).bm25, asked.scope.allowed)
        return by_ranks(keyword, self._cosines(asked), order=self._order, depth=self._memory.settings.depth)

    def _by_convex(self, asked: _Asked) -> Scored:
        return by_convex_sum(self._scene(asked).bm25, asked.scope.allowed, self._cosines(asked))

    def _by_signals(self, weights: Mapping[str, float]) -> Callable[[_Asked], Scored]:
        used = [place for place, name in enumerate(self._weights) if weights.get(name)]
        column = np.array([weights[name] for name in self._weights if weights.get(name)])[:, None]

        def scored(asked: _Asked) -> Scored:
            found = self._signalled(asked)
            if not used:
                return Scored(found.entries, np.zeros(len(found.entries)))
            values = found.values if len(used) == len(found.values) else found.values[used]
            # Added signal by signal, as the ranker does it: another order gives another last bit.
            return Scored(found.entries, np.add.reduce(column * values, axis=0))

        return scored
