"""Runs scored query by query, on the same queries and candidates for every retriever."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol

import numpy as np

from memory_rag.errors import QueryError
from memory_rag.evaluation.benchmark import Benchmark, Query
from memory_rag.evaluation.measures import Measure, Places, Relevant, measure, n_within_tokens, recall_at_tokens
from memory_rag.evaluation.report_shape import PoolName
from memory_rag.evaluation.statistics import Values

Rankings = Mapping[str, Sequence[str]]
"""Query id to document ids, best first; a query that is absent had no hits."""

TOKEN_BUDGETS: Final = (500, 1_000, 2_000)
CURVE: Final = (1, 2, 3, 5, 10, 20, 30, 50, 100)
"""The k at which recall is drawn, as far as the depth and the pools go."""


class Scorer(Protocol):
    """A number from 0 to 1 for one ranking; ``str`` is its name."""

    @property
    def definition(self) -> str: ...

    def value_of(self, relevant: Relevant, ranked: Sequence[str]) -> float: ...


@dataclass(frozen=True, slots=True)
class TokenRecall:
    """Recall of what a prompt of ``budget`` tokens would hold; ``tokens`` has the size of every document."""

    budget: int
    tokens: Mapping[str, int]

    def __str__(self) -> str:
        return f"recall@{self.budget}tokens"

    @property
    def definition(self) -> str:
        return (
            "relevant turns among the first hits that together have at most "
            f"{self.budget:,} tokens of text / relevant turns; the first hit that doesn't fit ends it"
        )

    def value_of(self, relevant: Relevant, ranked: Sequence[str]) -> float:
        return recall_at_tokens(relevant, ranked, budget=self.budget, tokens=self.tokens)

    def is_spent_by(self, ranked: Sequence[str]) -> bool:
        return n_within_tokens(ranked, budget=self.budget, tokens=self.tokens) < len(ranked)


@dataclass(frozen=True, slots=True)
class Scored:
    """One retriever's values, shape (queries, scorers), and the rank of the first relevant hit of each query."""

    values: Values
    first_rank: tuple[int | None, ...]
    without_hits: int


def scored(run: Rankings, *, queries: Sequence[Query], qrels: Mapping[str, Relevant], by: Sequence[Scorer]) -> Scored:
    """Score a run; a query that it doesn't have, or has without hits, gets 0 and is counted."""
    values = np.zeros((len(queries), len(by)))
    ranks: list[int | None] = []
    by_rank = [place for place, one in enumerate(by) if isinstance(one, Measure)]
    others = [(place, one) for place, one in enumerate(by) if not isinstance(one, Measure)]

    @cache
    def measured(places: Places) -> list[float]:
        """Most questions have one relevant turn, and it is at few ranks."""
        return [one.of_places(places) for one in by if isinstance(one, Measure)]

    for row, query in enumerate(queries):
        ranked, relevant = run.get(query.query_id, ()), qrels[query.query_id]
        places = Places.of(relevant, ranked)
        if places.ranks:  # Without a relevant hit everything is 0.
            values[row, by_rank] = measured(places)
            for place, one in others:
                values[row, place] = one.value_of(relevant, ranked)
        ranks.append(places.ranks[0] if places.ranks else None)
    return Scored(values, tuple(ranks), sum(not run.get(query.query_id) for query in queries))


def scorers(
    benchmark: Benchmark,
    runs: Mapping[str, Rankings],
    *,
    pool: PoolName,
    depth: int,
    measures: Sequence[str],
    tokens: Mapping[str, int] | None,
) -> tuple[list[Scorer], list[str]]:
    """Return what runs of a depth can be scored by, and in words what of the usual can't be.

    Raises:
        QueryError: a measure asked for looks deeper than the runs go, or as deep as a query's whole pool.
    """
    sizes = _pool_sizes(benchmark, pool=pool)
    where = min(sizes, key=lambda query_id: (sizes[query_id], query_id))
    asked = [measure(name) for name in measures]
    for one in asked:
        _check_cutoff(one, pool=pool, depth=depth, smallest=sizes[where], where=where)
    left_out: list[str] = []
    found: list[Scorer] = list(asked)
    deepest = max((k for k in CURVE if k <= depth and k < sizes[where]), default=0)
    found += [measure(f"recall@{k}") for k in CURVE if k <= deepest and f"recall@{k}" not in measures]
    if deepest < CURVE[-1]:
        why = (
            f"rankings of {depth} hits" if depth < sizes[where] else f"the smallest pool has {sizes[where]} candidates"
        )
        left_out.append(f"recall@k beyond k = {deepest}: {why}")
    if tokens is None:
        left_out.append("recall at a token budget: nobody counted the tokens")
        return found, left_out
    _check_tokens(benchmark, tokens)
    cut_short = _cut_short(runs, tokens, depth=depth, sizes=sizes)
    for budget in TOKEN_BUDGETS:
        if short := cut_short[budget]:
            why = f"{depth} hits don't fill it for every question ({', '.join(short)})"
            left_out.append(f"recall at {budget:,} tokens: {why}; a greater depth does")
        else:
            found.append(TokenRecall(budget, tokens))
    return found, left_out


def check_candidates(benchmark: Benchmark, runs: Mapping[str, Rankings], *, pool: PoolName) -> None:
    """Refuse runs that rank what isn't a candidate: every retriever has to rank the same.

    Raises:
        QueryError: a query or a document that the benchmark doesn't have, or a hit from outside its pool.
    """
    conversations = {document.doc_id: document.conversation_id for document in benchmark.documents}
    asked = {query.query_id: query.conversation_id for query in benchmark.queries}
    for name, run in runs.items():
        for query_id, ranked in run.items():
            if query_id not in asked:
                raise QueryError(f"run {name!r} answers a query {query_id!r} that {benchmark.name} doesn't have")
            among = set(map(conversations.get, ranked))
            if None not in among and (pool != "conversation" or asked[query_id] == "" or among <= {asked[query_id]}):
                continue
            for found in ranked:
                if found not in conversations:
                    raise QueryError(
                        f"run {name!r} ranks {found!r} for query {query_id!r}, but {benchmark.name} has no such "
                        f"{benchmark.unit}; its ids are as in {benchmark.documents[0].doc_id!r}"
                    )
                if pool == "conversation" and asked[query_id] not in ("", conversations[found]):
                    raise QueryError(
                        f"run {name!r} ranks {found!r} for query {query_id!r}, which is of another conversation; "
                        "score such a run on the pool 'memory'"
                    )


def evidence_by_role(benchmark: Benchmark) -> dict[str, dict[str, Relevant]]:
    """Return judgements role by role: those of its evidence alone, for the queries that have such.

    A session counts for every role that speaks in it.
    """
    roles = {document.doc_id: sorted({turn.role.value for turn in document.turns}) for document in benchmark.documents}
    found: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for query in benchmark.answerable():
        for doc_id, grade in benchmark.qrels[query.query_id].items():
            for role in roles[doc_id] if grade > 0 else ():
                found[role][query.query_id][doc_id] = grade
    return {role: dict(found[role]) for role in sorted(found)}


def _pool_sizes(benchmark: Benchmark, *, pool: PoolName) -> dict[str, int]:
    """Return how many candidates each answerable query has."""
    return {query.query_id: len(benchmark.pool_of(query, pool=pool)) for query in benchmark.answerable()}


def _check_cutoff(one: Measure, *, pool: PoolName, depth: int, smallest: int, where: str) -> None:
    if one.cutoff > depth:
        raise QueryError(
            f"{one} looks at {one.cutoff} hits, but the runs have {depth}; run with a depth of at least that"
        )
    if one.cutoff >= smallest:
        raise QueryError(
            f"{one} says nothing about query {where!r}: its pool has {smallest} candidates, so any order would do; "
            "choose a smaller k" + (", or ask of the whole memory alone with --pool memory" if pool != "memory" else "")
        )


def _check_tokens(benchmark: Benchmark, tokens: Mapping[str, int]) -> None:
    for document in benchmark.documents:
        if document.doc_id not in tokens:
            raise QueryError(
                f"the tokens of {document.doc_id!r} were not counted; count all of {benchmark.name}, or none"
            )


def _cut_short(
    runs: Mapping[str, Rankings], tokens: Mapping[str, int], *, depth: int, sizes: Mapping[str, int]
) -> dict[int, list[str]]:
    """Return by budget the runs of which a ranking stops at the depth before it is spent: deeper hits might have fit.

    Who spends a larger budget spends a smaller one too.
    """
    found: dict[int, list[str]] = {}
    doubtful = list(runs)
    for budget in sorted(TOKEN_BUDGETS, reverse=True):
        scorer = TokenRecall(budget, tokens)
        doubtful = [name for name in doubtful if _is_cut_short(scorer, runs[name], depth=depth, sizes=sizes)]
        found[budget] = doubtful
    return found


def _is_cut_short(scorer: TokenRecall, run: Rankings, *, depth: int, sizes: Mapping[str, int]) -> bool:
    return any(
        len(ranked) >= depth and depth < sizes.get(query_id, 0) and not scorer.is_spent_by(ranked)
        for query_id, ranked in run.items()
    )
