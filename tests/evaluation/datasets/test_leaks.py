"""Ids that give the evidence away are found, ids that don't are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from memory_rag.evaluation.benchmark import Benchmark, Document, Query
from memory_rag.evaluation.datasets import beam, locomo
from memory_rag.evaluation.datasets.leaks import leak_check
from memory_rag.turns import Role, Source, Turn

Name = Callable[[int, bool, Random], str]


def _hexadecimal(number: int, _is_evidence: bool, random: Random) -> str:
    return f"{random.getrandbits(32):08x}_{number}"


def test_ids_that_tell_nothing_pass() -> None:
    assert leak_check(_benchmark(_hexadecimal)) == ()


def test_a_word_that_only_evidence_has_is_found_though_it_sorts_in_the_middle() -> None:
    def name(number: int, is_evidence: bool, random: Random) -> str:
        return f"answer_{number}" if is_evidence else _hexadecimal(number, is_evidence, random)

    (leak,) = (leak for leak in leak_check(_benchmark(name)) if leak.order == "with 'answer' first")

    assert (leak.name, leak.success, leak.n) == ("doc_id", 1.0, 60)
    assert leak.chance == pytest.approx(0.1)
    assert str(leak) == (
        "doc_ids with 'answer' first: evidence among the first ranks of 100.0% of 60 queries, by chance 10.0%"
    )


@pytest.mark.parametrize(
    ("name", "order"),
    [
        (lambda number, is_evidence, _: f"{'a' if is_evidence else 'b'}{number}", "by letters, rising"),
        (lambda number, is_evidence, _: f"{'b' if is_evidence else 'a'}{number}", "by letters, falling"),
        (lambda number, is_evidence, _: f"{number + 2000 * (not is_evidence)}", "by number, rising"),
        (lambda number, is_evidence, _: f"{number}{'-a' if is_evidence else ''}", "by length, falling"),
    ],
)
def test_each_order_is_looked_at(name: Name, order: str) -> None:
    assert order in [leak.order for leak in leak_check(_benchmark(name)) if leak.name == "doc_id"]


def test_the_names_of_turns_and_sources_count_too() -> None:
    benchmark = _benchmark(_hexadecimal)
    evidence = {doc_id for graded in benchmark.qrels.values() for doc_id in graded}
    documents = tuple(
        replace(
            document,
            turns=(
                replace(
                    document.turns[0],
                    source=Source("x", f"{'answer' if document.doc_id in evidence else 'filler'}_{place}"),
                ),
            ),
        )
        for place, document in enumerate(benchmark.documents)
    )

    leaks = leak_check(replace(benchmark, documents=documents))

    assert {leak.name for leak in leaks} == {"native_id"}


def test_evidence_that_is_always_listed_first_is_found() -> None:
    benchmark = _benchmark(_hexadecimal)
    evidence = {doc_id for graded in benchmark.qrels.values() for doc_id in graded}
    listed = sorted(benchmark.documents, key=lambda document: document.doc_id not in evidence)

    leaks = leak_check(replace(benchmark, documents=tuple(listed)))

    assert [(leak.name, leak.order) for leak in leaks] == [("place", "first to last")]


def test_nothing_is_found_where_nothing_is_asked() -> None:
    assert leak_check(replace(_benchmark(_hexadecimal), qrels={})) == ()


def test_the_data_sets_pass(data_dir: Path) -> None:
    assert leak_check(locomo.load(data_dir / "locomo10.json")) == ()
    assert leak_check(beam.load(data_dir / "beam" / "100K")) == ()


def _benchmark(name: Name, *, n_conversations: int = 20, n_documents: int = 60) -> Benchmark:
    """Make conversations with three queries each; evidence lies anywhere, and is named as the function says."""
    random = Random(7)
    documents: list[Document] = []
    queries: list[Query] = []
    qrels: dict[str, dict[str, int]] = {}
    for conversation in range(n_conversations):
        evidence = random.sample(range(n_documents), 3)
        ids = [f"c/{name(place, place in evidence, random)}-{conversation}" for place in range(n_documents)]
        for place, doc_id in enumerate(ids):
            turn = Turn(doc_id, f"c{conversation}", f"c{conversation}/s", place, Role.USER, "Ada", "x")
            documents.append(Document(doc_id, turn.conversation_id, (turn,)))
        for place in evidence:
            query_id = f"q{len(queries)}"
            queries.append(Query(query_id, "?", f"c{conversation}"))
            qrels[query_id] = {ids[place]: 1}
    return Benchmark("x", "turn", "0" * 64, tuple(documents), tuple(queries), qrels)
