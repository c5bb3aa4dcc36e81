"""The named signals by which a turn is ranked, each a number for each entry of a shortlist.

A signal is soft: it moves a turn, it never removes one. Most come from two studies of turn-level recall on people
talking; ``voice``, ``standing``, ``keyword_reply``, ``dense_reply`` and ``length`` are for a person and a model
(docs/decisions.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from memory_rag.retrieval.length_norm import B_LONG, B_SHORT
from memory_rag.retrieval.ranking import Scores
from memory_rag.retrieval.shortlist import Shortlist
from memory_rag.retrieval.turn_table import Mask
from memory_rag.text.voice import Voice
from memory_rag.turns import Role

Compute = Callable[[Shortlist], Scores | None]
"""Gives a number for each entry of a shortlist; None where the signal says nothing to this question: 0 for all."""


@dataclass(frozen=True, slots=True)
class Signal:
    """A named reason to rank a turn: its weight, and what gives its values."""

    name: str
    weight: float
    compute: Compute


def keyword(short: Shortlist) -> Scores:
    """BM25 of the turn, over the best in the pool, or half of what every word would give if that is more."""
    return short.keyword


def dense(short: Shortlist) -> Scores:
    """Cosine of the turn's best passage, standardized over the pool, / 4."""
    return short.dense


def keyword_question(short: Shortlist) -> Scores:
    """BM25 of the question that the turn answers."""
    return short.keyword_question


def dense_question(short: Shortlist) -> Scores:
    """Cosine of the question that the turn answers."""
    return short.dense_question


def keyword_reply(short: Shortlist) -> Scores:
    """BM25 of what was replied to the turn: a short question is also known by its answer."""
    return short.keyword_reply


def dense_reply(short: Shortlist) -> Scores:
    """Cosine of what was replied to the turn."""
    return short.dense_reply


def wording(short: Shortlist) -> Scores | None:
    """BM25, the more of it the more of the words are held, where nothing is asked but words are given."""
    return short.wording()


def literal(short: Shortlist) -> Scores | None:
    """1 for turns that say as they stand the words given, a long question, or what a question quotes: they rule."""
    return short.literal()


def keyword_session(short: Shortlist) -> Scores | None:
    """BM25 of the best turn of the session."""
    return short.best_of_session(short.keyword)


def dense_session(short: Shortlist) -> Scores | None:
    """Cosine of the best turn of the session."""
    return short.best_of_session(short.dense)


def keyword_before(short: Shortlist) -> Scores:
    """BM25 of the turn two before: what the same part said before it, where two take turns."""
    return short.keyword_before


def talk(short: Shortlist) -> Scores | None:
    """How far the conversation is behind the likeliest one to be asked about, as a share of all: 0 to -1.

    All turns have a say, the more the better both sides, the length and the people named fit: a softmax, in which a
    clear lead counts almost in full and close ones hardly count. A talk's best turn alone may be a chance hit.
    """
    if short.is_of_one_talk:
        return None
    fits = WEIGHTS["keyword"] * short.keyword + WEIGHTS["dense"] * short.dense
    for signal in (length, named_talk):
        if (values := signal(short)) is not None:
            fits += WEIGHTS[signal.__name__] * values
    return short.behind_of_talk(_SURE * fits)


def speaker(short: Shortlist) -> Scores | None:
    """1 for turns by the one person whom the question names; .5 for those of all, if it names several."""
    if not short.named:
        return None
    return _where(short.by_named, 1.0 if len(short.named) == 1 else 0.5)


def named_talk(short: Shortlist) -> Scores | None:
    """1 for turns of a conversation in which a person speaks whom the question names."""
    return short.in_talks_of_named() if short.named else None


def voice(short: Shortlist) -> Scores | None:
    """1 for turns by the part that the question means: "I" and "we" the user, "you" the assistant.

    A question that means neither gets -.5 for the assistant's turns: what is asked for was mostly told by the user. One
    for a summary gets .5 for them, whoever is meant: a long answer holds much of what is to be summed up.
    """
    query = short.scene.query
    if not query.wants_overview and query.voice in (Voice.USER, Voice.BOTH):
        return _where(short.has_role(Role.USER), 1.0)
    if not short.scene.stage.has_assistant:
        return None
    worth = 0.5 if query.wants_overview else 1.0 if query.voice is Voice.ASSISTANT else -0.5
    return _where(short.has_role(Role.ASSISTANT), worth)


def standing(short: Shortlist) -> Scores | None:
    """1 for turns that state a lasting wish, where a model is asked for something: whatever it does, it has to heed it.

    Nothing where the question is about what was said or done, or for a summary of it, or where words are given.
    """
    query = short.scene.query
    if query.asks_of_the_past or query.wants_overview or query.gives_words or not short.scene.stage.has_assistant:
        return None
    return _where(short.table.wishes[short.entries], 1.0)


def tells_when(short: Shortlist) -> Scores | None:
    """1 for turns with a number or a word of time, where the question asks for a time."""
    if not short.scene.query.asks_when:
        return None
    return _where(short.table.tells_when[short.entries], 1.0)


def dated(short: Shortlist) -> Scores | None:
    """1 for turns said in a period that the question names, 2 within a day of a day that it names."""
    return short.by_date()


def first_person(short: Shortlist) -> Scores:
    """1 for turns in which the speaker speaks of themself, .25 where a model takes part: to it, all requests are so."""
    return short.first_person


def speaker_first_person(short: Shortlist) -> Scores | None:
    """1 for turns in which the person named speaks of themself."""
    spoken = speaker(short)
    return None if spoken is None else spoken * short.first_person


def fresh(short: Shortlist) -> Scores:
    """The logarithm of 1 + the terms that the conversation had not heard before the turn, at most 2."""
    return _FRESH[np.minimum(short.table.fresh[short.entries], len(_FRESH) - 1)]


def length(short: Shortlist) -> Scores | None:
    """Minus the logarithm of the length over the typical one, where lengths spread as those of a person and a model.

    Nothing where words are given: those of a long answer are remembered as well.
    """
    pool = short.scene.pool
    share = (pool.norm.b - B_SHORT) / (B_LONG - B_SHORT)
    if short.scene.query.gives_words or share == 0:
        return None
    ratio = np.maximum(pool.lengths[short.entries], 1) / pool.norm.typical
    return -np.log(ratio) * share


def _where(mask: Mask, value: float) -> Scores:
    """Return a value where a mask holds, 0 elsewhere."""
    values: Scores = np.multiply(mask, value)
    return values


_SURE: Final = 2.0
"""How steeply a better fit counts in telling which conversation is meant."""
_FRESH: Final = np.minimum(np.log1p(np.arange(8)), 2.0)
"""By the number of fresh terms; more of them count as the last."""
WEIGHTS: Final[Mapping[str, float]] = {
    "keyword": 3.0,
    "dense": 2.5,
    "wording": 20.0,
    "literal": 30.0,
    "keyword_question": 0.5,
    "dense_question": 1.25,
    "keyword_reply": 0.75,
    "dense_reply": 0.75,
    "keyword_session": 2.0,
    "dense_session": 1.0,
    "keyword_before": 0.75,
    "talk": 2.0,
    "speaker": 1.5,
    "named_talk": 2.0,
    "voice": 2.5,
    "standing": 3.0,
    "dated": 2.5,
    "tells_when": 2.5,
    "first_person": 1.0,
    "speaker_first_person": 0.5,
    "fresh": 0.5,
    "length": 0.5,
}
"""Round numbers set by hand; docs/decisions.md says from what."""

_COMPUTE: Final[Mapping[str, Compute]] = {
    function.__name__: function
    for function in (
        keyword,
        dense,
        wording,
        literal,
        keyword_question,
        dense_question,
        keyword_reply,
        dense_reply,
        keyword_session,
        dense_session,
        keyword_before,
        talk,
        speaker,
        named_talk,
        voice,
        standing,
        dated,
        tells_when,
        first_person,
        speaker_first_person,
        fresh,
        length,
    )
}


def signals(weights: Mapping[str, float] = WEIGHTS) -> tuple[Signal, ...]:
    """Return the signals with these weights; a name that is left out isn't used."""
    return tuple(Signal(name, weights[name], _COMPUTE[name]) for name in _COMPUTE if weights.get(name))
