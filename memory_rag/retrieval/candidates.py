"""Which entries are worth the signals: the best of both sides, and those that only the signals can find."""

from __future__ import annotations

from typing import Final

import numpy as np

from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.scene import Scene
from memory_rag.retrieval.signals import dated, voice
from memory_rag.retrieval.turn_table import Mask

ALL_UP_TO: Final = 2000
"""Entries that are all candidates: ranking so many costs less than choosing among them."""
_BEST_SESSIONS: Final = 8
_SESSION_TURNS: Final = 1000


def candidates(scene: Scene, *, allowed: Mask, depth: int) -> Entries:
    """Return the entries to rank, ascending, each once.

    They are the ``depth`` best of either side; the turns before and after each of them in its session, where the
    question before an answer or the answer after a question stands; among the best sessions' and the named dates'
    turns, the best; and, where the question means one part's words, the best of that part.
    """
    entries = np.flatnonzero(allowed)
    if len(entries) <= ALL_UP_TO:
        return entries
    found = [entries[:0]]
    pool = scene.pool.entries
    for side in (scene.keyword, scene.dense):
        found.append(_best(pool, side, depth))
    near = np.concatenate(found)
    found += [scene.order.before(near), scene.order.after(near)]
    both = scene.keyword + scene.dense
    found.append(_best(_in_best_sessions(scene, pool), both, _SESSION_TURNS))
    if scene.query.dates:
        found.append(_best(pool[dated(scene, pool) > 0], both, _SESSION_TURNS))
    meant = voice(scene, pool) > 0
    if meant.any():
        found.append(_best(pool[meant], both, depth))
    if scene.query.named:
        codes = [scene.table.speakers.find(name) for name in scene.query.named]
        spoken = np.isin(scene.table.speaker[pool], [code for code in codes if code is not None])
        found.append(_best(pool[spoken], both, depth))
    together = np.unique(np.concatenate(found))
    together = together[together >= 0]
    kept: Entries = together[allowed[together]]
    if len(kept) < min(depth, len(entries)):
        # A filter on who spoke may have left few of them: its own best are candidates too.
        kept = np.unique(np.concatenate([kept, _best(entries, both, depth)]))
    return kept


def _best(entries: Entries, values: Scores, n: int) -> Entries:
    """Return the n entries with the highest values, and all that tie with the last of them up to 2 n, by number."""
    if len(entries) <= n:
        return entries
    of_entries = values[entries]
    least = np.partition(of_entries, len(entries) - n)[len(entries) - n]
    best: Entries = entries[of_entries >= least][: 2 * n]
    return best


def _in_best_sessions(scene: Scene, pool: Entries) -> Entries:
    sessions = scene.sessions
    if len(sessions) == 0:
        return pool[:0]
    chosen = np.zeros(len(sessions), np.bool_)
    for side in (scene.keyword, scene.dense):
        best = sessions.best(side)
        chosen[np.argsort(-best, kind="stable")[:_BEST_SESSIONS]] = True
    kept: Entries = pool[chosen[sessions.number[scene.table.session[pool]]]]
    return kept
