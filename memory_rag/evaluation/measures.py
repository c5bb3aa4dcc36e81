"""Measures of one ranking against the turns that are relevant to its query.

``ranked`` is a ranking's ids, best first, each once; ``relevant`` maps ids to grades, a grade above 0 being relevant. A
query without relevant turns has no value: :func:`value_of` refuses it, since a missing value is never 0. A query
without hits has 0 everywhere. All but ``ndcg_longmemeval`` agree with trec_eval (through pytrec_eval) to 1e-9.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory_rag.errors import QueryError

Relevant = Mapping[str, int]
_Formula = Callable[[Relevant, Sequence[str], int], float]


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
            ValueError: nothing is relevant, or an id is ranked twice.
        """
        graded = {found: grade for found, grade in relevant.items() if grade > 0}
        if not graded:
            raise ValueError(f"{self} has no value for a query without relevant turns; leave the query out")
        top = ranked[: self.cutoff]
        if len(set(top)) < len(top):
            raise ValueError("a ranking names each turn once, but an id stands twice in it")
        return self.formula(graded, top, self.cutoff)


def _recall(relevant: Relevant, top: Sequence[str], _cutoff: int) -> float:
    return _n_relevant(relevant, top) / len(relevant)


def _success(relevant: Relevant, top: Sequence[str], _cutoff: int) -> float:
    return float(any(map(relevant.__contains__, top)))


def _all_found(relevant: Relevant, top: Sequence[str], _cutoff: int) -> float:
    return float(_n_relevant(relevant, top) == len(relevant))


def _precision(relevant: Relevant, top: Sequence[str], cutoff: int) -> float:
    return _n_relevant(relevant, top) / cutoff


def _n_relevant(relevant: Relevant, top: Sequence[str]) -> int:
    return sum(map(relevant.__contains__, top))


def _average_precision(relevant: Relevant, top: Sequence[str], _cutoff: int) -> float:
    hits = [rank for rank, found in enumerate(top, start=1) if found in relevant]
    return sum(n / rank for n, rank in enumerate(hits, start=1)) / len(relevant)


def _reciprocal_rank(relevant: Relevant, top: Sequence[str], _cutoff: int) -> float:
    return next((1.0 / rank for rank, found in enumerate(top, start=1) if found in relevant), 0.0)


def _ndcg(relevant: Relevant, top: Sequence[str], cutoff: int) -> float:
    gained = _discounted([relevant.get(found, 0) for found in top])
    ideal = _discounted(sorted(relevant.values(), reverse=True)[:cutoff])
    return gained / ideal


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _ndcg_longmemeval(relevant: Relevant, top: Sequence[str], cutoff: int) -> float:
    gained = _discounted_from_second([relevant.get(found, 0) for found in top])
    return gained / _discounted_from_second(sorted(relevant.values(), reverse=True)[:cutoff])


def _discounted_from_second(gains: Sequence[int]) -> float:
    return sum(gain / (1.0 if rank == 1 else math.log2(rank)) for rank, gain in enumerate(gains, start=1))


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
    held, left = 0, budget
    for found in ranked:
        left -= tokens[found]
        if left < 0:
            break
        held += found in graded
    return held / len(graded)
