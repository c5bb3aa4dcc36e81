"""The report of a benchmark on one pool, built from every retriever's run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from memory_rag.errors import QueryError
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.differences import comparisons_of
from memory_rag.evaluation.report_shape import Dataset, Latency, Means, PoolName, Report, Retriever, Weights
from memory_rag.evaluation.scores import (
    Rankings,
    Scorer,
    check_candidates,
    evidence_by_role,
    scored,
    scorers,
)
from memory_rag.evaluation.statistics import Values
from memory_rag.evaluation.summaries import Summaries
from memory_rag.evaluation.weights_origin import is_in_sample
from memory_rag.evaluation.wording import counted

MEASURES: Final = (
    "recall@1",
    "recall@5",
    "recall@10",
    "success@1",
    "success@5",
    "success@10",
    "all_found@10",
    "rr@10",
    "ndcg@10",
)
COMPARED: Final = ("recall@10", "ndcg@10", "success@10")
BOUNDS: Final = ("random", "oracle")


def build_report(
    benchmark: Benchmark,
    runs: Mapping[str, Rankings],
    *,
    pool: PoolName,
    depth: int,
    provenance: Mapping[str, Any],
    weights: Mapping[str, Weights] | None = None,
    latencies_ms: Mapping[str, Sequence[float]] | None = None,
    tokens: Mapping[str, int] | None = None,
    token_counter: str | None = None,
    measures: Sequence[str] = MEASURES,
    compared: Sequence[str] = COMPARED,
    groups: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
) -> Report:
    """Score every retriever's run on one pool and return the report.

    ``runs`` maps a retriever's name to its rankings of ``depth`` hits at most; a query that is absent or empty scores 0
    and is counted. ``weights`` and ``latencies_ms`` (one a query) are of the retrievers that have them, ``tokens`` the
    size of every document as ``token_counter`` counts. The first of ``compared`` is what the answer is about; all pairs
    of retrievers are compared, the bounds ``random`` and ``oracle`` left out. ``groups`` are categories that are also
    taken together, under their own name among the categories.

    Raises:
        QueryError: nothing to score, a measure too deep for the runs or the pools, a run on other
            queries or candidates.
    """
    queries = benchmark.answerable()
    if not queries or not runs:
        raise QueryError(f"{benchmark.name} has {len(queries)} questions with evidence, and {len(runs)} runs to score")
    strangers = [name for name in (*(weights or ()), *(latencies_ms or ())) if name not in runs]
    if strangers:
        raise QueryError(f"there is no run {strangers[0]!r}; runs are: {', '.join(runs)}")
    check_candidates(benchmark, runs, pool=pool)
    measures = list(dict.fromkeys((*measures, *compared)))
    by, not_measured = scorers(benchmark, runs, pool=pool, depth=depth, measures=measures, tokens=tokens)
    names = [str(one) for one in by]
    conversations = [query.conversation_id for query in queries]
    categories = [query.category for query in queries]

    found = {name: scored(run, queries=queries, qrels=benchmark.qrels, by=by) for name, run in runs.items()}
    values = np.stack([one.values for one in found.values()], axis=1)
    means = Summaries(list(runs), names, seed).means(values, conversations=conversations)
    parts = Summaries(list(runs), measures, seed)
    asked = values[:, :, : len(measures)]
    by_category = parts.by_part(asked, parts=categories, conversations=conversations)
    for name, together in (groups or {}).items():
        rows = [row for row, category in enumerate(categories) if category in together]
        if rows:
            of_group = parts.by_part(
                asked[rows], parts=[name] * len(rows), conversations=[conversations[row] for row in rows]
            )
            for retriever in by_category:
                by_category[retriever] |= of_group[retriever]
    by_conversation = parts.by_part(asked, parts=conversations, conversations=conversations)
    by_role = _by_role(benchmark, runs, by=by[: len(measures)], summaries=parts, of_all=asked)
    retrievers: dict[str, Retriever] = {
        name: {
            "weights": (weights or {}).get(name),
            "in_sample": is_in_sample((weights or {}).get(name), benchmark=benchmark),
            "bound": name in BOUNDS,
            "without_hits": one.without_hits,
            "measures": means[name],
            "by_category": by_category[name],
            "by_role": by_role[name],
            "by_conversation": by_conversation[name],
            "latency_ms": _latency((latencies_ms or {}).get(name)),
        }
        for name, one in found.items()
    }
    per_query = {
        name: {measure: one.values[:, column].tolist() for column, measure in enumerate(names)}
        for name, one in found.items()
    }
    contenders = {name: per_query[name] for name in runs if name not in BOUNDS}
    comparisons = comparisons_of(contenders, measures=compared, conversations=conversations, seed=seed)
    n_unanswerable = len(benchmark.unanswerable())
    if n_unanswerable:
        asked_in_vain = counted(n_unanswerable, "question")
        not_measured.append(f"{asked_in_vain} without evidence: whether nothing is rightly found for them")
    if not any(retriever["latency_ms"] for retriever in retrievers.values()):
        not_measured.append("latency")
    return {
        "format": 1,
        "benchmark": benchmark.name,
        "dataset": _dataset(benchmark),
        "settings": {"measure": compared[0], "depth": depth, "seed": seed, "token_counter": token_counter},
        "definitions": {name: one.definition for name, one in zip(names, by, strict=True)},
        "queries": [query.query_id for query in queries],
        "categories": categories,
        "conversations": conversations,
        "provenance": dict(provenance),
        "pool": pool,
        "retrievers": retrievers,
        "comparisons": comparisons,
        "family": len(comparisons),
        "per_query": per_query,
        "first_rank": {name: list(one.first_rank) for name, one in found.items()},
        "not_measured": not_measured,
    }


def _dataset(benchmark: Benchmark) -> Dataset:
    found: Dataset = {
        "name": benchmark.name,
        "sha256": benchmark.sha256,
        "questions_sha256": benchmark.questions_sha256,
        "unit": benchmark.unit,
        "n_queries": len(benchmark.answerable()),
        "n_unanswerable": len(benchmark.unanswerable()),
        "n_turns": sum(len(document.turns) for document in benchmark.documents),
        "n_documents": len(benchmark.documents),
        "n_conversations": len({document.conversation_id for document in benchmark.documents}),
        "dropped": benchmark.dropped.as_json(),
    }
    if benchmark.made:
        found["made"] = dict(benchmark.made)
    if benchmark.caution:
        found["caution"] = benchmark.caution
    return found


def _by_role(
    benchmark: Benchmark, runs: Mapping[str, Rankings], *, by: Sequence[Scorer], summaries: Summaries, of_all: Values
) -> dict[str, dict[str, Means]]:
    found: dict[str, dict[str, Means]] = {name: {} for name in runs}
    by_role = evidence_by_role(benchmark)
    for role, qrels in by_role.items():
        queries = [query for query in benchmark.answerable() if query.query_id in qrels]
        values = of_all  # People who talk are all one role.
        if len(by_role) > 1:
            found_by_run = [scored(run, queries=queries, qrels=qrels, by=by) for run in runs.values()]
            values = np.stack([one.values for one in found_by_run], axis=1)
        conversations = [query.conversation_id for query in queries]
        for name, parts in summaries.by_part(values, parts=[role] * len(queries), conversations=conversations).items():
            found[name] |= parts
    return found


def _latency(milliseconds: Sequence[float] | None) -> Latency | None:
    if not milliseconds:
        return None
    p50, p95 = np.percentile(milliseconds, [50, 95])
    return {"p50": float(p50), "p95": float(p95)}
