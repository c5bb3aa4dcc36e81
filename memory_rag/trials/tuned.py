"""Weights fitted to a benchmark's questions, over a memory that holds its turns."""

from __future__ import annotations

from collections.abc import Sequence

from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.pools import Pools, by_conversation
from memory_rag.evaluation.report_shape import PoolName
from memory_rag.evaluation.tuning import Example, fitted_weights
from memory_rag.retrieval.weights_file import WeightsFile
from memory_rag.trials.contenders import MemoryRetrievers
from memory_rag.trials.contest import Side, Telling, embed_side


def tuned_weights(benchmark: Benchmark, side: Side, *, pools: Sequence[PoolName], telling: Telling) -> WeightsFile:
    """Return weights fitted to all answerable questions of a benchmark, each asked in these pools.

    Raises:
        QueryError: no question has its evidence among the candidates.
        EmbedderError: the embedder can't be loaded or reached.
    """
    embed_side(side, telling)
    ours = MemoryRetrievers(
        side.memory, benchmark, Pools(benchmark), embedder=side.embedder, weights=side.weights, origin=side.origin
    )
    ours.by_meaning()
    examples: list[Example] = []
    queries = by_conversation(benchmark.answerable())
    for pool in pools:
        for done, query in enumerate(queries):
            if telling.progress is not None and done % 20 == 0:
                telling.progress(f"asking ({pool})", done, len(queries))
            examples += ours.example(query, pool)
    if side.embedder is not None:
        side.embedder.save()
    # The weights that they start from hold them, so what those have seen, these have.
    fitted_on = list(dict.fromkeys([*side.origin["fitted_on"], benchmark.sha256]))
    return WeightsFile(fitted_weights(examples, start=ours.weights), fitted_on)
