"""The retrievers that a memory has, each ranking a benchmark's candidates by the scores that a search would use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from memory_rag.evaluation.benchmark import Benchmark, Query
from memory_rag.evaluation.pools import Pools
from memory_rag.evaluation.report_shape import PoolName, Weights
from memory_rag.evaluation.retrievers import Contender, Rank, Ranked
from memory_rag.evaluation.tuning import OTHERS, Example, cross_validated
from memory_rag.memory import Memory
from memory_rag.retrieval.candidates import candidates
from memory_rag.retrieval.filters import Scope, Within
from memory_rag.retrieval.fusion import reciprocal_rank_fusion
from memory_rag.retrieval.query import QueryAnalysis
from memory_rag.retrieval.ranker import ConversationRanker
from memory_rag.retrieval.ranking import Entries, Scores, best_entries
from memory_rag.retrieval.scene import MISSING, Scene
from memory_rag.retrieval.searcher import Searcher
from memory_rag.retrieval.signals import WEIGHTS, signals
from memory_rag.retrieval.stage import Stage
from memory_rag.retrieval.turn_table import Mask
from memory_rag.trials.query_vectors import RememberingEmbedder

if TYPE_CHECKING:
    from memory_rag.retrieval.dense import DenseIndex

KEPT: Final = 3 * OTHERS
"""Candidates of a question that its weights are fitted on, beside the relevant ones."""
CONVEX_WEIGHT: Final = 0.5
_Key = tuple[str, Stage]
"""A question before a pool."""


class _Scores(NamedTuple):
    """Entries and their scores, those that are hits."""

    entries: Entries
    scores: Scores


class _Asked(NamedTuple):
    """A question before a pool."""

    query: Query
    analysis: QueryAnalysis
    scope: Scope
    stage: Stage


class CrossValidated(NamedTuple):
    """A retriever, and the weights that each conversation's questions are ranked by."""

    contender: Contender
    weights: Mapping[str, Mapping[str, float]]

    def spread(self) -> dict[str, list[float]]:
        """Return each signal's lowest, mean and highest weight."""
        found: dict[str, list[float]] = {}
        for name in next(iter(self.weights.values())):
            values = [weights[name] for weights in self.weights.values()]
            found[name] = [round(value, 3) for value in (min(values), sum(values) / len(values), max(values))]
        return found


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
        self._dense: DenseIndex | None = None
        self._analyses: dict[str, tuple[QueryAnalysis, float]] = {}
        # In the order of the ranker, whose sum is taken in it.
        self._weights = {signal.name: signal.weight for signal in signals(weights)}
        self._unweighted = ConversationRanker(signals(dict.fromkeys(self._weights, 1.0)))
        self._last_scene: tuple[_Key, Scene, float] | None = None
        self._last_values: tuple[_Key, Entries, dict[str, Scores], float] | None = None
        self._reused_ms = 0.0
        self._document_of = {
            turn.turn_id: document.doc_id for document in benchmark.documents for turn in document.turns
        }

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

    def cross_validated(self, examples: Sequence[Example]) -> CrossValidated:
        """Return hybrid with weights fitted on the questions of other conversations, and the weights.

        Raises:
            QueryError: all questions are about one conversation, or there is nothing to fit to.
        """
        by_conversation = cross_validated(examples, start=self._weights)
        rankings = {
            name: self._ranking(self._by_signals(weights), embeds=True) for name, weights in by_conversation.items()
        }
        shipped = self._ranking(self._by_signals(self._weights), embeds=True)

        def rank(query: Query, pool: PoolName, depth: int) -> Ranked:
            return rankings.get(query.conversation_id, shipped)(query, pool, depth)

        contender = Contender("hybrid-cv", rank, {"source": "cv", "fitted_on": [self._benchmark.sha256]})
        return CrossValidated(contender, by_conversation)

    def example(self, query: Query, pool: PoolName) -> list[Example]:
        """Return what weights are fitted on: a question's candidates that the weights rank best; none if it has none.

        Evidence that is no candidate can't be found whatever the weights, and is left out.
        """
        asked = self._asked(query, pool)
        if asked.analysis.is_empty or not asked.scope.allowed.any():
            return []
        entries, by_name = self._signalled(asked)
        values = np.column_stack([by_name[name] for name in self._weights])
        graded, left_out = self._benchmark.qrels[query.query_id], self._pools.left_out(query, pool)
        ids = [self._document_of[self._keyword.table.turn_id(entry)] for entry in entries.tolist()]
        relevant = np.array([graded.get(doc_id, 0) > 0 for doc_id in ids], np.bool_)
        start = np.array(list(self._weights.values()))
        kept = relevant.copy()
        kept[np.argsort(-(values @ start), kind="stable")[:KEPT]] = True
        if left_out:
            kept &= np.array([doc_id not in left_out for doc_id in ids], np.bool_)
        return [Example(query.conversation_id, values[kept].astype(np.float32), relevant[kept])]

    # -- one question

    def _ranking(self, scored: Callable[[_Asked], _Scores], *, embeds: bool) -> Rank:
        def rank(query: Query, pool: PoolName, depth: int) -> Ranked:
            asked = self._asked(query, pool)
            ms = self._analyses[query.query_id][1]
            if asked.analysis.is_empty or not asked.scope.allowed.any():
                return Ranked([], ms)
            if embeds and self._dense is not None and self._embedder is not None:
                ms += self._embedder.embedding_ms(asked.analysis.dense_text)
            left_out = self._pools.left_out(query, pool)
            self._reused_ms = 0.0
            start = perf_counter()
            found = scored(asked)
            ms += self._reused_ms
            k = depth + len(left_out) if self._benchmark.unit == "turn" else len(found.entries)
            best = best_entries(found.entries, found.scores, k=max(1, k), turn_id=self._keyword.table.turn_id)
            ms += 1000 * (perf_counter() - start)
            doc_ids = dict.fromkeys(self._document_of[self._keyword.table.turn_id(entry)] for entry, _ in best)
            return Ranked([doc_id for doc_id in doc_ids if doc_id not in left_out][:depth], ms)

        return rank

    def _asked(self, query: Query, pool: PoolName) -> _Asked:
        found = self._analyses.get(query.query_id)
        if found is None:
            start = perf_counter()
            analysis = self._searcher.analyze(query.text, today=self._asked_on(query))
            found = self._analyses[query.query_id] = (analysis, 1000 * (perf_counter() - start))
        conversation = self._pools.key(query, pool) or None
        scope, stage = self._searcher.pool(Within(conversation=conversation))
        return _Asked(query, found[0], scope, stage)

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
        key = (asked.query.query_id, asked.stage)
        if self._last_scene is None or self._last_scene[0] != key:
            start = perf_counter()
            scene = self._searcher.scene(asked.analysis, asked.stage, self._dense)
            self._last_scene = (key, scene, 1000 * (perf_counter() - start))
        else:
            self._reused_ms += self._last_scene[2]
        return self._last_scene[1]

    def _signalled(self, asked: _Asked) -> tuple[Entries, dict[str, Scores]]:
        """Return the candidates and each signal's unweighted value for them; kept as scenes are."""
        key = (asked.query.query_id, asked.stage)
        if self._last_values is None or self._last_values[0] != key:
            scene = self._scene(asked)
            start = perf_counter()
            entries = candidates(scene, allowed=asked.scope.allowed, depth=self._memory.settings.depth)
            values = self._unweighted.values(scene, entries)
            self._last_values = (key, entries, values, 1000 * (perf_counter() - start))
        else:
            self._scene(asked)
            self._reused_ms += self._last_values[3]
        return self._last_values[1], self._last_values[2]

    # -- the scores

    def _by_keyword(self, asked: _Asked) -> _Scores:
        scores = self._keyword.bm25.scores(asked.analysis.terms, asked.stage.pool)
        return _where(asked.scope.allowed & (scores > 0), scores)

    def _by_cosine(self, asked: _Asked) -> _Scores:
        cosine = self._cosine(self._scene(asked))
        return _where(asked.scope.allowed & (cosine > MISSING), cosine)

    def _by_rrf(self, asked: _Asked) -> _Scores:
        scene, allowed, table = self._scene(asked), asked.scope.allowed, self._keyword.table
        cosine, depth = self._cosine(scene), self._memory.settings.depth
        entry_of: dict[str, int] = {}
        rankings: list[list[str]] = []
        for side in (_where(allowed & (scene.bm25 > 0), scene.bm25), _where(allowed & (cosine > MISSING), cosine)):
            best = best_entries(side.entries, side.scores, k=depth, turn_id=table.turn_id)
            entry_of |= {table.turn_id(entry): entry for entry, _ in best}
            rankings.append([table.turn_id(entry) for entry, _ in best])
        fused = reciprocal_rank_fusion(rankings, k=2 * depth)
        return _Scores(
            np.array([entry_of[turn_id] for turn_id, _ in fused], np.int64), np.array([score for _, score in fused])
        )

    def _by_convex(self, asked: _Asked) -> _Scores:
        """Half of BM25 and half of the cosine, each as standard deviations from its mean over the pool.

        A turn without a vector has the pool's mean cosine.
        """
        scene, entries = self._scene(asked), np.flatnonzero(asked.scope.allowed)
        cosine = self._cosine(scene)[entries]
        known = cosine > MISSING
        standard = np.zeros(len(entries))
        standard[known] = _standardized(cosine[known])
        scores = CONVEX_WEIGHT * _standardized(scene.bm25[entries]) + (1 - CONVEX_WEIGHT) * standard
        return _Scores(entries, scores)

    def _by_signals(self, weights: Mapping[str, float]) -> Callable[[_Asked], _Scores]:
        used = [name for name in self._weights if weights.get(name)]

        def scored(asked: _Asked) -> _Scores:
            entries, by_name = self._signalled(asked)
            parts = [weights[name] * by_name[name] for name in used]
            return _Scores(entries, np.sum(parts, axis=0) if parts else np.zeros(len(entries)))

        return scored

    def _cosine(self, scene: Scene) -> Scores:
        return np.full(len(self._keyword.table), MISSING) if scene.cosine is None else scene.cosine


def _where(hits: Mask, scores: Scores) -> _Scores:
    entries = np.flatnonzero(hits)
    return _Scores(entries, scores[entries])


def _standardized(values: Scores) -> Scores:
    deviation = float(values.std()) if len(values) else 0.0
    return (values - values.mean()) / deviation if deviation else np.zeros(len(values))
