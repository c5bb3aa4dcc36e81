"""Anybody's TREC run, scored by TREC judgements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memory_rag.errors import QueryError
from memory_rag.evaluation.measures import measure
from memory_rag.evaluation.runs import ranked_ids, read_qrels, read_run


def score_files(run: Path, qrels: Path, *, measures: Sequence[str]) -> dict[str, Any]:
    """Return each measure's mean and definition, and its value for every judged query.

    A query with relevant turns that the run doesn't have scores 0 and is counted in ``without_hits``; a query of the
    run for which nothing is judged as relevant is counted in ``not_judged`` and not scored.

    Raises:
        ImportFormatError: a file isn't of TREC's form.
        QueryError: an unknown measure, or judgements without a relevant turn.
    """
    by = [measure(name) for name in measures]
    found, judged = read_run(run), read_qrels(qrels)
    relevant = {query: graded for query, graded in judged.items() if any(grade > 0 for grade in graded.values())}
    if not relevant:
        raise QueryError(f"{qrels} judges nothing as relevant, so there is nothing to measure")
    rankings = {query: ranked_ids(found.get(query, {})) for query in relevant}
    per_query = {
        str(one): {query: one.value_of(graded, rankings[query]) for query, graded in relevant.items()} for one in by
    }
    return {
        "n_queries": len(relevant),
        "without_hits": sum(not ranked for ranked in rankings.values()),
        "not_judged": len(found.keys() - relevant.keys()),
        "measures": {
            str(one): {"mean": sum(per_query[str(one)].values()) / len(relevant), "definition": one.definition}
            for one in by
        },
        "per_query": per_query,
    }
