"""A small made benchmark with runs, and its reports: six conversations of twenty turns, thirty questions."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memory_rag.evaluation.benchmark import Benchmark, Document, Dropped, Query
from memory_rag.evaluation.report import build_report
from memory_rag.evaluation.report_shape import PoolName, Report, Weights
from memory_rag.turns import Role, Turn, text_bytes

HOSTILE = "<script>alert('x')</script> & \"quotes\" \ud83d $5"
"""What a question or a name may hold, and a page must not run."""
N_CONVERSATIONS = 6
N_TURNS = 20
N_QUESTIONS = 5
DEPTH = 15
SHA256 = "5" * 64

PROVENANCE: dict[str, Any] = {
    "commit": "abc123",
    "made_at": "2026-11-30T12:00:00+00:00",
    "python": "3.12.1",
    "versions": {"numpy": "2.0"},
    "machine": {"system": "Linux", "processor": "any", "cores": 2},
    "settings": {"embedder": "<i>made</i>"},
}
Runs = Mapping[str, Mapping[str, Sequence[str]]]


def made_benchmark(*, n_conversations: int = N_CONVERSATIONS, name: str = "made") -> Benchmark:
    """Every conversation has two categories; its turns are by turns the user's and the assistant's."""
    documents, queries, qrels = [], [], {}
    for conversation in (f"c{number}" for number in range(n_conversations)):
        for place in range(N_TURNS):
            role = Role.USER if place % 2 == 0 else Role.ASSISTANT
            turn = Turn(f"{conversation}/t{place}", conversation, "s", place, role, role.value, "words " * (place + 1))
            documents.append(Document(turn.turn_id, conversation, (turn,)))
        for place in range(N_QUESTIONS):
            query_id = f"{conversation}/q{place}"
            text = HOSTILE if place == 0 else f"What was said as number {place}?"
            queries.append(Query(query_id, text, conversation, "1 <b>facts</b>" if place < 3 else "2 order"))
            qrels[query_id] = {f"{conversation}/t{place}": 1, f"{conversation}/t{place + 7}": 1}
    queries.append(Query("c0/nothing", "What was never said?", "c0", "3 not found"))
    dropped = Dropped()
    dropped.add("evidence id of no turn", "c1/q9")
    return Benchmark(name, "turn", SHA256, tuple(documents), tuple(queries), qrels, dropped)


def made_runs(benchmark: Benchmark, *, good: Mapping[str, float] | None = None) -> Runs:
    """Return a run a retriever that ranks each evidence turn high with the probability given, and randomly else.

    ``keyword`` has no hits at all for the first question; ``oracle`` ranks the evidence and nothing more.
    """
    chances = good if good is not None else {"keyword": 0.4, "dense": 0.3, "hybrid": 0.9, "random": 0.0}
    runs: dict[str, dict[str, list[str]]] = {}
    for name, chance in chances.items():
        rng = random.Random(text_bytes(name))
        runs[name] = {}
        for query in benchmark.answerable():
            evidence = [turn for turn in benchmark.qrels[query.query_id] if rng.random() < chance]
            others = [
                document.doc_id
                for document in benchmark.pool_of(query, pool="conversation")
                if document.doc_id not in evidence
            ]
            rng.shuffle(others)
            runs[name][query.query_id] = [*evidence, *others][:DEPTH]
    if "keyword" in runs:
        del runs["keyword"]["c0/q0"]
    runs["oracle"] = {query.query_id: list(benchmark.qrels[query.query_id]) for query in benchmark.answerable()}
    return runs


def one_conversation() -> Benchmark:
    """The only conversation of a memory, asked by questions that a rule made."""
    return replace(
        made_benchmark(n_conversations=1),
        made={"1 <b>facts</b>": "by a <i>rule</i>"},
        caution="Rules favour those who know them.",
    )


def made_report(
    *, pool: PoolName = "conversation", benchmark: Benchmark | None = None, runs: Runs | None = None, seed: int = 0
) -> Report:
    """Return a report in which ``hybrid`` is in-sample and only ``keyword`` was timed."""
    benchmark = benchmark or made_benchmark()
    runs = runs or made_runs(benchmark)
    seen: Weights = {"source": "shipped", "fitted_on": [SHA256]}
    return build_report(
        benchmark,
        runs,
        pool=pool,
        depth=DEPTH,
        provenance=PROVENANCE,
        weights={"hybrid": seen} if "hybrid" in runs else None,
        latencies_ms={"keyword": [1.0, 2.0, 3.0]} if "keyword" in runs else None,
        tokens={document.doc_id: len(document.turns[0].text.split()) for document in benchmark.documents},
        token_counter="words",
        measures=("recall@1", "recall@5", "success@5", "rr@5"),
        compared=("recall@5", "success@5"),
        seed=seed,
    )
