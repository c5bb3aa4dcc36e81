"""Retrievers compared two by two on the same queries: difference, interval, tests, and what either reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from memory_rag.evaluation.report_shape import Comparison, Outcome
from memory_rag.evaluation.statistics import Outcomes, Values, holm, mcnemar_test, randomization_tests
from memory_rag.evaluation.summaries import intervals, mean_of, resampled

PerQuery = Mapping[str, Mapping[str, Sequence[float]]]
"""Retriever to measure to one value a query."""
_SUCCESSES = ("success@", "all_found@")


def comparisons_of(
    per_query: PerQuery,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    measures: Sequence[str],
    conversations: Sequence[str],
    seed: int,
) -> list[Comparison]:
    """Compare retrievers by each measure, all pairs if none are named; their p-values make one family.

    Successes (``success@k``, ``all_found@k``) are tested by McNemar's exact test, everything else by randomization.
    """
    if pairs is None:
        pairs = list(combinations(per_query, 2))
    asked = [(a, b, measure) for measure in measures for a, b in pairs]
    if not asked:
        return []
    columns = np.column_stack(
        [np.subtract(per_query[a][measure], per_query[b][measure], dtype=np.float64) for a, b, measure in asked]
    )
    by = resampled(conversations)
    found: list[Comparison] = []
    ps = _ps(asked, per_query, columns, seed=seed)
    for (a, b, measure), interval, p in zip(
        asked, intervals(columns, conversations=conversations, seed=seed), ps, strict=True
    ):
        mean = mean_of(interval, by=by)
        compared: Comparison = {
            "a": a,
            "b": b,
            "measure": measure,
            "difference": mean["mean"],
            "low": mean["low"],
            "high": mean["high"],
            "n": mean["n"],
            "by": by,
            "test": _test(measure),
            "p": p,
            "p_holm": p,
        }
        if _test(measure) == "mcnemar":
            compared["outcome"] = _outcome(per_query[a][measure], per_query[b][measure])
        found.append(compared)
    adjusted = holm({str(place): compared["p"] for place, compared in enumerate(found)})
    for place, compared in enumerate(found):
        compared["p_holm"] = adjusted[str(place)]
    return found


def _test(measure: str) -> Literal["randomization", "mcnemar"]:
    return "mcnemar" if measure.startswith(_SUCCESSES) else "randomization"


def _ps(asked: Sequence[tuple[str, str, str]], per_query: PerQuery, columns: Values, *, seed: int) -> list[float]:
    drawn = [place for place, (_, _, measure) in enumerate(asked) if _test(measure) == "randomization"]
    ps = dict(zip(drawn, randomization_tests(columns[:, drawn], seed=seed) if drawn else [], strict=True))
    return [
        ps[place] if place in ps else mcnemar_test(per_query[a][measure], per_query[b][measure])
        for place, (a, b, measure) in enumerate(asked)
    ]


def _outcome(a: Sequence[float], b: Sequence[float]) -> Outcome:
    found = Outcomes.of(a, b)
    return {
        "won": found.won,
        "lost": found.lost,
        "both": found.both,
        "neither": found.neither,
        "union": found.union,
    }
