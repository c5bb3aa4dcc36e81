"""One search from the question to its hits, in any of the modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, tzinfo
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from memory_rag.embedding.embedder import Embedder, Vectors
from memory_rag.errors import QueryError
from memory_rag.retrieval.bm25 import Bm25, Pool
from memory_rag.retrieval.candidates import candidates
from memory_rag.retrieval.filters import Scope, Within
from memory_rag.retrieval.floor import Evidence, evidence_signs, floor_for, lifted_by_words
from memory_rag.retrieval.fusion import reciprocal_rank_fusion
from memory_rag.retrieval.keyword import KeywordIndex
from memory_rag.retrieval.overlap import overlap_scores, rank_bm25_scores
from memory_rag.retrieval.passage_span import keyword_span
from memory_rag.retrieval.pools import Pools, PoolsOf
from memory_rag.retrieval.query import LONGEST, QueryAnalysis
from memory_rag.retrieval.questions import Questions
from memory_rag.retrieval.ranker import ConversationRanker, RankedEntry
from memory_rag.retrieval.ranking import Entries, Hit, Ranking, Scores, best_entries
from memory_rag.retrieval.scene import MISSING, Scene
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.shortlist import Shortlist
from memory_rag.retrieval.spoken_order import SpokenOrder
from memory_rag.retrieval.stage import Stage
from memory_rag.retrieval.wording import Wording
from memory_rag.store.turn_store import TurnStore
from memory_rag.turns import Span, Turn

if TYPE_CHECKING:
    # Loading it loads FAISS, which keyword search does without.
    from memory_rag.retrieval.dense import DenseIndex

_ONLY_COMMON: Final = (
    "every word of this question is a stop word, which keyword search leaves out; find where these very words "
    "were said with: memory-rag quote"
)
_ONLY_ENDS: Final = (
    f"a question of more than {LONGEST:,} characters is searched for by its beginning and its end; find where all of "
    "it was said with: memory-rag quote"
)


class Mode(StrEnum):
    """How turns are ranked. ``hybrid`` is the product; the others are there to compare with."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    DENSE = "dense"
    RRF = "rrf"
    OVERLAP = "overlap"
    OKAPI = "okapi"
    RANK_BM25 = "rank-bm25"

    @property
    def uses_vectors(self) -> bool:
        return self in (Mode.HYBRID, Mode.DENSE, Mode.RRF)

    @classmethod
    def parse(cls, value: str) -> Mode:
        """Return the mode named.

        Raises:
            QueryError: it is none.
        """
        try:
            return cls(value)
        except ValueError:
            raise QueryError(f"unknown mode {value!r}; a mode is one of: {', '.join(cls)}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """What one search wants: how many hits, ranked how, from where. ``floor`` False also returns unlikely hits."""

    k: int = 10
    mode: Mode = Mode.HYBRID
    within: Within = field(default_factory=Within)
    depth: int = 50
    floor: bool = True

    def __post_init__(self) -> None:
        if not hasattr(self.k, "__index__"):
            raise QueryError(f"k is a whole number of hits, got {self.k!r:.60}")
        if self.k < 1 or self.depth < 1:
            name, value = ("k", self.k) if self.k < 1 else ("depth", self.depth)
            raise QueryError(f"{name} must be at least 1, got {value}")


class Searcher:
    """Searches indexes that have caught up with the store."""

    def __init__(
        self,
        store: TurnStore,
        keyword: KeywordIndex,
        *,
        zone: tzinfo,
        ranker: ConversationRanker | None = None,
        pools: PoolsOf | None = None,
    ) -> None:
        """``pools`` say which entries a filter leaves; those of the whole table if None."""
        self._store = store
        self._keyword = keyword
        self.ranker = ranker or ConversationRanker()
        self._order = SpokenOrder()
        self.questions = Questions(keyword)
        self._pools = Pools(keyword, zone=zone) if pools is None else pools

    def search(
        self, query: str, options: SearchOptions, *, dense: DenseIndex | None, today: date | None = None
    ) -> Ranking:
        """Return the hits for a question; a question without a word in it has none.

        ``dense`` may be None when there is no embedder: then keyword recall answers alone.
        """
        analysis = self.analyze(query, today=today)
        scope, stage = self.pool(options.within)
        by_keyword = options.mode is Mode.KEYWORD or (options.mode.uses_vectors and dense is None)
        notes: tuple[str, ...] = (_ONLY_COMMON,) if by_keyword and analysis.is_common else ()
        notes += (_ONLY_ENDS,) if len(query) > LONGEST else ()
        ranking = partial(Ranking, query, options.mode, notes=(*scope.notes, *notes))
        if analysis.is_empty or len(scope.allowed) == 0:
            return ranking()
        if not options.mode.uses_vectors:
            ranked = self._by_words(analysis, options, scope, stage.pool)
            return ranking(self._hits(ranked, analysis, None, None), evidence="strong" if ranked else "none")
        scene = self.scene(analysis, stage, dense, left_out=scope.left_out)
        pending = self._pending(scope, dense)
        evidence: Evidence = "strong"
        value = None
        if options.mode is Mode.HYBRID:
            short = self._shortlist(scene, options, scope)
            ranked = self.ranker.rank(short, k=options.k)
            signs = evidence_signs(short, top=_of_question(ranked[0]) if ranked else 0.0)
            floor = None if dense is None or pending > stage.pool.n // 10 else floor_for(dense.embedder.fingerprint)
            if floor is not None:
                value = floor.value(signs)
                evidence = floor.judge(value, n_turns=scene.n_searched)
            elif signs.coverage == 0:
                # Without measured cosines only this can be told: no word in common, and perhaps no meaning either.
                evidence = "none" if dense is None else "weak"
            evidence = lifted_by_words(evidence, scene, [found.entry for found in ranked])
        elif options.mode is Mode.DENSE:
            ranked = self._by_cosine(scene, options, scope)
        else:
            ranked = self._by_rrf(scene, options, scope)
        if evidence == "none" and options.floor:
            ranked = []
        return ranking(
            self._hits(ranked, analysis, scene, dense),
            pending=pending,
            evidence=evidence if ranked else "none",
            evidence_value=value,
        )

    @property
    def bm25(self) -> Bm25:
        """What scores entries by their words."""
        return self._keyword.bm25

    def analyze(self, query: str, *, today: date | None = None) -> QueryAnalysis:
        """Take a question apart with this memory's language and people."""
        return self.questions.analyze(query, today=today)

    def query_vector(self, analysis: QueryAnalysis, embedder: Embedder) -> Vectors:
        """Return the vector of a question, with its shift.

        Raises:
            EmbedderError: the embedder can't be loaded or reached.
        """
        return self.questions.vector(analysis, embedder)

    def scene(
        self, analysis: QueryAnalysis, stage: Stage, dense: DenseIndex | None, *, left_out: Entries | None = None
    ) -> Scene:
        """Return both sides' scores for a question before a pool, without the entries that are left out."""
        pool = stage.pool if left_out is None else stage.pool.leaving_out(left_out)
        found = self._keyword.bm25.look_up(analysis.words, pool)
        self._order.catch_up(stage.table)
        query_vector = None
        if dense is not None:
            query_vector = self.query_vector(analysis, dense.embedder)
        return Scene(
            query=analysis,
            stage=stage,
            order=self._order,
            bm25=found.scores,
            vectors=dense,
            query_vector=query_vector,
            wording=Wording(
                analysis, found, indexed=self._keyword, pool=pool, scores=found.scores, turns_at=self._store.turns_at
            ),
            possible_bm25=found.possible,
            left_out=left_out,
        )

    def pool(self, within: Within) -> tuple[Scope, Stage]:
        """Return which entries a filter leaves, and what scores take from them."""
        if within.without:
            scope, stage = self.pool(replace(within, without=()))
            entries = [self._keyword.table.entry_of(row) for row in self._store.rows_of(within.without)]
            return scope.leaving_out(np.array([one for one in entries if one is not None], np.int64)), stage
        return self._pools.of(within)

    def stage(self, searched: Selected) -> Stage:
        """Return what scores take from these entries as a whole, for a pool that no filter names."""
        return self._pools.stage(searched)

    def _pending(self, scope: Scope, dense: DenseIndex | None) -> int:
        """Return how many of the turns that may be found lack a vector, but for those that are never embedded."""
        table = self._keyword.table
        if dense is None:
            return len(scope.allowed.holding(lambda at: table.recalled[at]))
        return int(np.count_nonzero(scope.allowed[dense.pending(table)]))

    def _by_words(self, analysis: QueryAnalysis, options: SearchOptions, scope: Scope, pool: Pool) -> list[RankedEntry]:
        if options.mode is Mode.KEYWORD:
            found = self._keyword.bm25.look_up([(term,) for term in analysis.terms], pool).scores
            entries, scores = found.matching, found.of_matching
            if len(scope.allowed) < len(scope.context):
                told = scope.allowed.places_in(entries)
                entries, scores = entries[told], scores[told]
        elif options.mode is Mode.OKAPI:
            matching = self._keyword.bm25.matching(analysis.terms)
            entries = scope.allowed.holding(lambda at: matching[at])
            scores = self._keyword.bm25.okapi_scores(analysis.terms, scope.context.mask)[entries]
        else:
            entries = scope.allowed.entries
            turns = self._store.turns_at(self._keyword.table.row[entries].tolist())
            entries = np.array([e for e in entries if int(self._keyword.table.row[e]) in turns], np.int64)
            texts = [_with_speaker(turns[int(self._keyword.table.row[entry])]) for entry in entries]
            compare = overlap_scores if options.mode is Mode.OVERLAP else rank_bm25_scores
            scores = np.asarray(compare(analysis.text, texts), np.float64)
            if options.mode is Mode.OVERLAP:
                entries, scores = entries[scores > 0], scores[scores > 0]
        return self._ranked(entries, scores, options.k, str(options.mode))

    def _shortlist(self, scene: Scene, options: SearchOptions, scope: Scope) -> Shortlist:
        core = candidates(scene, allowed=scope.allowed, depth=options.depth)
        if options.k <= len(core):
            return Shortlist(scene, core)
        more = candidates(scene, allowed=scope.allowed, depth=options.k)
        # Codes name the nearest from case to case: what a short list has, a longer one need not have by itself.
        return Shortlist(scene, np.union1d(core, more), core=core)

    def _by_cosine(self, scene: Scene, options: SearchOptions, scope: Scope) -> list[RankedEntry]:
        entries = scope.allowed.entries
        cosine = scene.cosine(entries)
        known = np.flatnonzero(cosine > MISSING)
        best = best_entries(entries[known], cosine[known], k=options.k, turn_id=self._keyword.table.turn_id)
        # float32 lets the product of two unit vectors exceed 1 by a few units in the last place, a shift by more.
        scores = [min(1.0, max(-1.0, score)) for _, score in best]
        return [RankedEntry(entry, score, {"dense": score}) for (entry, _), score in zip(best, scores, strict=True)]

    def _by_rrf(self, scene: Scene, options: SearchOptions, scope: Scope) -> list[RankedEntry]:
        table = self._keyword.table
        told = scope.allowed.places_in(scene.matching)
        by_word = self._ranked(scene.matching[told], scene.bm25.of_matching[told], options.depth, "keyword")
        sides = [by_word, self._by_cosine(scene, replace(options, k=options.depth), scope)]
        entry_of = {table.turn_id(r.entry): r.entry for side in sides for r in side}
        rankings = [[table.turn_id(r.entry) for r in side] for side in sides]
        fused = reciprocal_rank_fusion(rankings, k=options.k)
        return [RankedEntry(entry_of[turn_id], score, {"rrf": score}) for turn_id, score in fused]

    def _ranked(self, entries: Entries, scores: Scores, k: int, signal: str) -> list[RankedEntry]:
        best = best_entries(entries, scores, k=k, turn_id=self._keyword.table.turn_id)
        return [RankedEntry(entry, score, {signal: score}) for entry, score in best]

    def _hits(
        self, ranked: Sequence[RankedEntry], analysis: QueryAnalysis, scene: Scene | None, dense: DenseIndex | None
    ) -> tuple[Hit, ...]:
        if not ranked:
            return ()
        entries = np.array([found.entry for found in ranked], np.int64)
        rows = self._keyword.table.row[entries].tolist()
        turns = self._store.turns_at(rows)
        spans: Sequence[Span | None] = [None] * len(ranked)
        if dense is not None and scene is not None and scene.query_vector is not None:
            spans = dense.best_spans(scene.query_vector, entries)
        hits: list[Hit] = []
        for found, row, passage in zip(ranked, rows, spans, strict=True):
            turn = turns.get(row)
            if turn is None:
                # Removed by another process since this search began.
                continue
            span = passage or keyword_span(turn.searchable, analysis.terms, analyzer=self._keyword.analyzer)
            hits.append(Hit(turn, found.score, len(hits) + 1, turn.span_in_text(span), found.signals))
        return tuple(hits)


def _of_question(best: RankedEntry) -> float:
    """Return a score without what words that were given add: the floor's lines were measured on questions."""
    return best.score - best.signals.get("wording", 0.0) - best.signals.get("literal", 0.0)


def _with_speaker(turn: Turn) -> str:
    return f"{turn.speaker}: {turn.searchable}"
