"""Which entries are worth the signals: the best of both sides, and those that only the signals can find."""

from __future__ import annotations

from typing import Final

import numpy as np

from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.scene import Scene
from memory_rag.retrieval.signals import dated, speaker, voice
from memory_rag.retrieval.turn_table import Mask

ALL_UP_TO: Final = 2000
"""Entries that are all candidates: ranking so many costs less than choosing among them."""
_BEST_SESSIONS: Final = 8
_SESSION_TURNS: Final = 400


def candidates(scene: Scene, *, allowed: Mask, depth: int) -> Entries:
    """Return the entries to rank, ascending, each once.

    They are the ``depth`` best of either side; the turns before and after each of them in its session, where the
    question before an answer or the answer after a question stands; among the best sessions' and the named dates'
    turns, the best; and, where the question means one part's or person's words, the best of those.
    """
    entries = np.flatnonzero(allowed)
    if len(entries) <= ALL_UP_TO:
        return entries
    near = np.concatenate(_best_of_sides(scene, scene.pool.entries, depth))
    found = [near, scene.order.before(near), scene.order.after(near)]
    if len(entries) < scene.pool.n:
        # Who speaks was narrowed: an answer is near its question whoever asked, but those asked for have a best too.
        found += _best_of_sides(scene, entries, depth)
    both = scene.keyword + scene.dense
    in_sessions = _in_best_sessions(scene)
    found.append(_best(in_sessions[allowed[in_sessions]], both, _SESSION_TURNS))
    if scene.query.dates:
        found.append(_best(_where(dated(scene, entries), entries), both, _SESSION_TURNS))
    for meant in (voice, speaker) if scene.query.named else (voice,):
        found.append(_best(_where(meant(scene, entries), entries), both, depth))
    # A mask and not np.unique, whose hashing takes half a millisecond for a few thousand entries.
    chosen = np.zeros(len(allowed), np.bool_)
    together = np.concatenate(found)
    chosen[together[together >= 0]] = True
    kept: Entries = np.flatnonzero(chosen & allowed)
    return kept


def _best_of_sides(scene: Scene, entries: Entries, n: int) -> list[Entries]:
    # Most turns hold none of the words: a thousand equal values are slow to part, and no candidates.
    return [_best(_where(scene.keyword[entries], entries), scene.keyword, n), _best(entries, scene.dense, n)]


def _best(entries: Entries, values: Scores, n: int) -> Entries:
    """Return the n entries with the highest values; of those that tie for the last places, the first by number."""
    if len(entries) <= n:
        return entries
    of_entries = values[entries]
    least = np.partition(of_entries, len(entries) - n)[len(entries) - n]
    better = entries[np.flatnonzero(of_entries > least)]
    ties = entries[np.flatnonzero(of_entries == least)]
    return np.concatenate([better, ties[: n - len(better)]])


def _where(values: Scores, entries: Entries) -> Entries:
    """Return the entries whose value is above 0."""
    return entries[np.flatnonzero(values > 0)]


def _in_best_sessions(scene: Scene) -> Entries:
    sessions = scene.stage.sessions
    chosen = np.zeros(len(sessions), np.bool_)
    for best in (scene.keyword_by_session, scene.dense_by_session):
        chosen[np.argsort(-best, kind="stable")[:_BEST_SESSIONS]] = True
    return sessions.members(chosen)
