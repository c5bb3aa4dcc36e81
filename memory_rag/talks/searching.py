"""One search for talks: from the question to the sessions or conversations that it is about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

import numpy as np

from memory_rag.retrieval.candidates import candidates
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.floor import EvidenceSigns, evidence_signs, floor_for
from memory_rag.retrieval.passage_span import keyword_span
from memory_rag.retrieval.ranking import Hit, Scores, best_entries
from memory_rag.retrieval.scene import MISSING, Scene
from memory_rag.retrieval.shortlist import Shortlist
from memory_rag.retrieval.sides import Sides
from memory_rag.retrieval.turn_table import UNKNOWN_TIME
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.talks.ranking import (
    WEIGHTS,
    BestTurns,
    Codes,
    best_turns,
    entries_of_talks,
    keyword_of_talks,
    share_of,
    standardized,
)
from memory_rag.talks.talk import Talk, TalkHit, TalkId, TalkRanking, TalkSummary, Unit
from memory_rag.talks.told import Told
from memory_rag.turns import from_microseconds

_TALKS_LOOKED_AT: Final = 20
"""Talks that their words together or their summary name, whose turns are all ranked."""


@dataclass(frozen=True, slots=True)
class TalkQuestion:
    """What one search for talks wants."""

    text: str
    unit: Unit
    k: int
    within: Within
    depth: int = 50
    floor: bool = True


@dataclass(frozen=True, slots=True)
class _Scored:
    """The talks of a search, side by side: their codes, their signals, their sum."""

    codes: Codes
    signals: dict[str, Scores]
    total: Scores


class TalkSearch:
    """Searches the talks of one memory."""

    def __init__(self, store: SqliteTurnStore, told: Told) -> None:
        self._store = store
        self._told = told

    def search(self, question: TalkQuestion, sides: Sides, *, today: date | None = None) -> TalkRanking:
        """Return the talks that a question is about, best first; one without a word in it has none."""
        searcher, dense = sides.searcher, sides.dense
        analysis = searcher.analyze(question.text, today=today)
        scope, stage = searcher.pool(question.within)
        empty = TalkRanking(question.text, question.unit, notes=(*scope.notes, *sides.notes))
        if analysis.is_empty or not scope.allowed.any():
            return empty
        table = stage.table
        codes: Codes = table.session if question.unit is Unit.SESSION else table.conversation
        names = table.sessions.names if question.unit is Unit.SESSION else table.conversations.names
        scene = searcher.scene(analysis, stage, dense, left_out=scope.left_out)
        told = self._of_scope(question.unit, names, set(np.unique(codes[scope.allowed]).tolist()))
        telling = self._told.tellings(
            [one.number for one in told.values()],
            terms=analysis.terms,
            words=analysis.words,
            query=scene.query_vector,
            embedder=None if dense is None else dense.embedder,
        )
        code_of = {one.number: code for code, one in told.items()}
        of_telling = np.array([code_of[one.number] for one in telling.summaries], np.int64)
        told_bm25 = np.zeros(len(names))
        told_bm25[of_telling] = telling.bm25
        told_cosine = np.full(len(names), MISSING)
        told_cosine[of_telling] = telling.cosine
        of_talks = keyword_of_talks(searcher.bm25, analysis.terms, stage.pool, codes, n=len(names))

        core = candidates(scene, allowed=scope.allowed, depth=question.depth)
        more = np.concatenate([_first(values) for values in (of_talks, told_bm25, told_cosine - MISSING)])
        entries = np.union1d(core, entries_of_talks(codes, more, allowed=scope.allowed))
        short = Shortlist(scene, entries, core=core)
        best, turn_scores = best_turns(short, codes[entries], ranker=searcher.ranker)
        scored = _scored(
            best,
            keyword_talk=share_of(of_talks, scene.possible_bm25),
            keyword_told=share_of(told_bm25, telling.possible),
            dense_told=standardized(told_cosine),
        )

        signs = evidence_signs(short, top=float(turn_scores.max(initial=0.0)))
        possible = telling.possible
        signs = EvidenceSigns(
            max(signs.coverage, float(telling.bm25.max(initial=0.0)) / possible if possible else 0.0),
            max(signs.cosine, float(telling.cosine.max(initial=0.0))),
            signs.top,
        )
        floor = None if dense is None else floor_for(dense.embedder.fingerprint)
        if floor is not None:
            evidence = floor.judge(floor.value(signs), n_turns=stage.pool.n)
        else:
            evidence = "strong" if signs.coverage else "none" if dense is None else "weak"
        untold = int(np.count_nonzero(~np.isin(scored.codes, list(told))))
        result = TalkRanking(question.text, question.unit, untold=untold, evidence=evidence, notes=empty.notes)
        if evidence == "none" and question.floor:
            return result
        wanted = best_entries(
            scored.codes.astype(np.int64), scored.total, k=question.k, turn_id=lambda code: names[code]
        )
        hits = []
        titles = self._titles()
        for rank, (code, score) in enumerate(wanted, start=1):
            at = int(np.searchsorted(scored.codes, code))
            turns = self._hits(short, best.places[at], turn_scores, scene)
            own = np.flatnonzero((codes == code) & table.alive & table.recalled)
            said = table.said_at[own]
            said = said[said != UNKNOWN_TIME]
            began, ended = (
                (from_microseconds(int(at)) for at in (said.min(), said.max())) if len(said) else (None, None)
            )
            talk = _talk_id(names[code], question.unit)
            found = Talk(talk, titles.get(talk.conversation_id, ""), len(own), began, ended, told.get(code))
            signals = {name: float(values[at]) for name, values in scored.signals.items()}
            hits.append(TalkHit(found, score, rank, turns, signals))
        return TalkRanking(
            question.text, question.unit, tuple(hits), untold=untold, evidence=evidence, notes=empty.notes
        )

    def _of_scope(self, unit: Unit, names: list[str], present: set[int]) -> dict[int, TalkSummary]:
        """Return the summary of each talk that is searched; a conversation of one session has that session's."""
        place = {name: code for code, name in enumerate(names)}
        found: dict[int, TalkSummary] = {}
        alone: dict[int, list[TalkSummary]] = {}
        for one in self._told.living():
            code = place.get(one.talk.key if one.talk.unit is unit else one.talk.conversation_id, -1)
            if code not in present:
                continue
            if one.talk.unit is unit:
                found[code] = one
            elif unit is Unit.CONVERSATION:
                alone.setdefault(code, []).append(one)
        for code, sessions in alone.items():
            if len(sessions) == 1:
                found.setdefault(code, sessions[0])
        return found

    def _titles(self) -> dict[str, str]:
        return {one.conversation_id: one.title for one in self._store.conversations() if one.title}

    def _hits(self, short: Shortlist, places: np.ndarray, scores: Scores, scene: Scene) -> tuple[Hit, ...]:
        rows = short.table.row[short.entries[places]].tolist()
        turns = self._store.turns_at(rows)
        hits: list[Hit] = []
        for place, row in zip(places.tolist(), rows, strict=True):
            turn = turns.get(row)
            if turn is not None:
                span = keyword_span(turn.searchable, scene.query.terms, analyzer=self._told.analyzer)
                hits.append(Hit(turn, float(scores[place]), len(hits) + 1, turn.span_in_text(span)))
        return tuple(hits)


def _scored(best: BestTurns, *, keyword_talk: Scores, keyword_told: Scores, dense_told: Scores) -> _Scored:
    codes = best.codes
    values = {
        **best.signals,
        "keyword_talk": np.square(keyword_talk[codes]),
        "keyword_told": np.square(keyword_told[codes]),
        "dense_told": dense_told[codes],
    }
    signals = {name: weight * values[name] for name, weight in WEIGHTS.items()}
    return _Scored(codes, signals, np.sum(list(signals.values()), axis=0))


def _first(values: Scores) -> np.ndarray:
    """Return the places of the highest values above 0, at most twenty."""
    above = np.flatnonzero(values > 0)
    return above[np.argsort(-values[above], kind="stable")[:_TALKS_LOOKED_AT]]


def _talk_id(name: str, unit: Unit) -> TalkId:
    conversation, _, session = name.partition("\0")
    return TalkId(conversation, session if unit is Unit.SESSION else None)
