"""Measures of one ranking against the turns that are relevant to its query.

``ranked`` is a ranking's ids, best first, each once; ``relevant`` maps ids to grades, a grade above 0 being relevant. A
query without relevant turns has no value: :func:`value_of` refuses it, since a missing value is never 0. A query
without hits has 0 everywhere. All but ``ndcg_longmemeval`` agree with trec_eval (through pytrec_eval) to 1e-9.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Final, NamedTuple

from memory_rag.errors import QueryError

Relevant = Mapping[str, int]


class Places(NamedTuple):
    """Where a ranking has what is relevant: the ranks from 1, rising, and the grade at each.

    ``all_grades`` are those of everything relevant, the best first.
    """

    ranks: tuple[int, ...]
    grades: tuple[int, ...]
    all_grades: tuple[int, ...]

    @classmethod
    def of(cls, relevant: Relevant, ranked: Sequence[str]) -> Places:
        """Find what is relevant in a ranking.

        Raises:
            ValueError: nothing is relevant, or an id is ranked twice.
        """
        graded = {found: grade for found, grade in relevant.items() if grade > 0}
        if not graded:
            raise ValueError("no measure has a value for a query without relevant turns; leave the query out")
        distinct = set(ranked)
        if len(distinct) < len(ranked):
            raise ValueError("a ranking names each turn once, but an id stands twice in it")
        # Few are relevant and many are ranked: sets meet faster than a loop looks.
        ranks = sorted((ranked.index(one) + 1, graded[one]) for one in graded.keys() & distinct)
        return cls(
            tuple(rank for rank, _ in ranks),
            tuple(grade for _, grade in ranks),
            tuple(sorted(graded.values(), reverse=True)),
        )

    def n_within(self, cutoff: int) -> int:
        return bisect_right(self.ranks, cutoff)


_Formula = Callable[[Places, int], float]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its cutoff, such as ``recall@10``."""

    name: str
    cutoff: int
    definition: str
    formula: _Formula

    def __str__(self) -> str:
        return f"{self.name}@{self.cutoff}"

    def value_of(self, relevant: Relevant, ranked: Sequence[str]) -> float:
        """Return the measure of one ranking, 0 to 1.

        Raises:
            ValueError: nothing is relevant, or an id is ranked twice among the first ``cutoff``.
        """
        return self.of_places(Places.of(relevant, ranked[: self.cutoff]))

    def of_places(self, places: Places) -> float:
        """Return the measure of a ranking whose relevant turns have these places."""
        return self.formula(places, self.cutoff)


def _recall(places: Places, cutoff: int) -> float:
    return places.n_within(cutoff) / len(places.all_grades)


def _success(places: Places, cutoff: int) -> float:
    return float(places.n_within(cutoff) > 0)


def _all_found(places: Places, cutoff: int) -> float:
    return float(places.n_within(cutoff) == len(places.all_grades))


def _precision(places: Places, cutoff: int) -> float:
    return places.n_within(cutoff) / cutoff


def _average_precision(places: Places, cutoff: int) -> float:
    hits = places.ranks[: places.n_within(cutoff)]
    return sum(n / rank for n, rank in enumerate(hits, start=1)) / len(places.all_grades)


def _reciprocal_rank(places: Places, cutoff: int) -> float:
    return 1.0 / places.ranks[0] if places.n_within(cutoff) else 0.0


def _ndcg(places: Places, cutoff: int) -> float:
    return _gained(places, cutoff, _discount) / _best_gain(places, cutoff, _discount)


def _ndcg_longmemeval(places: Places, cutoff: int) -> float:
    return _gained(places, cutoff, _discount_from_second) / _best_gain(places, cutoff, _discount_from_second)


def _gained(places: Places, cutoff: int, discount: Callable[[int], float]) -> float:
    n = places.n_within(cutoff)
    return sum(grade / discount(rank) for rank, grade in zip(places.ranks[:n], places.grades[:n], strict=True))


def _best_gain(places: Places, cutoff: int, discount: Callable[[int], float]) -> float:
    return sum(grade / discount(rank) for rank, grade in enumerate(places.all_grades[:cutoff], start=1))


def _discount(rank: int) -> float:
    return math.log2(rank + 1)


def _discount_from_second(rank: int) -> float:
    return 1.0 if rank == 1 else math.log2(rank)


DEFINITIONS: Final[Mapping[str, tuple[str, _Formula]]] = {
    "recall": ("relevant turns among the first k / relevant turns (trec_eval recall_k)", _recall),
    "success": ("1 if any relevant turn is among the first k (LongMemEval's recall_any)", _success),
    "all_found": ("1 if every relevant turn is among the first k (LongMemEval's recall_all)", _all_found),
    "precision": ("relevant turns among the first k / k (trec_eval P_k)", _precision),
    "ap": (
        "mean, over all relevant turns, of the precision where each is ranked, 0 beyond k (trec_eval map_cut_k)",
        _average_precision,
    ),
    "rr": ("1 / rank of the first relevant turn, 0 if it is beyond k; its mean is MRR", _reciprocal_rank),
    "ndcg": ("gain grade / log2(rank + 1), over the best possible (trec_eval ndcg_cut_k)", _ndcg),
    "ndcg_longmemeval": (
        "as LongMemEval's code: gain grade / log2(rank), the first rank not discounted, over the best possible",
        _ndcg_longmemeval,
    ),
}
"""Name to definition, as printed beside every number, and formula."""


def measure(text: str) -> Measure:
    """Return the measure that a text such as ``ndcg@10`` names.

    Raises:
        QueryError: it names none.
    """
    found = re.fullmatch(r"([a-z_]+)@([1-9][0-9]*)", text)
    if found is None or found[1] not in DEFINITIONS:
        raise QueryError(f"unknown measure {text!r}; a measure is one of {', '.join(DEFINITIONS)}, then @ and k")
    definition, formula = DEFINITIONS[found[1]]
    return Measure(found[1], int(found[2]), definition, formula)


def recall_at_tokens(relevant: Relevant, ranked: Sequence[str], *, budget: int, tokens: Mapping[str, int]) -> float:
    """Return the share of relevant turns that a prompt of so many tokens would hold.

    Turns are taken in the ranking's order until the next one doesn't fit; what comes after it is not taken either.

    Raises:
        ValueError: nothing is relevant.
    """
    graded = {found for found, grade in relevant.items() if grade > 0}
    if not graded:
        raise ValueError("recall at a token budget has no value for a query without relevant turns")
    return len(graded.intersection(ranked[: n_within_tokens(ranked, budget=budget, tokens=tokens)])) / len(graded)


def n_within_tokens(ranked: Sequence[str], *, budget: int, tokens: Mapping[str, int]) -> int:
    """Return how many hits a prompt of so many tokens holds; it stops at the first that does not fit."""
    spent = accumulate(map(tokens.__getitem__, ranked))
    return len(list(takewhile(budget.__ge__, spent)))
