"""One memory with its embedder in a benchmark: what it embeds first, and the retrievers that it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Final, TypedDict

from memory_rag.errors import QueryError
from memory_rag.evaluation.benchmark import Query
from memory_rag.evaluation.pools import Pools
from memory_rag.evaluation.report_shape import PoolName, Weights
from memory_rag.evaluation.retrievers import Contender
from memory_rag.evaluation.runner import Progress, Trial
from memory_rag.evaluation.tuning import Example
from memory_rag.memory import Memory
from memory_rag.trials.contenders import MemoryRetrievers
from memory_rag.trials.query_vectors import RememberingEmbedder

if TYPE_CHECKING:
    from memory_rag.retrieval.dense import DenseIndex


class _Fit(TypedDict):
    """What cross-validation came to, as a run that is stopped keeps it: why it was refused is empty if it wasn't."""

    weights: Mapping[str, Mapping[str, float]]
    refused: str


FittedByPool = dict[PoolName, Mapping[str, Mapping[str, float]]]
"""Pool to conversation to the weights that were fitted without it."""
OF_ANOTHER_EMBEDDER: Final = ("dense", "convex", "hybrid", "hybrid-cv")
"""What another embedder is tried with; the others don't use one, or are known to be worse."""
_BY_MEANING: Final = frozenset({"dense", "rrf", "convex", "hybrid", "hybrid-cv"})
_MEASURED: Final = 64
_MEASURED_LENGTH: Final = 20_000
"""Turns that are embedded to say how long the others will take, and code points of them together at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A memory with its embedder, None if it has none, and the weights of its hybrid retrieval."""

    memory: Memory
    embedder: RememberingEmbedder | None
    weights: Mapping[str, float]
    origin: Weights
    name: str = ""
    """What stands behind the names of its retrievers, empty for the memory's own embedder."""

    def retrievers(self, trial: Trial, pools: Pools) -> MemoryRetrievers:
        """Return what this memory ranks a benchmark's candidates by."""
        return MemoryRetrievers(
            self.memory, trial.benchmark, pools, embedder=self.embedder, weights=self.weights, origin=self.origin
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Who is told: how far it is, and what else there is to know."""

    progress: Progress | None = None
    note: Callable[[str], None] = field(default=lambda _text: None)


class Contest:
    """A side's retrievers in a trial; ``weights`` are the cross-validated ones, once :meth:`ask` has fitted them."""

    def __init__(self, trial: Trial, side: Side, pools: Pools, retrievers: Sequence[str], telling: Telling) -> None:
        self.side = side
        self.ours = side.retrievers(trial, pools)
        self.weights: FittedByPool = {}
        self.not_measured: list[str] = []
        self._trial = trial
        self._telling = telling
        self._wanted = [name for name in retrievers if name in (OF_ANOTHER_EMBEDDER if side.name else _BY_MEANING)]

    def named(self, retriever: str) -> str:
        """Return a retriever's name in the report: with another embedder the embedder's stands behind it."""
        return f"{retriever}:{self.side.name}" if self.side.name else retriever

    def ask(self) -> None:
        """Embed what is left to embed, and ask what uses vectors in every pool."""
        if not self._wanted:
            return
        if self.side.embedder is not None:
            embed_side(self.side, self._telling)
        elif set(self._wanted) - {"hybrid", "hybrid-cv"}:
            self.not_measured.append("dense, rrf and convex: there is no embedder (embedder = none)")
        for pool in self._trial.pools:
            self._ask(pool)
        if self.side.embedder is not None:
            self.side.embedder.save()

    def contenders(self, ours: MemoryRetrievers) -> list[Contender]:
        """Return the retrievers that use vectors, of this memory over any pools, under their names in the report."""
        return [self._renamed(one) for one in ours.by_meaning() if one.name in self._wanted]

    def cross_validated(self, ours: MemoryRetrievers, pool: PoolName) -> Contender | None:
        """Return hybrid-cv with the weights that were fitted in a pool; None if none were."""
        return self._renamed(ours.by_conversation(self.weights[pool])) if pool in self.weights else None

    def _ask(self, pool: PoolName) -> None:
        trial, progress, name = self._trial, self._telling.progress, self.named("hybrid-cv")
        contenders = self.contenders(self.ours)
        if "hybrid-cv" not in self._wanted:
            trial.ask(contenders, pool, progress=progress)
            return
        kept: _Fit | None = trial.kept.value(pool, f"{name} fit") if trial.kept else None
        examples: list[Example] = []

        def learn(query: Query) -> None:
            examples.extend(self.ours.example(query, pool))

        self.ours.keep_signals(kept is None)
        trial.ask(contenders, pool, progress=progress, beside=learn if kept is None else None)
        fit = self._fit(examples) if kept is None else kept
        if kept is None and trial.kept is not None:
            trial.kept.keep_value(pool, f"{name} fit", fit)
        if fit["refused"]:
            self.not_measured.append(f"{name}, {pool}: {fit['refused']}")
            self._telling.note(f"{name}, pool {pool}, is left out: {fit['refused']}")
        else:
            self.weights[pool] = fit["weights"]
            fitted = self.cross_validated(self.ours, pool)
            if fitted is not None:
                trial.ask([fitted], pool, progress=progress)
        self.ours.keep_signals(False)

    def _fit(self, examples: Sequence[Example]) -> _Fit:
        try:
            return {"weights": self.ours.cross_validated(examples), "refused": ""}
        except QueryError as error:
            return {"weights": {}, "refused": str(error)}

    def _renamed(self, contender: Contender) -> Contender:
        return replace(contender, name=self.named(contender.name))


def embed_side(side: Side, telling: Telling) -> None:
    """Embed the turns that lack a vector; what was embedded before is kept."""
    memory = side.memory
    dense = memory.indexes.dense()
    if dense is None or (n_pending := len(dense.pending(memory.indexes.keyword.table))) == 0:
        return
    seconds = _time_to_embed(memory, dense)
    if seconds:
        telling.note(f"{n_pending:,} turns to embed, about {_roughly(seconds)}; a stopped run is taken up again")
    memory.embed(progress=telling.progress)


def _time_to_embed(memory: Memory, dense: DenseIndex) -> float:
    """Embed some of the turns that lack a vector, and return about how many seconds the others will take."""
    table, lengths = memory.indexes.keyword.table, memory.indexes.keyword.bm25.lengths
    pending = dense.pending(table)
    start = perf_counter()
    dense.embed(table, memory.store, limit=_MEASURED, budget=_MEASURED_LENGTH)
    left = dense.pending(table)
    done = int(lengths[pending].sum() - lengths[left].sum())
    if len(left) == len(pending):
        # Each is longer than that: the beginning of one tells.
        for turn in memory.store.turns_at([int(table.row[left[0]])]).values():
            text = turn.searchable[:_MEASURED_LENGTH]
            start = perf_counter()
            dense.embedder.embed_turns([span.of(text) for span in dense.embedder.passages(text)])
            done = int(lengths[left[0]]) * len(text) // len(turn.searchable)
    return (perf_counter() - start) / done * int(lengths[left].sum()) if done else 0.0


def _roughly(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
