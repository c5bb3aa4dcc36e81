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
from typing import Final

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
    """Examples made ready to fit: a row for every relevant candidate, held against the others of its question."""

    def __init__(self, examples: Sequence[Example], *, start: Values) -> None:
        if not any(example.relevant.any() for example in examples):
            raise QueryError("no question has its evidence among the candidates, so there is nothing to fit weights to")
        rows: list[npt.NDArray[np.float32]] = []
        shares: list[float] = []
        conversations: list[str] = []
        best: list[float] = []
        for example in examples:
            totals = example.values @ start.astype(np.float32)
            best.append(float(totals.max(initial=0.0)))
            others = np.flatnonzero(~example.relevant)
            others = others[np.argsort(-totals[others], kind="stable")[:OTHERS]]
            for place in np.flatnonzero(example.relevant):
                rows.append(example.values[others] - example.values[place])
                shares.append(1 / int(example.relevant.sum()))
                conversations.append(example.conversation_id)
        n_signals = len(start)
        width = max(map(len, rows))
        self.differences = np.zeros((len(rows), width, n_signals), np.float32)
        self.held = np.zeros((len(rows), width), np.bool_)
        for number, row in enumerate(rows):
            self.differences[number, : len(row)] = row
            self.held[number, : len(row)] = True
        self.shares = np.array(shares)
        self.conversations = np.array(conversations)
        self.start = start

    def fitted(self, *, without: frozenset[str] = frozenset()) -> Values:
        """Return the weights that fit best, the questions of some conversations left out.

        Raises:
            QueryError: nothing is left to fit to.
        """
        keep = ~np.isin(self.conversations, list(without))
        if not keep.any():
            raise QueryError("without these conversations no question is left to fit weights to")
        problem = _Problem(self.differences[keep], self.held[keep], self.shares[keep])
        scaled = problem.along(self.start)
        factor = scaled.minimum(np.ones(1), centre=np.ones(1), prior=1e-3)[0]
        centre = self.start * max(factor, 1e-3)
        return problem.minimum(centre, centre=centre, prior=_PRIOR)


@dataclass(frozen=True, slots=True)
class _Problem:
    differences: npt.NDArray[np.float32]
    held: _Mask
    shares: Values

    def along(self, direction: Values) -> _Problem:
        """Return the same problem with one weight: a factor of this direction."""
        moved = self.differences @ direction.astype(np.float32)
        return _Problem(moved[:, :, None], self.held, self.shares)

    def minimum(self, weights: Values, *, centre: Values, prior: float) -> Values:
        """Return the minimum, by Newton's method with steps halved until the loss falls."""
        loss, gradient, curvature = self._at(weights, centre=centre, prior=prior)
        for _ in range(_STEPS):
            step = np.linalg.solve(curvature, gradient)
            if float(gradient @ step) < _CLOSE:
                break
            size = 1.0
            while size > 1e-6:
                tried = weights - size * step
                found = self._at(tried, centre=centre, prior=prior)
                if found[0] <= loss - 1e-4 * size * float(gradient @ step):
                    break
                size /= 2
            else:
                # As low as the single precision of the values goes.
                break
            weights, (loss, gradient, curvature) = tried, found
        return weights

    def _at(self, weights: Values, *, centre: Values, prior: float) -> tuple[float, Values, Values]:
        ahead = (self.differences @ weights.astype(np.float32)).astype(np.float64)
        ahead = np.where(self.held, ahead, -np.inf)
        top = np.maximum(ahead.max(axis=1, initial=-np.inf), 0.0)
        raised = np.exp(ahead - top[:, None])
        total = np.exp(-top) + raised.sum(axis=1)
        chance = (raised / total[:, None]).astype(np.float32)
        mean = np.einsum("lc,lcf->lf", chance, self.differences).astype(np.float64)
        n_signals = self.differences.shape[2]
        flat = self.differences.reshape(-1, n_signals)
        weighted = flat * (chance * self.shares.astype(np.float32)[:, None]).reshape(-1, 1)
        away = weights - centre
        loss = float(self.shares @ (top + np.log(total))) + prior / 2 * float(away @ away)
        gradient = self.shares @ mean + prior * away
        curvature = (weighted.T @ flat).astype(np.float64) - (mean * self.shares[:, None]).T @ mean
        return loss, gradient, curvature + prior * np.eye(n_signals)


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
    lists = Lists(examples, start=first)
    found: dict[str, dict[str, float]] = {}
    for fold in folds_of(conversations):
        weights = _named(lists.fitted(without=fold), start)
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
