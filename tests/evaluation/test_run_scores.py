"""Anybody's run file is scored in one call."""

from __future__ import annotations

from pathlib import Path

from memory_rag import score_run
from tests.html.reading import shown_by


def test_a_run_is_scored_by_its_judgements(tmp_path: Path) -> None:
    run, qrels = tmp_path / "mine.run", tmp_path / "qrels"
    run.write_text("q1 Q0 t1 1 9 mine\nq1 Q0 t2 2 8 mine\nq9 Q0 t1 1 1 mine\n", encoding="utf-8")
    qrels.write_text("q1 0 t2 1\nq2 0 t5 1\n", encoding="utf-8")

    found = score_run(str(run), qrels, measures=["recall@1", "recall@10", "rr@10"])

    assert dict(found.means) == {"recall@1": 0.0, "recall@10": 0.5, "rr@10": 0.25}
    assert found.per_query["rr@10"] == {"q1": 0.5, "q2": 0.0}
    assert (found.n_queries, found.without_hits, found.not_judged) == (2, 1, 1)
    shown = shown_by(found).text
    assert "2 queries with judgements" in shown
    assert "recall@100.5000" in shown
    assert "1 of them without hits, which count as 0" in shown
    assert "1 queries of the run are not judged" in shown
