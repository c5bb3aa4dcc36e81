"""The pools that questions are asked of, and which candidates a question has in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from memory_rag.errors import SettingsError
from memory_rag.evaluation.benchmark import Benchmark, Document, Query
from memory_rag.evaluation.datasets.conversations import twins_of_evidence
from memory_rag.evaluation.report_shape import PoolName

POOLS: Final[tuple[PoolName, ...]] = ("conversation", "memory")


class Pools:
    """A benchmark's pools: whose candidates a query shares, and which of them are no candidates of it."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark

    def key(self, query: Query, pool: PoolName) -> str:
        """Return a name that queries with the same candidates share: a conversation's id, or nothing for all."""
        return "" if pool == "memory" else query.conversation_id

    def conversations(self, query: Query, pool: PoolName) -> tuple[str, ...] | None:
        """Return the conversations whose documents are a query's candidates; None for all."""
        return (query.conversation_id,) if self.key(query, pool) else None

    def candidates(self, query: Query, pool: PoolName) -> tuple[Document, ...]:
        """Return a query's candidates, those left out among them."""
        return self._benchmark.pool_of(query, pool=pool)

    def left_out(self, query: Query, pool: PoolName) -> frozenset[str]:
        """Return documents that are no candidates of this query: in a whole memory, the twins of its evidence."""
        return self._twins.get(query.query_id, frozenset()) if pool == "memory" else frozenset()

    @cached_property
    def _twins(self) -> dict[str, frozenset[str]]:
        return dict(twins_of_evidence(self._benchmark))


def pools_named(text: str) -> tuple[PoolName, ...]:
    """Return the pools that ``conversation``, ``memory`` or ``both`` names.

    Raises:
        SettingsError: it is none of these.
    """
    if text == "both":
        return POOLS
    found = tuple(pool for pool in POOLS if pool == text)
    if not found:
        raise SettingsError(f"unknown pool {text!r}; a pool is one of: {', '.join(POOLS)}, both")
    return found


def limited(benchmark: Benchmark, n: int | None) -> Benchmark:
    """Return the benchmark with ``n`` of its answerable queries, evenly spread over them; with all of them for None.

    The documents stay, and so do the queries without an answer.

    Raises:
        SettingsError: ``n`` is below 1.
    """
    if n is None:
        return benchmark
    if n < 1:
        raise SettingsError(f"a limit of {n} questions leaves none; give 1 or more")
    asked = benchmark.answerable()
    kept = {asked[place * len(asked) // n].query_id for place in range(n)} if n < len(asked) else None
    if kept is None:
        return benchmark
    dropped = {query.query_id for query in asked} - kept
    return replace(benchmark, queries=tuple(query for query in benchmark.queries if query.query_id not in dropped))


def by_conversation(queries: Sequence[Query]) -> list[Query]:
    """Return the queries, those of one conversation together, so that a pool is made ready once."""
    order: dict[str, list[Query]] = {}
    for query in queries:
        order.setdefault(query.conversation_id, []).append(query)
    return [query for asked in order.values() for query in asked]
