"""Weights fitted to judged questions, and to judged questions of other conversations only.

The method is a listwise softmax: each relevant candidate of a question against the candidates that are not, so the
loss of one is ``log(1 + sum over others of exp(w · (x_other - x)))``, the mean over a question's relevant candidates
and the sum over questions. It is the likelihood of ListNet's top-one probability (Cao et al., "Learning to Rank: From
Pairwise Approach to Listwise Approach", ICML 2007) with one relevant candidate at a time. A Gaussian prior holds the
weights to those that they start from, times the one factor that fits best: a few questions move them little, many do.
The loss is convex and is minimised by Newton's method to its one minimum, so nothing is drawn and the same questions
give the same weights.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from memory_rag.errors import QueryError

Values = npt.NDArray[np.float64]
_Mask = npt.NDArray[np.bool_]
OTHERS: Final = 100
"""Candidates that are not relevant and that a relevant one is held against: those that the first weights rank best."""
MOST_FOLDS: Final = 20
_PRIOR: Final = 1.0
_STEPS: Final = 50
_CLOSE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Example:
    """A judged question: the signals' unweighted values, shape (candidates, signals), and which are relevant."""

    conversation_id: str
    values: npt.NDArray[np.float32]
    relevant: _Mask


class Lists:
    """Examples made ready to fit: a row for every relevant candidate, held against the others of its question.

    The rows of the conversations of a fold lie together, so that leaving it out copies nothing.
    """

    def __init__(
        self, examples: Sequence[Example], *, start: Values, folds: Sequence[frozenset[str]] = (frozenset(),)
    ) -> None:
        if not any(example.relevant.any() for example in examples):
            raise QueryError("no question has its evidence among the candidates, so there is nothing to fit weights to")
        self.start = start
        fold_of = {name: number for number, fold in enumerate(folds) for name in fold}
        rows: list[list[npt.NDArray[np.float32]]] = [[] for _ in folds]
        shares: list[list[float]] = [[] for _ in folds]
        for example in examples:
            number = fold_of.get(example.conversation_id, 0)
            totals = example.values @ start.astype(np.float32)
            others = np.flatnonzero(~example.relevant)
            others = others[np.argsort(-totals[others], kind="stable")[:OTHERS]]
            for place in np.flatnonzero(example.relevant):
                rows[number].append(example.values[others] - example.values[place])
                shares[number].append(1 / int(example.relevant.sum()))
        self.parts = [_Part.of(*part, n_signals=len(start)) for part in zip(rows, shares, strict=True)]
        self._along = [part.along(start) for part in self.parts]

    def fitted(self, *, without: int | None = None) -> Values:
        """Return the weights that fit best, the questions of the fold with this number left out.

        Raises:
            QueryError: nothing is left to fit to.
        """
        kept = [number for number, part in enumerate(self.parts) if number != without and len(part.shares)]
        if not kept:
            raise QueryError("without these conversations no question is left to fit weights to")
        one = np.ones(1)
        factor = _minimum([self._along[number] for number in kept], one, centre=one, prior=1e-3)[0]
        centre = self.start * max(factor, 1e-3)
        return _minimum([self.parts[number] for number in kept], centre, centre=centre, prior=_PRIOR)


class _Slope(NamedTuple):
    """The loss at some weights, with its first and its second derivatives."""

    loss: float
    gradient: Values
    curvature: Values


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of some questions: how far each other candidate is ahead by each signal, shape (rows, others, signals).

    They are multiplied row by row: of larger products BLAS makes several threads, which on a busy machine spend ten
    times as long on waiting for each other.
    """

    differences: npt.NDArray[np.float32]
    held: _Mask
    shares: Values

    @classmethod
    def of(cls, rows: Sequence[npt.NDArray[np.float32]], shares: Sequence[float], *, n_signals: int) -> _Part:
        width = max(map(len, rows), default=0)
        differences = np.zeros((len(rows), width, n_signals), np.float32)
        held = np.zeros((len(rows), width), np.bool_)
        for number, row in enumerate(rows):
            differences[number, : len(row)] = row
            held[number, : len(row)] = True
        return cls(differences, held, np.array(shares, np.float64))

    def along(self, direction: Values) -> _Part:
        """Return the same rows with one weight: a factor of this direction."""
        return _Part(self._ahead(direction)[:, :, None], self.held, self.shares)

    def slope(self, weights: Values) -> _Slope:
        """Return this part's loss and its derivatives."""
        ahead = np.where(self.held, self._ahead(weights), -np.inf).astype(np.float64)
        top = np.maximum(ahead.max(axis=1, initial=-np.inf), 0.0)
        ahead -= top[:, None]
        raised = np.exp(ahead, out=ahead)
        total = np.exp(-top) + raised.sum(axis=1)
        chance = (raised / total[:, None]).astype(np.float32)
        mean = np.matmul(chance[:, None, :], self.differences)[:, 0].astype(np.float64)
        # Of a matrix with itself BLAS works out one half.
        halves = self.differences * np.sqrt(chance * self.shares.astype(np.float32)[:, None])[:, :, None]
        squares = np.matmul(halves.transpose(0, 2, 1), halves).sum(axis=0, dtype=np.float64)
        of_mean = np.einsum("lf,lg->fg", mean * self.shares[:, None], mean)
        return _Slope(
            float(self.shares @ (top + np.log(total))),
            self.shares @ mean,
            squares - of_mean,
        )

    def _ahead(self, weights: Values) -> npt.NDArray[np.float32]:
        ahead: npt.NDArray[np.float32] = np.matmul(self.differences, weights.astype(np.float32))
        return ahead


def _minimum(parts: Sequence[_Part], weights: Values, *, centre: Values, prior: float) -> Values:
    """Return the minimum of these parts together, by Newton's method with steps halved until the loss falls."""
    here = _slope(parts, weights, centre=centre, prior=prior)
    for _ in range(_STEPS):
        step = np.linalg.solve(here.curvature, here.gradient)
        if float(here.gradient @ step) < _CLOSE:
            break
        size = 1.0
        while size > 1e-6:
            tried = weights - size * step
            there = _slope(parts, tried, centre=centre, prior=prior)
            if there.loss <= here.loss - 1e-4 * size * float(here.gradient @ step):
                break
            size /= 2
        else:
            # As low as the single precision of the values goes.
            break
        weights, here = tried, there
    return weights


def _slope(parts: Sequence[_Part], weights: Values, *, centre: Values, prior: float) -> _Slope:
    away = weights - centre
    found = [part.slope(weights) for part in parts]
    return _Slope(
        sum(one.loss for one in found) + prior / 2 * float(away @ away),
        np.sum([one.gradient for one in found], axis=0) + prior * away,
        np.sum([one.curvature for one in found], axis=0) + prior * np.eye(len(weights)),
    )


def folds_of(conversations: Sequence[str]) -> list[frozenset[str]]:
    """Return conversations to leave out together: each by itself, or in 20 parts if there are more.

    Which go together depends on their names alone.
    """
    distinct = sorted(
        set(conversations), key=lambda name: (hashlib.sha256(name.encode("utf-8", "replace")).digest(), name)
    )
    parts: list[set[str]] = [set() for _ in range(min(MOST_FOLDS, len(distinct)))]
    for place, name in enumerate(distinct):
        parts[place % len(parts)].add(name)
    return [frozenset(part) for part in parts]


def fitted_weights(examples: Sequence[Example], *, start: Mapping[str, float]) -> dict[str, float]:
    """Return the weights that fit these questions best, as high in total as the ones that they start from.

    Raises:
        QueryError: no question has its evidence among the candidates.
    """
    first = np.array(list(start.values()), np.float64)
    found = Lists(examples, start=first).fitted()
    return _named(_rescaled(found, examples, start=first), start)


def cross_validated(examples: Sequence[Example], *, start: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return for each conversation the weights that were fitted without it.

    Raises:
        QueryError: all are about one conversation, or there is nothing to fit to.
    """
    conversations = [example.conversation_id for example in examples]
    if len(set(conversations)) == 1:
        raise QueryError("weights can't be fitted on other conversations where all questions are about one")
    first = np.array(list(start.values()), np.float64)
    folds = folds_of(conversations)
    lists = Lists(examples, start=first, folds=folds)
    found: dict[str, dict[str, float]] = {}
    for number, fold in enumerate(folds):
        weights = _named(lists.fitted(without=number), start)
        found |= dict.fromkeys(fold, weights)
    return found


def spread(weights: Mapping[str, Mapping[str, float]]) -> dict[str, list[float]]:
    """Return each signal's lowest, mean and highest weight over conversations."""
    found: dict[str, list[float]] = {}
    for name in next(iter(weights.values())):
        values = [of_conversation[name] for of_conversation in weights.values()]
        found[name] = [round(value, 3) for value in (min(values), sum(values) / len(values), max(values))]
    return found


def _rescaled(weights: Values, examples: Sequence[Example], *, start: Values) -> Values:
    """Return the weights times a factor, so that best scores are on average as high as with the first ones.

    The floor under which nothing is found was measured on such scores.
    """
    single = [example.values for example in examples if len(example.values)]
    ours = sum(float((values @ weights.astype(np.float32)).max()) for values in single)
    theirs = sum(float((values @ start.astype(np.float32)).max()) for values in single)
    return weights * (theirs / ours) if ours > 0 and theirs > 0 else weights


def _named(weights: Values, start: Mapping[str, float]) -> dict[str, float]:
    return {name: float(weight) for name, weight in zip(start, weights, strict=True)}
