"""A run that another tool wrote is scored by ours, as everybody else scores it."""

from __future__ import annotations

from pathlib import Path

import bm25s
import ir_measures
import pytest

from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.datasets.registry import load
from memory_rag.evaluation.file_scores import score_files
from memory_rag.evaluation.runs import qrels_lines, read_run
from tests.trials.made_talks import locomo_file

K = 20
THEIRS = {"recall@10": "R@10", "success@5": "Success@5", "rr@20": "RR@20", "ndcg@10": "nDCG@10", "ap@20": "AP@20"}


@pytest.fixture
def talks(tmp_path: Path) -> Benchmark:
    return load("locomo", locomo_file(tmp_path))


def bm25s_run(talks: Benchmark, path: Path) -> None:
    """Rank all turns for each question with bm25s, and write what it returns, scores as they are."""
    texts = [document.turns[0].text for document in talks.documents]
    retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    retriever.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    queries = talks.answerable()
    asked = bm25s.tokenize([query.text for query in queries], show_progress=False)
    places, scores = retriever.retrieve(asked, k=K, show_progress=False, n_threads=1)
    lines = [
        f"{query.query_id} Q0 {talks.documents[place].doc_id} {rank} {score} bm25s\n"
        for query, found, of_found in zip(queries, places, scores, strict=True)
        for rank, (place, score) in enumerate(zip(found, of_found, strict=True), start=1)
    ]
    path.write_text("".join(lines), encoding="utf-8")


def test_a_run_of_bm25s_is_scored_as_ir_measures_scores_it(talks: Benchmark, tmp_path: Path) -> None:
    run, qrels = tmp_path / "bm25s.run", tmp_path / "qrels"
    bm25s_run(talks, run)
    qrels.write_text("".join(qrels_lines(talks.qrels)), encoding="utf-8")

    found = score_files(run, qrels, measures=list(THEIRS))

    measures = {name: ir_measures.parse_measure(theirs) for name, theirs in THEIRS.items()}
    # One that takes trec_eval's order for every measure: with ties ir_measures has another for RR@k.
    untied = {query: _untied(scores) for query, scores in read_run(run).items()}
    expected = ir_measures.calc_aggregate(list(measures.values()), talks.qrels, untied)
    for name, measure in measures.items():
        assert found["measures"][name]["mean"] == pytest.approx(expected[measure], abs=1e-9), name
    assert found["n_queries"] == 36
    # It finds something, so that the numbers say something.
    assert 0.3 < found["measures"]["recall@10"]["mean"] <= 1


def _untied(scores: dict[str, float]) -> dict[str, float]:
    ordered = sorted(sorted(scores, reverse=True), key=lambda found: -scores[found])
    return {found: float(len(ordered) - place) for place, found in enumerate(ordered)}
