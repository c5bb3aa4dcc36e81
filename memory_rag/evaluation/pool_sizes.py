"""How recall changes as the memory grows: the same questions, asked of ever more conversations at once.

A question's pool of n conversations is its own and n - 1 others. They are drawn once with a seed: the conversations are
shuffled and cut into stretches of n, so that questions share pools and a larger pool mostly holds the smaller one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from memory_rag.evaluation.benchmark import Benchmark, Document, Query
from memory_rag.evaluation.measures import measure
from memory_rag.evaluation.pools import Pools
from memory_rag.evaluation.report_shape import PoolName, PoolSize
from memory_rag.evaluation.summaries import FEWEST, intervals

SIZES: Final = (1, 5, 50, 500)
"""Conversations; those that a data set has fewer of are not measured, and all that it has come last."""
MOST_ASKED: Final = 500
"""Questions asked of each size, evenly chosen; the others would cost as much as the whole memory once more."""


def sizes_of(benchmark: Benchmark) -> tuple[int, ...]:
    """Return the sizes that can be measured, rising: 1, 5, 50, 500 as far as there are more, and all."""
    n = len({document.conversation_id for document in benchmark.documents})
    return (*(size for size in SIZES if size < n), n)


def unmeasured_sizes(benchmark: Benchmark) -> str:
    """Return in words which of the usual sizes the data don't have; nothing if they have all."""
    n = sizes_of(benchmark)[-1]
    missing = [f"{size:,}" for size in SIZES if size > n]
    if not missing:
        return ""
    listed = " and ".join([", ".join(missing[:-1]), missing[-1]] if len(missing) > 1 else missing)
    return f"recall in pools of {listed} conversations: the data have {n:,}"


class SizedPools(Pools):
    """Pools of n conversations, a question's own among them; all of them if n is all there are."""

    def __init__(self, benchmark: Benchmark, n: int, *, seed: int) -> None:
        super().__init__(benchmark)
        self._n = n
        names = list(dict.fromkeys(document.conversation_id for document in benchmark.documents))
        random.Random(seed).shuffle(names)
        # The last stretch is filled up from the one before.
        starts = [min(start, max(0, len(names) - n)) for start in range(0, len(names), n)]
        self._stretches = [tuple(names[start : start + n]) for start in starts]
        self._stretch_of = {name: at for at, stretch in reversed([*enumerate(self._stretches)]) for name in stretch}
        self._documents: dict[str, list[Document]] = {}
        for document in benchmark.documents:
            self._documents.setdefault(document.conversation_id, []).append(document)

    def key(self, query: Query, pool: PoolName) -> str:
        return f"{self._n} conversations, {self._stretch_of[query.conversation_id]}"

    def conversations(self, query: Query, pool: PoolName) -> tuple[str, ...]:
        return self._stretches[self._stretch_of[query.conversation_id]]

    def candidates(self, query: Query, pool: PoolName) -> tuple[Document, ...]:
        return tuple(one for name in self.conversations(query, pool) for one in self._documents[name])

    def turns_on_average(self, queries: Sequence[Query]) -> int:
        """Return how many turns these questions' pools have, the mean over questions."""
        counts = Counter({name: sum(len(one.turns) for one in said) for name, said in self._documents.items()})
        of_stretch = [sum(counts[name] for name in stretch) for stretch in self._stretches]
        return round(sum(of_stretch[self._stretch_of[query.conversation_id]] for query in queries) / len(queries))


def asked_of_sizes(benchmark: Benchmark) -> tuple[Query, ...]:
    """Return the questions that are asked of each size: those about a conversation, evenly chosen if they are many."""
    about_one = [query for query in benchmark.answerable() if query.conversation_id]
    n = min(MOST_ASKED, len(about_one))
    return tuple(about_one[place * len(about_one) // n] for place in range(n))


def size_points(
    runs: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    benchmark: Benchmark,
    queries: Sequence[Query],
    by: str,
    n_conversations: int,
    n_turns: int,
    seed: int,
) -> dict[str, PoolSize]:
    """Return each retriever's mean with its interval at one size."""
    one = measure(by)
    values = np.array(
        [
            [one.value_of(benchmark.qrels[query.query_id], run[query.query_id]) for run in runs.values()]
            for query in queries
        ]
    )
    conversations = [query.conversation_id for query in queries]
    points: dict[str, PoolSize] = {}
    for name, found in zip(runs, intervals(values, conversations=conversations, seed=seed), strict=True):
        known = found.n >= FEWEST
        points[name] = {
            "n_conversations": n_conversations,
            "n_turns": n_turns,
            "mean": found.mean,
            "low": found.low if known else None,
            "high": found.high if known else None,
            "n": found.n,
        }
    return points
