"""A benchmark run on a memory from the first question to the report: what needs no vectors first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final

from memory_rag.embedding.wordpiece import WordPiece
from memory_rag.errors import QueryError, SettingsError
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.datasets.leaks import leak_check
from memory_rag.evaluation.measures import measure
from memory_rag.evaluation.pools import Pools
from memory_rag.evaluation.provenance import provenance
from memory_rag.evaluation.report_shape import AnyReport, PoolName, Weights
from memory_rag.evaluation.retrievers import TEMPLATE, Contender, baselines, bounds
from memory_rag.evaluation.runner import Progress, Trial
from memory_rag.evaluation.tuning import Example
from memory_rag.memory import Memory
from memory_rag.trials.contenders import CONVEX_WEIGHT, MemoryRetrievers
from memory_rag.trials.query_vectors import RememberingEmbedder

RETRIEVERS: Final = (
    "overlap", "rank-bm25", "keyword", "dense", "rrf", "convex", "hybrid", "hybrid-cv", "random", "oracle"
)  # fmt: skip
OF_ANOTHER_EMBEDDER: Final = ("dense", "convex", "hybrid", "hybrid-cv")
"""What another embedder is tried with; the others don't use one, or are known to be worse."""
_MEASURED: Final = 64
"""Turns that are embedded to say how long the others will take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A memory with its embedder, None if it has none, and the weights of its hybrid retrieval."""

    memory: Memory
    embedder: RememberingEmbedder | None
    weights: Mapping[str, float]
    origin: Weights
    name: str = ""
    """What stands behind the names of its retrievers, empty for the memory's own embedder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Who is told: how far it is, and what else there is to know."""

    progress: Progress | None = None
    note: Callable[[str], None] = field(default=lambda _text: None)


def refuse_leaks(benchmark: Benchmark, *, force: bool, note: Callable[[str], None]) -> None:
    """Refuse a benchmark in which ids or order alone find the evidence.

    Raises:
        QueryError: they do, without ``force``.
    """
    for leak in leak_check(benchmark):
        if not force:
            raise QueryError(
                f"{benchmark.name} gives its evidence away: {leak}; run it all the same with --force, "
                "and don't trust a retriever that sees ids"
            )
        note(f"{benchmark.name} gives its evidence away: {leak}")


def chosen(names: str | None) -> tuple[str, ...]:
    """Return the retrievers that a comma-separated list names, in the usual order; all of them for None.

    Raises:
        SettingsError: a name that is none.
    """
    if names is None:
        return RETRIEVERS
    asked = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in asked if name not in RETRIEVERS]
    if unknown or not asked:
        raise SettingsError(
            f"unknown retriever {unknown[0] if unknown else names!r}; retrievers are: {', '.join(RETRIEVERS)}"
        )
    return tuple(name for name in RETRIEVERS if name in asked)


def run_trial(
    trial: Trial, side: Side, *, others: Sequence[Side] = (), retrievers: Sequence[str] = RETRIEVERS, telling: Telling
) -> AnyReport:
    """Ask every retriever every question, what needs no vectors first, and return the report.

    Raises:
        QueryError: a k at or above the size of a question's pool, or nothing to score.
        EmbedderError: an embedder can't be loaded or reached.
    """
    trial.check()
    pools = Pools(trial.benchmark)
    ours = _retrievers(trial, side, pools)
    not_measured: list[str] = []
    at_once = [*baselines(trial.benchmark, pools), *ours.by_words()]
    _ask(trial, [one for one in at_once if one.name in retrievers], telling)
    _tell_of_first(trial, telling)
    fitted = {"hybrid-cv": _by_meaning(trial, side, ours, retrievers, not_measured, telling)}
    for other in others:
        wanted = [name for name in retrievers if name in OF_ANOTHER_EMBEDDER]
        theirs = _retrievers(trial, other, pools)
        fitted[f"hybrid-cv:{other.name}"] = _by_meaning(trial, other, theirs, wanted, not_measured, telling)
    _ask(trial, [one for one in bounds(trial.benchmark, pools, seed=trial.seed) if one.name in retrievers], telling)
    if not trial.runs:
        raise QueryError(f"none of {', '.join(retrievers)} can rank here; see the notes, or choose other retrievers")
    counter = WordPiece()
    tokens = {
        document.doc_id: sum(counter.count(turn.searchable) for turn in document.turns)
        for document in trial.benchmark.documents
    }
    if telling.progress is not None:
        telling.progress("scoring", 0, 0)
    return trial.report(
        provenance=_made_with(trial, [side, *others], {name: found for name, found in fitted.items() if found}),
        tokens=tokens,
        token_counter="all-MiniLM-L6-v2 word pieces",
        not_measured=not_measured,
    )


def _retrievers(trial: Trial, side: Side, pools: Pools) -> MemoryRetrievers:
    return MemoryRetrievers(
        side.memory, trial.benchmark, pools, embedder=side.embedder, weights=side.weights, origin=side.origin
    )


def _by_meaning(
    trial: Trial,
    side: Side,
    ours: MemoryRetrievers,
    retrievers: Sequence[str],
    not_measured: list[str],
    telling: Telling,
) -> dict[str, Any]:
    """Embed what is left to embed, and ask what uses vectors; return the cross-validated weights by pool."""
    using = {"dense", "rrf", "convex", "hybrid", "hybrid-cv"} & set(retrievers)
    if not using:
        return {}
    if side.embedder is not None:
        embed_side(side, telling)
    contenders = ours.by_meaning()
    if side.embedder is None and using - {"hybrid", "hybrid-cv"}:
        not_measured.append("dense, rrf and convex: there is no embedder (embedder = none)")
    suffix = f":{side.name}" if side.name else ""
    asked = [_renamed(one, suffix) for one in contenders if one.name in retrievers]
    weights: dict[str, Any] = {}
    for pool in trial.pools:
        examples: list[Example] = []
        if "hybrid-cv" not in retrievers:
            trial.ask(asked, pool, progress=telling.progress)
            continue
        trial.ask(
            asked,
            pool,
            progress=telling.progress,
            beside=lambda query, pool=pool, examples=examples: examples.extend(ours.example(query, pool)),  # type: ignore[misc]
        )
        try:
            found = ours.cross_validated(examples)
        except QueryError as error:
            not_measured.append(f"hybrid-cv{suffix}, {pool}: {error}")
            telling.note(f"hybrid-cv{suffix}, pool {pool}, is left out: {error}")
            continue
        trial.ask([_renamed(found.contender, suffix)], pool, progress=telling.progress)
        weights[pool] = found.spread()
    if side.embedder is not None:
        side.embedder.save()
    return weights


def _ask(trial: Trial, contenders: Sequence[Contender], telling: Telling) -> None:
    for pool in trial.pools:
        if contenders:
            trial.ask(contenders, pool, progress=telling.progress)


def embed_side(side: Side, telling: Telling) -> None:
    """Embed the turns that lack a vector; what was embedded before is kept."""
    memory = side.memory
    dense = memory.indexes.dense()
    table = memory.indexes.keyword.table
    if dense is None or len(dense.pending(table)) == 0:
        return
    n_pending = len(dense.pending(table))
    start = perf_counter()
    done = dense.embed(table, memory.store, limit=_MEASURED)
    left = n_pending - done
    if left and done:
        seconds = (perf_counter() - start) / done * left
        telling.note(f"{n_pending:,} turns to embed, about {_roughly(seconds)}; a stopped run is taken up again")
    memory.embed(progress=telling.progress)


def _roughly(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _tell_of_first(trial: Trial, telling: Telling) -> None:
    for pool, runs in trial.runs.items():
        if "keyword" in runs:
            name = trial.compared[0]
            telling.note(f"keyword, pool {pool}: {name} {mean_of_run(trial, pool, 'keyword', name):.3f}")


def mean_of_run(trial: Trial, pool: PoolName, retriever: str, name: str) -> float:
    """Return the mean of a measure over a retriever's rankings."""
    by, runs = measure(name), trial.runs[pool][retriever]
    values = [by.value_of(trial.benchmark.qrels[query_id], ranked) for query_id, ranked in runs.items()]
    return sum(values) / len(values)


def _renamed(contender: Contender, suffix: str) -> Contender:
    return Contender(contender.name + suffix, contender.rank, contender.weights)


def _made_with(trial: Trial, sides: Sequence[Side], fitted: Mapping[str, Any]) -> dict[str, Any]:
    memory = sides[0].memory
    return provenance(
        embedder=sides[0].embedder.fingerprint if sides[0].embedder else None,
        other_embedders={side.name: side.embedder.fingerprint for side in sides[1:] if side.embedder},
        analyzer=memory.indexes.keyword.analyzer.fingerprint,
        languages=list(memory.indexes.languages()),
        text_template=TEMPLATE,
        weights=dict(sides[0].weights),
        cross_validated=dict(fitted),
        convex_weight=CONVEX_WEIGHT,
        depth=memory.settings.depth,
        pools=list(trial.pools),
        seed=trial.seed,
    )
