"""One search for talks: from the question to the sessions or conversations that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Final

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.retrieval.candidates import candidates
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.floor import Evidence, EvidenceSigns, evidence_signs, floor_for
from memory_rag.retrieval.names import Names
from memory_rag.retrieval.passage_span import keyword_span
from memory_rag.retrieval.ranking import Entries, Hit, Scores, best_entries
from memory_rag.retrieval.scene import MISSING, Scene
from memory_rag.retrieval.shortlist import Shortlist
from memory_rag.retrieval.sides import Sides
from memory_rag.retrieval.turn_table import UNKNOWN_TIME
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.talks.keys import NOWHERE, Places
from memory_rag.talks.ranking import (
    STRONG_FROM,
    WEIGHTS,
    BestTurns,
    Codes,
    WholeCosines,
    best_turns,
    entries_of_talks,
    keyword_of_talks,
    share_of,
    standardized,
)
from memory_rag.talks.shelf import TalkShelf
from memory_rag.talks.talk import Talk, TalkHit, TalkId, TalkRanking, Unit
from memory_rag.talks.told import Told
from memory_rag.talks.whole import WholeTalks
from memory_rag.talks.windows import Side
from memory_rag.turns import from_microseconds

if TYPE_CHECKING:
    from memory_rag.retrieval.dense import DenseIndex

WEAK: Final = "none of these is clearly what is meant: the nearest are given"
_UNKNOWN: Final = (None, None)
_TALKS_LOOKED_AT: Final = 20
"""Talks that their words together or their summary name, whose turns are ranked though neither side names one."""
_TURNS_LOOKED_AT: Final = 1000


@dataclass(frozen=True, slots=True)
class TalkQuestion:
    """What one search for talks wants."""

    text: str
    unit: Unit
    k: int
    within: Within
    depth: int = 50
    floor: bool = True
    matter: Vectors | None = None
    """The vector of what it is about, with its shift: summaries are asked by it."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """What summaries say to a question, by the codes of their talks: BM25, what it could be, the cosine."""

    bm25: Scores
    possible: float
    cosine: Scores


@dataclass(frozen=True, slots=True)
class _Scored:
    """The talks of a search, side by side: their codes, their signals, their sum."""

    codes: Codes
    signals: dict[str, Scores]
    total: Scores


class TalkSearch:
    """Searches the talks of one memory."""

    def __init__(self, store: TurnWriter, shelf: TalkShelf, told: Told, whole: WholeTalks) -> None:
        self._store = store
        self._shelf = shelf
        self._told = told
        self._whole = whole

    def search(self, question: TalkQuestion, sides: Sides, *, today: date | None = None) -> TalkRanking:
        """Return the talks that a question is about, best first; one without a word in it has none."""
        searcher, dense = sides.searcher, sides.dense
        analysis = searcher.analyze(question.text, today=today)
        scope, stage = searcher.pool(question.within)
        empty = TalkRanking(question.text, question.unit, notes=(*scope.notes, *sides.notes))
        if analysis.is_empty or len(scope.allowed) == 0:
            return empty
        table = stage.table
        codes: Codes = table.session if question.unit is Unit.SESSION else table.conversation
        names = table.sessions if question.unit is Unit.SESSION else table.conversations
        n = len(names.names)
        scene = searcher.scene(analysis, stage, dense, left_out=scope.left_out)
        present = np.flatnonzero(np.bincount(codes[scope.allowed.entries], minlength=n))
        told = np.full(n, NOWHERE)
        told[present] = self._told.places_of(question.unit, names)[present]
        heard = self._heard(question, told, scene, dense)
        whole = self._near(question.unit, names, present, scene, dense)
        of_talks = keyword_of_talks(searcher.bm25, analysis.terms, stage.pool, codes, n=n, counts=scene.searched)
        core = candidates(scene, allowed=scope.allowed, depth=question.depth)
        cosines = [heard.cosine, *(one.cosine for one in whole.values())]
        more = np.concatenate(
            [_first(values) for values in (of_talks, heard.bm25, *(one - MISSING for one in cosines))]
        )
        others = entries_of_talks(codes, np.setdiff1d(more, codes[core]), n=n, allowed=scope.allowed)
        if len(others) > _TURNS_LOOKED_AT:
            others = others[np.argsort(-scene.bm25[others], kind="stable")[:_TURNS_LOOKED_AT]]
        short = Shortlist(scene, np.union1d(core, others), core=core)
        best = best_turns(short, codes[short.entries], ranker=searcher.ranker)
        scored = _scored(
            best,
            keyword_talk=share_of(of_talks, scene.possible_bm25),
            dense_talk=whole[Side.ALL],
            dense_user=whole[Side.USER],
            keyword_told=share_of(heard.bm25, heard.possible),
            dense_told=standardized(heard.cosine),
        )
        evidence = _evidence(short, best, heard, dense, score=float(scored.total.max(initial=0.0)))
        untold = int(np.count_nonzero(told[scored.codes] == NOWHERE))
        result = replace(empty, untold=untold, evidence=evidence)
        if evidence == "none" and question.floor:
            return result
        if evidence == "weak":
            result = replace(result, notes=(*result.notes, WEAK))
        return replace(result, hits=tuple(self._talk_hits(question, codes, names.names, scored, best, short, told)))

    def _near(
        self, unit: Unit, names: Names, present: Places, scene: Scene, dense: DenseIndex | None
    ) -> dict[Side, WholeCosines]:
        """Return the cosines of whole talks, by their codes; ``MISSING`` for one without, and outside of the scope.

        Where some talks have words that are the user's alone, one in which nobody else speaks has all of its in their
        place; where none has, nothing is told twice.
        """
        if dense is None or scene.query_vector is None:
            return {side: WholeCosines.none(len(names.names)) for side in Side}
        self._whole.catch_up(dense.embedder)
        found = self._whole.cosines(scene.query_vector, names, unit=unit)
        of_all, of_user = (found[side].only(present) for side in (Side.ALL, Side.USER))
        return {Side.ALL: of_all, Side.USER: of_user.or_else(of_all)}

    def _heard(self, question: TalkQuestion, told: Places, scene: Scene, dense: DenseIndex | None) -> _Heard:
        """Return what the summaries of talks say to a question, by the talks' codes, as ``told`` has their places."""
        codes = np.flatnonzero(told != NOWHERE)
        telling = self._told.tellings(
            told[codes],
            terms=scene.query.terms,
            words=scene.query.words,
            query=scene.query_vector if question.matter is None else question.matter,
            embedder=None if dense is None else dense.embedder,
        )
        bm25, cosine = np.zeros(len(told)), np.full(len(told), MISSING)
        bm25[codes], cosine[codes] = telling.bm25, telling.cosine
        return _Heard(bm25, telling.possible, cosine)

    def _talk_hits(
        self,
        question: TalkQuestion,
        codes: Codes,
        names: list[str],
        scored: _Scored,
        best: BestTurns,
        short: Shortlist,
        told: Places,
    ) -> Iterator[TalkHit]:
        wanted = best_entries(
            scored.codes.astype(np.int64), scored.total, k=question.k, turn_id=lambda code: names[code]
        )
        talks = {code: _talk_id(names[code], question.unit) for code, _score in wanted}
        titles = self._shelf.titles(talk.conversation_id for talk in talks.values())
        table = short.table
        for rank, (code, score) in enumerate(wanted, start=1):
            at = int(np.searchsorted(scored.codes, code))
            own = table.of_session(code) if question.unit is Unit.SESSION else table.of_conversation(code)
            own = own[table.alive[own] & table.recalled[own]]
            said = table.said_at[own]
            said = said[said != UNKNOWN_TIME]
            began, ended = (from_microseconds(int(end)) for end in (said.min(), said.max())) if len(said) else _UNKNOWN
            title = titles.get(talks[code].conversation_id, "")
            talk = Talk(talks[code], title, len(own), began, ended, self._told.at(int(told[code])))
            signals = {name: float(values[at]) for name, values in scored.signals.items()}
            yield TalkHit(talk, score, rank, self._hits(short, best.places[at], best.scores), signals)

    def _hits(self, short: Shortlist, places: Entries, scores: Scores) -> tuple[Hit, ...]:
        rows = short.table.row[short.entries[places]].tolist()
        turns = self._store.turns_at(rows)
        hits: list[Hit] = []
        for place, row in zip(places.tolist(), rows, strict=True):
            turn = turns.get(row)
            if turn is not None:
                span = keyword_span(turn.searchable, short.scene.query.terms, analyzer=self._told.analyzer)
                hits.append(Hit(turn, float(scores[place]), len(hits) + 1, turn.span_in_text(span)))
        return tuple(hits)


def _scored(
    best: BestTurns,
    *,
    keyword_talk: Scores,
    dense_talk: WholeCosines,
    dense_user: WholeCosines,
    keyword_told: Scores,
    dense_told: Scores,
) -> _Scored:
    codes = best.codes
    nearest_turn = standardized(best.cosine)
    values = {
        **best.signals,
        "keyword_talk": np.square(keyword_talk[codes]),
        "dense_talk": dense_talk.standardized(codes, otherwise=nearest_turn),
        "dense_user": dense_user.standardized(codes, otherwise=nearest_turn),
        "keyword_told": np.square(keyword_told[codes]),
        "dense_told": dense_told[codes],
    }
    signals = {name: weight * values[name] for name, weight in WEIGHTS.items()}
    return _Scored(codes, signals, np.sum(list(signals.values()), axis=0))


def _evidence(short: Shortlist, best: BestTurns, heard: _Heard, dense: DenseIndex | None, *, score: float) -> Evidence:
    """Say how much speaks for any of the talks; ``score`` is the best one's.

    A question in other words is told from one about something never said by no sign that was tried: of 25 talks the
    right one is as near as a wrong one. So nothing is held back from somebody who asks; it is said to be weak.
    """
    signs = evidence_signs(short, top=best.top)
    coverage = max(signs.coverage, float(share_of(heard.bm25, heard.possible).max(initial=0.0)))
    if dense is None:
        return "strong" if coverage else "none"
    if score >= STRONG_FROM:
        return "strong"
    if not short.scene.query.gives_words:
        return "weak"
    floor = floor_for(dense.embedder.fingerprint)
    if floor is None:
        return "strong" if coverage else "weak"
    signs = EvidenceSigns(coverage, max(signs.cosine, float(heard.cosine.max(initial=0.0))), signs.top)
    return floor.judge(floor.value(signs), n_turns=short.scene.n_searched)


def _first(values: Scores) -> Entries:
    """Return the places of the highest values above 0, at most twenty."""
    above = np.flatnonzero(values > 0)
    first: Entries = above[np.argsort(-values[above], kind="stable")[:_TALKS_LOOKED_AT]]
    return first


def _talk_id(name: str, unit: Unit) -> TalkId:
    conversation, _, session = name.partition("\0")
    return TalkId(conversation, session if unit is Unit.SESSION else None)
