"""Which entries are worth the signals: the best of both sides, and those that only the signals can find."""

from __future__ import annotations

from typing import Final

import numpy as np

from memory_rag.retrieval.ascending import distinct
from memory_rag.retrieval.ranking import Entries, Scores, nth_best
from memory_rag.retrieval.scene import Scene
from memory_rag.retrieval.selected import Selected
from memory_rag.retrieval.shortlist import Shortlist
from memory_rag.retrieval.signals import Compute, speaker, standing, voice
from memory_rag.retrieval.turn_table import Mask
from memory_rag.text.voice import Voice

ALL_UP_TO: Final = 2000
"""Entries that are all candidates: ranking so many costs less than choosing among them."""
_DEEPER: Final = 2
"""How much further down the dense side is looked for turns of the part or the person that the question means."""
_AROUND: Final = 20
"""Of either side, the best whose surroundings are candidates, so many turns before and after in their session."""
_REACH: Final = 2
_DATED: Final = 100
_WISHES: Final = 50
_LOOKED_AT: Final = 4096
_FAR: Final = 16_384
"""Of the entries that hold any of the words, so many are looked at, the best: of a million, a tenth hold a common one.
"""


def candidates(scene: Scene, *, allowed: Selected, depth: int) -> Entries:
    """Return the entries to rank, ascending, each once.

    They are the ``depth`` best of either side; the turns before and after each of them in its session, where the
    question before an answer or the answer after a question stands, and more of them around the very best; of the
    turns of the days that the question names, the best, and of the lasting wishes that a model has to heed; those that
    say words of it as they stand; and, further down either side, the best by the part or the person whose words it
    means.
    """
    if len(allowed) <= ALL_UP_TO:
        return allowed.entries
    matching, bm25 = scene.matching, scene.bm25.of_matching
    if len(matching) > _FAR:
        far = np.sort(_places_of_top(bm25, _FAR))
        matching, bm25 = matching[far], bm25[far]
    nearest = scene.nearest(_DEEPER * depth)
    sides = [_best(matching, bm25, depth), nearest[:depth]]
    if len(allowed) < len(scene.searched):
        # Who speaks was narrowed: an answer is near its question whoever asked, but those asked for have a best too.
        told = allowed[matching]
        sides += [_best(matching[told], bm25[told], depth), scene.nearest(depth, among=allowed)]
    near = np.concatenate(sides)
    found = [near, scene.order.before(near), scene.order.after(near)]
    found += _surroundings(scene, np.concatenate([side[:_AROUND] for side in sides]))
    if meant := _meant(scene):
        both = Shortlist(scene, np.concatenate([matching, nearest]))
        for signal in meant:
            told = _speaks_for(signal, both)
            by_word, by_meaning = told[: len(matching)], told[len(matching) :]
            found += [_best(matching[by_word], bm25[by_word], depth), nearest[by_meaning][:depth]]
    if scene.query.dates:
        found.append(_best_of(scene, scene.stage.said_on(scene.query.dates, allowed), _DATED))
    if scene.wording is not None:
        found.append(scene.wording.literal)
    if len(wishes := scene.stage.wishes):
        wishes = wishes[_speaks_for(standing, Shortlist(scene, wishes)) & allowed[wishes]]
        found.append(_best_of(scene, wishes, _WISHES) if len(wishes) else wishes)
    chosen = np.concatenate(found)
    chosen.sort()
    # Without those of nobody (-1).
    chosen = distinct(chosen[chosen.searchsorted(0) :])
    kept: Entries = chosen[allowed[chosen]]
    return kept


def _meant(scene: Scene) -> list[Compute]:
    """Return the signals that can speak for a part or a person whose words the question means."""
    found: list[Compute] = []
    if scene.query.wants_overview or scene.query.voice is not Voice.NOBODY:
        found.append(voice)
    if scene.query.named:
        found.append(speaker)
    return found


def _surroundings(scene: Scene, entries: Entries) -> list[Entries]:
    found: list[Entries] = []
    for step in (scene.order.before, scene.order.after):
        here = entries
        for _ in range(_REACH):
            here = step(here)
            found.append(here)
    return found


def _speaks_for(signal: Compute, short: Shortlist) -> Mask:
    """Return for which entries a signal speaks."""
    values = signal(short)
    return np.zeros(len(short), np.bool_) if values is None else values > 0


def _best_of(scene: Scene, entries: Entries, n: int) -> Entries:
    """Return the n best of some entries, as both sides see them together."""
    if len(entries) > _LOOKED_AT:
        entries = entries[np.sort(_places_of_top(scene.bm25[entries], _LOOKED_AT))]
    return _best(entries, scene.keyword(entries) + scene.dense(entries), n)


def _best(entries: Entries, values: Scores, n: int) -> Entries:
    """Return the n entries with the highest values (parallel to them), best first; of equal ones the first."""
    if len(values) > n:
        kept = _places_of_top(values, n)
        entries, values = entries[kept], values[kept]
    best: Entries = entries[(-values).argsort(kind="stable")]
    return best


def _places_of_top(values: Scores, n: int) -> Entries:
    """Return the places of the n highest of more values, in no order; of equal ones the first are taken."""
    least = nth_best(values, n)
    better = (values > least).nonzero()[0]
    return np.concatenate([better, (values == least).nonzero()[0][: n - len(better)]])
