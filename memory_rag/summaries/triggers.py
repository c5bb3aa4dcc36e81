"""When it is time to summarise: too many tokens, too many turns, or a new subject."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_rag.prompt.message_parts import Message
from memory_rag.prompt.tool_pairs import cut_points
from memory_rag.prompt.turn_parts import pair_shape
from memory_rag.summaries.reading import is_read
from memory_rag.summaries.summary import Count
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Turn, printable

Vectors = npt.NDArray[np.float32]
VectorsOf = Callable[[Sequence[str]], Vectors]
"""Unit-length rows for texts, in their order."""
_SIDE: Final = 4
"""Turns compared on either side of a place."""
_RESULTS_WITHIN: Final = 100


@dataclass(frozen=True, slots=True)
class Triggers:
    """What sets a summary going; counted over the turns that no summary stands for yet.

    The newest ``keep_recent`` turns are never summarised. ``drift`` is how far (one minus the cosine of the means of
    four turns on either side, from 0 to 2) the talk has to move for a new subject; None never looks. How many joints of
    joined conversations that hears, by embedder and language, is measured in ``eval/README.md``, "A new subject".
    """

    tokens: int = 8_000
    turns: int = 20
    keep_recent: int = 8
    drift: float | None = None


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has, high rather than low: three bytes of UTF-8 are one."""
    return math.ceil(len(printable(text).encode()) / 3)


@dataclass(frozen=True, slots=True)
class Due:
    """Why a summary is due, and how many of the oldest uncovered turns it takes."""

    trigger: str
    n_turns: int


def what_is_due(
    turns: Sequence[Turn],
    triggers: Triggers,
    *,
    count: Count = estimated_tokens,
    vectors_of: VectorsOf | None = None,
) -> Due | None:
    """Tell whether the uncovered turns of a conversation (in spoken order) call for a summary; None if not."""
    n_old = safe_cut(turns, len(turns) - triggers.keep_recent)
    if n_old <= 0:
        return None
    if len(turns) > triggers.turns:
        return Due("turns", n_old)
    if sum(count(turn.text) for turn in turns) > triggers.tokens:
        return Due("tokens", n_old)
    if triggers.drift is not None and vectors_of is not None:
        places = [place for place in new_subjects(turns, vectors_of=vectors_of, least=triggers.drift) if place <= n_old]
        if places and (cut := safe_cut(turns, places[-1])) > 0:
            return Due("subject", cut)
    return None


def safe_cut(turns: Sequence[Turn], at: int) -> int:
    """Return the last place at or before ``at`` where a cut separates no tool call from its result; 0 at least.

    A result counts up to a hundred turns behind the cut: parallel calls may each be a turn of their own before any.
    """
    at = max(0, min(at, len(turns)))
    if at in (0, len(turns)):
        return at
    near = turns[: at + _RESULTS_WITHIN]
    whole = set(cut_points([_as_pairs(turn) for turn in near]))
    return next((place for place in range(at, 0, -1) if place in whole), 0)


def _as_pairs(turn: Turn) -> Message:
    return pair_shape(turn) if turn.blocks else {"role": turn.role.value}


def new_subjects(turns: Sequence[Turn], *, vectors_of: VectorsOf, least: float) -> list[int]:
    """Return the places (numbers of turns) at which a new subject begins, in order.

    A place counts where the talk moves by at least ``least``, and more than at the four places on either side.
    """
    moves = moved(turns, vectors_of=vectors_of)
    found = []
    for place in range(len(moves)):
        around = moves[max(0, place - _SIDE) : place + _SIDE + 1]
        if moves[place] >= least and moves[place] == max(around):
            found.append(place)
    return found


def moved(turns: Sequence[Turn], *, vectors_of: VectorsOf) -> list[float]:
    """Return how far the talk moves before each turn: one minus the cosine of what is said on either side.

    0 where fewer than four turns that say something lie on either side, and before what isn't read.
    """
    spoken = [number for number, turn in enumerate(turns) if is_read(turn)]
    moves = [0.0] * len(turns)
    if len(spoken) < 2 * _SIDE:
        return moves
    vectors = vectors_of([printable(turns[number].text) for number in spoken])
    for place in range(_SIDE, len(spoken) - _SIDE + 1):
        before = vectors[place - _SIDE : place].mean(axis=0)
        after = vectors[place : place + _SIDE].mean(axis=0)
        length = float(np.linalg.norm(before) * np.linalg.norm(after))
        moves[spoken[place]] = 1.0 - (float(before @ after) / length if length else 0.0)
    return moves


def term_vectors(analyzer: Analyzer) -> VectorsOf:
    """Return what makes vectors of terms alone, for a memory without an embedder."""

    def vectors_of(texts: Sequence[str]) -> Vectors:
        own = [Counter(analyzer.terms(text)) for text in texts]
        seen_in = Counter(term for terms in own for term in terms)
        place = {term: number for number, term in enumerate(sorted(seen_in))}
        rows = np.zeros((len(texts), max(1, len(place))), np.float32)
        for row, terms in zip(rows, own, strict=True):
            for term, n in terms.items():
                row[place[term]] = math.log1p(n) * math.log(1 + len(texts) / seen_in[term])
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        scaled: Vectors = (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)
        return scaled

    return vectors_of
