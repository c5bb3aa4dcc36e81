"""Anybody's run file by its scores, in the hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory_rag.evaluation.file_scores import score_files
from memory_rag.html.cards import card, listed, share_bar, table

MEASURES: Final = ("recall@1", "recall@5", "recall@10", "success@10", "rr@10", "ndcg@10")


@dataclass(frozen=True, slots=True)
class RunScores:
    """The means of a run over the judged queries, by measure, and the value for each query.

    ``without_hits`` are judged queries that the run doesn't have; they count as 0. ``not_judged`` are queries of the
    run that nothing is judged for; they are not scored.
    """

    means: Mapping[str, float]
    definitions: Mapping[str, str]
    per_query: Mapping[str, Mapping[str, float]]
    n_queries: int
    without_hits: int
    not_judged: int

    def _repr_html_(self) -> str:
        rows = [[name, share_bar(mean), f"{mean:.4f}", self.definitions[name]] for name, mean in self.means.items()]
        notes = [f"{self.without_hits:,} of them without hits, which count as 0"] if self.without_hits else []
        notes += [f"{self.not_judged:,} queries of the run are not judged, and not scored"] if self.not_judged else []
        head = ["measure", "0 to 1", "mean", ""]
        return card(table(head, rows), listed(notes), title=f"{self.n_queries:,} queries with judgements")


def score_run(run: str | Path, qrels: str | Path, *, measures: Sequence[str] = MEASURES) -> RunScores:
    """Score a TREC run by TREC judgements, as ``memory-rag bench score`` does.

    Raises:
        ImportFormatError: a file isn't of TREC's form.
        QueryError: an unknown measure, or judgements without a relevant turn.
    """
    found = score_files(Path(run), Path(qrels), measures=measures)
    return RunScores(
        means={name: one["mean"] for name, one in found["measures"].items()},
        definitions={name: one["definition"] for name, one in found["measures"].items()},
        per_query=found["per_query"],
        n_queries=found["n_queries"],
        without_hits=found["without_hits"],
        not_judged=found["not_judged"],
    )
