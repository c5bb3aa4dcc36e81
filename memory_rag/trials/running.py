"""A benchmark run on a memory from the first question to the report: what needs no vectors first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from memory_rag.embedding.readable import pieces
from memory_rag.embedding.wordpiece import WordPiece
from memory_rag.errors import QueryError, SettingsError
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.datasets.leaks import leak_check
from memory_rag.evaluation.held_words import ReadWords
from memory_rag.evaluation.kept_rankings import KeptRankings
from memory_rag.evaluation.measures import measure
from memory_rag.evaluation.pools import Pools
from memory_rag.evaluation.provenance import code_digest, provenance
from memory_rag.evaluation.report_shape import AnyReport, PoolName
from memory_rag.evaluation.retrievers import TEMPLATE, Contender, baselines, bounds
from memory_rag.evaluation.runner import Trial
from memory_rag.evaluation.scores import TOKEN_BUDGETS
from memory_rag.evaluation.token_counts import TokenCounts
from memory_rag.evaluation.tuning import spread
from memory_rag.trials.contest import Contest, FittedByPool, Side, Telling
from memory_rag.trials.growing import ask_of_sizes
from memory_rag.trials.simple_scores import CONVEX_WEIGHT
from memory_rag.turns import printable

RETRIEVERS: Final = (
    "overlap", "rank-bm25", "keyword", "dense", "rrf", "convex", "hybrid", "hybrid-cv", "random", "oracle"
)  # fmt: skip


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

    What ``trial.kept`` has of a run that was stopped isn't asked again; it is forgotten when the report is made.

    Raises:
        QueryError: a k at or above the size of a question's pool, or nothing to score.
        EmbedderError: an embedder can't be loaded or reached.
    """
    trial.check()
    pools, read = Pools(trial.benchmark), ReadWords()
    first, *further = (Contest(trial, one, pools, retrievers, telling) for one in (side, *others))
    _ask(
        trial,
        [one for one in (*baselines(pools, read=read), *first.ours.by_words()) if one.name in retrievers],
        telling,
    )
    _tell_of_first(trial, telling)
    for contest in (first, *further):
        contest.ask()
    _ask(trial, [one for one in bounds(trial.benchmark, pools, seed=trial.seed) if one.name in retrievers], telling)
    if not trial.runs:
        raise QueryError(f"none of {', '.join(retrievers)} can rank here; see the notes, or choose other retrievers")
    not_measured = [text for contest in (first, *further) for text in contest.not_measured]
    not_measured += ask_of_sizes(trial, (first, *further), retrievers=retrievers, progress=telling.progress, read=read)
    if telling.progress is not None:
        telling.progress("scoring", 0, 0)
    fitted = {contest.named("hybrid-cv"): contest.weights for contest in (first, *further) if contest.weights}
    report = trial.report(
        provenance=_made_with(trial, [side, *others], fitted),
        tokens=TokenCounts(trial.benchmark, count=partial(_token_counts, WordPiece()), enough=max(TOKEN_BUDGETS)),
        token_counter="all-MiniLM-L6-v2 word pieces",
        not_measured=not_measured,
    )
    if trial.kept is not None:
        trial.kept.forget()
    return report


def _token_counts(tokenizer: WordPiece, text: str) -> Iterator[int]:
    clean = printable(text)
    return (tokenizer.count(piece.of(clean)) for piece in pieces(clean))


def _ask(trial: Trial, contenders: Sequence[Contender], telling: Telling) -> None:
    for pool in trial.pools:
        if contenders:
            trial.ask(contenders, pool, progress=telling.progress)


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


def _made_with(trial: Trial, sides: Sequence[Side], fitted: Mapping[str, FittedByPool]) -> dict[str, Any]:
    memory = sides[0].memory
    return provenance(
        embedder=sides[0].embedder.fingerprint if sides[0].embedder else None,
        other_embedders={side.name: side.embedder.fingerprint for side in sides[1:] if side.embedder},
        analyzer=memory.indexes.keyword.analyzer.fingerprint,
        languages=list(memory.indexes.languages()),
        text_template=TEMPLATE,
        weights=dict(sides[0].weights),
        cross_validated={
            name: {pool: spread(weights) for pool, weights in by_pool.items()} for name, by_pool in fitted.items()
        },
        convex_weight=CONVEX_WEIGHT,
        depth=memory.settings.depth,
        pools=list(trial.pools),
        seed=trial.seed,
    )


def kept_rankings(trial: Trial, sides: Sequence[Side], work: Path) -> KeptRankings:
    """Return where rankings are kept until the run is finished; what another run or other code made isn't found."""
    memory = sides[0].memory
    return KeptRankings(
        work / "stopped",
        {
            "code": code_digest(),
            "data": trial.benchmark.sha256,
            "benchmark": trial.benchmark.name,
            "unit": trial.benchmark.unit,
            "questions": trial.benchmark.questions_sha256,
            "memory": memory.place,
            "zone": str(memory.zone),
            "settings": [
                trial.depth,
                trial.compared,
                trial.seed,
                memory.settings.depth,
                list(memory.indexes.languages()),
            ],
            "sides": [
                [side.name, side.embedder.fingerprint if side.embedder else None, dict(side.weights), side.origin]
                for side in sides
            ],
        },
    )
