"""The named signals by which a turn is ranked, each a number for each candidate.

A signal is soft: it moves a turn, it never removes one. Most come from two studies of turn-level recall on people
talking; ``voice``, ``keyword_reply``, ``dense_reply`` and ``length`` are for a person and a model (README, Decisions).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from memory_rag.retrieval.bm25 import B_LONG, B_SHORT
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.scene import Scene
from memory_rag.text.voice import Voice
from memory_rag.turns import Role

Compute = Callable[[Scene, Entries], Scores]


@dataclass(frozen=True, slots=True)
class Signal:
    """A named reason to rank a turn: its weight, and its value for each of some entries."""

    name: str
    weight: float
    compute: Compute


def keyword(scene: Scene, entries: Entries) -> Scores:
    """BM25 of the turn, over the best in the pool."""
    return scene.keyword[entries]


def dense(scene: Scene, entries: Entries) -> Scores:
    """Cosine of the turn's best passage, standardized over the pool, / 4."""
    return scene.dense[entries]


def keyword_question(scene: Scene, entries: Entries) -> Scores:
    """BM25 of the question that the turn answers."""
    return scene.order.of_question(entries, scene.keyword, scene.table)


def dense_question(scene: Scene, entries: Entries) -> Scores:
    """Cosine of the question that the turn answers."""
    return scene.order.of_question(entries, scene.dense, scene.table)


def keyword_reply(scene: Scene, entries: Entries) -> Scores:
    """BM25 of what was replied to the turn: a short question is also known by its answer."""
    return scene.order.of_reply(entries, scene.keyword, scene.table)


def dense_reply(scene: Scene, entries: Entries) -> Scores:
    """Cosine of what was replied to the turn."""
    return scene.order.of_reply(entries, scene.dense, scene.table)


def keyword_session(scene: Scene, entries: Entries) -> Scores:
    """BM25 of the best turn of the session."""
    return _by_session(scene, scene.keyword_by_session, entries)


def dense_session(scene: Scene, entries: Entries) -> Scores:
    """Cosine of the best turn of the session."""
    return _by_session(scene, scene.dense_by_session, entries)


def speaker(scene: Scene, entries: Entries) -> Scores:
    """1 for turns by the one person whom the question names; .5 for those of all, if it names several."""
    if not scene.query.named:
        return np.zeros(len(entries))
    named = [scene.table.speakers.find(name) for name in scene.query.named]
    spoken = np.isin(scene.table.speaker[entries], [code for code in named if code is not None])
    return spoken.astype(np.float64) * (1.0 if len(named) == 1 else 0.5)


def voice(scene: Scene, entries: Entries) -> Scores:
    """1 for turns by the part that the question means: "I" and "we" the user, "you" the assistant.

    A question that means neither gets -.5 for the assistant's turns: what is asked for was mostly told by the user.
    """
    wanted = scene.query.voice
    if wanted is Voice.ASSISTANT:
        return scene.has_role(Role.ASSISTANT, entries)
    if wanted in (Voice.USER, Voice.BOTH):
        return scene.has_role(Role.USER, entries)
    return -0.5 * scene.has_role(Role.ASSISTANT, entries)


def dated(scene: Scene, entries: Entries) -> Scores:
    """1 for turns said in a period that the question names, 2 within a day of a day that it names."""
    if not scene.query.dates:
        return np.zeros(len(entries))
    return scene.by_date[entries]


def first_person(scene: Scene, entries: Entries) -> Scores:
    """1 for turns in which the speaker speaks of themself."""
    return scene.table.first_person[entries].astype(np.float64)


def speaker_first_person(scene: Scene, entries: Entries) -> Scores:
    """1 for turns in which the person named speaks of themself."""
    return speaker(scene, entries) * first_person(scene, entries)


def length(scene: Scene, entries: Entries) -> Scores:
    """Minus the logarithm of the length over the typical one, where lengths spread as those of a person and a model."""
    norm = scene.pool.norm
    share = (norm.b - B_SHORT) / (B_LONG - B_SHORT)
    ratio = np.maximum(scene.pool.lengths[entries], 1) / norm.typical
    return -np.log(ratio) * share


def _by_session(scene: Scene, best: Scores, entries: Entries) -> Scores:
    sessions = scene.stage.sessions
    standardized = sessions.standardized(best)
    if len(standardized) == 0:
        return np.zeros(len(entries))
    found: Scores = standardized[sessions.number[scene.table.session[entries]]]
    return found


WEIGHTS: Final[Mapping[str, float]] = {
    "keyword": 2.5,
    "dense": 2.5,
    "keyword_question": 0.5,
    "dense_question": 1.5,
    "keyword_reply": 0.5,
    "dense_reply": 0.75,
    "keyword_session": 1.5,
    "dense_session": 1.5,
    "speaker": 1.5,
    "voice": 2.0,
    "dated": 2.5,
    "first_person": 1.0,
    "speaker_first_person": 0.5,
    "length": 0.3,
}
"""Round numbers set by hand; README's Decisions says from what."""

_COMPUTE: Final[Mapping[str, Compute]] = {
    function.__name__: function
    for function in (
        keyword,
        dense,
        keyword_question,
        dense_question,
        keyword_reply,
        dense_reply,
        keyword_session,
        dense_session,
        speaker,
        voice,
        dated,
        first_person,
        speaker_first_person,
        length,
    )
}


def signals(weights: Mapping[str, float] = WEIGHTS) -> tuple[Signal, ...]:
    """Return the signals with these weights; a name that is left out isn't used."""
    return tuple(Signal(name, weights[name], _COMPUTE[name]) for name in _COMPUTE if weights.get(name))
