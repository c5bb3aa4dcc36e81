"""The questions of a benchmark asked of pools of ever more conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_rag.evaluation.held_words import ReadWords
from memory_rag.evaluation.pool_sizes import SizedPools, asked_of_sizes, size_points, sizes_of, unmeasured_sizes
from memory_rag.evaluation.retrievers import Contender, baselines
from memory_rag.evaluation.runner import Progress, Trial
from memory_rag.trials.contest import Contest

Rankings = Mapping[str, Mapping[str, Sequence[str]]]
"""Retriever to query to ids."""


def ask_of_sizes(
    trial: Trial,
    contests: Sequence[Contest],
    *,
    retrievers: Sequence[str],
    progress: Progress | None,
    read: ReadWords | None = None,
) -> list[str]:
    """Measure recall by the size of the pool, into the trial, and return in words what of it isn't measured.

    What was asked of a conversation alone and of the whole memory is not asked again. hybrid-cv ranks pools of a size
    between by the weights that were fitted in the whole memory without the question's conversation. ``read`` has the
    words that the baselines have read.
    """
    benchmark, queries = trial.benchmark, asked_of_sizes(trial.benchmark)
    sizes = sizes_of(benchmark)
    if "memory" not in trial.pools or len(sizes) < 2 or not queries:
        return ["how recall changes with the number of conversations in the memory"]
    for size in sizes:
        pools = SizedPools(benchmark, size, seed=trial.seed)
        runs = _known(trial, size, largest=sizes[-1]) or _asked(
            trial, contests, pools, size, retrievers, progress, read
        )
        points = size_points(
            runs,
            benchmark=benchmark,
            queries=queries,
            by=trial.compared[0],
            n_conversations=size,
            n_turns=pools.turns_on_average(queries),
            seed=trial.seed,
        )
        for name, point in points.items():
            trial.pool_sizes.setdefault(name, []).append(point)
    for name in [name for name, points in trial.pool_sizes.items() if len(points) < len(sizes)]:
        # Such as one whose weights could be fitted in one pool only.
        del trial.pool_sizes[name]
    missing = unmeasured_sizes(benchmark)
    return [missing] if missing else []


def _known(trial: Trial, size: int, *, largest: int) -> Rankings:
    pool = "conversation" if size == 1 else "memory"
    if size not in (1, largest) or pool not in trial.pools:
        return {}
    return {name: run for name, run in trial.runs[pool].items() if name not in ("random", "oracle")}  # type: ignore[index]


def _asked(
    trial: Trial,
    contests: Sequence[Contest],
    pools: SizedPools,
    size: int,
    retrievers: Sequence[str],
    progress: Progress | None,
    read: ReadWords | None,
) -> Rankings:
    contenders: list[Contender] = [one for one in baselines(pools, read=read) if one.name in retrievers]
    for number, contest in enumerate(contests):
        ours = contest.side.retrievers(trial, pools)
        if number == 0:
            contenders += [one for one in ours.by_words() if one.name in retrievers]
        contenders += contest.contenders(ours)
        fitted = contest.cross_validated(ours, "memory")
        contenders += [fitted] if fitted else []
    # Questions of one pool together, so that it is made ready once.
    queries = sorted(asked_of_sizes(trial.benchmark), key=lambda query: pools.key(query, "memory"))
    depth = int(trial.compared[0].partition("@")[2])
    named = f"{size:,} conversation{'' if size == 1 else 's'}"
    found = trial.rankings(contenders, queries, "memory", depth=depth, named=named, progress=progress)
    return {name: {query: ranked.doc_ids for query, ranked in of_query.items()} for name, of_query in found.items()}
