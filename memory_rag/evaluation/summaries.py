"""From values per query to means with intervals, overall and by part.

Values have the shape (queries, retrievers, measures): all retrievers are resampled alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memory_rag.evaluation.report_shape import Mean, Means
from memory_rag.evaluation.statistics import Interval, Values, bootstrap_columns

FEWEST: Final = 5
"""Fewer, resampled, give an interval too narrow to mean anything: of fewer conversations queries are resampled instead,
and fewer queries have none. Three questions that all succeed would have one of [1, 1]."""

By = Literal["conversation", "query"]


@dataclass(frozen=True, slots=True)
class Summaries:
    """Makes means of values whose second axis is ``retrievers`` and whose third is ``measures``."""

    retrievers: Sequence[str]
    measures: Sequence[str]
    seed: int

    def means(self, values: Values, *, conversations: Sequence[str]) -> dict[str, Means]:
        """Return each retriever's means over all queries, with the intervals over conversations and over queries."""
        by = resampled(conversations)
        means = self._means(intervals(values.reshape(len(values), -1), conversations=conversations, seed=self.seed), by)
        if by == "conversation":
            by_query = bootstrap_columns(values.reshape(len(values), -1), clusters=_each(values), seed=self.seed)
            for retriever, of_retriever in self._means(by_query, "query").items():
                for measure, found in of_retriever.items():
                    low, high = found["low"], found["high"]
                    if low is not None and high is not None:
                        means[retriever][measure]["by_query"] = [low, high]
        return means

    def by_part(
        self, values: Values, *, parts: Sequence[str], conversations: Sequence[str]
    ) -> dict[str, dict[str, Means]]:
        """Return each retriever's means of each part (a category, a conversation); ``parts`` has one a query."""
        rows: dict[str, list[int]] = {}
        for row, part in enumerate(parts):
            rows.setdefault(part, []).append(row)
        found: dict[str, dict[str, Means]] = {retriever: {} for retriever in self.retrievers}
        for part in sorted(rows):
            own = [conversations[row] for row in rows[part]]
            columns = values[rows[part]].reshape(len(own), -1)
            for retriever, means in self._means(
                intervals(columns, conversations=own, seed=self.seed), resampled(own)
            ).items():
                found[retriever][part] = means
        return found

    def _means(self, found: Sequence[Interval], by: By) -> dict[str, Means]:
        in_turn = iter(found)
        return {
            retriever: {measure: mean_of(next(in_turn), by=by) for measure in self.measures}
            for retriever in self.retrievers
        }


def resampled(conversations: Sequence[str]) -> By:
    """Return what an interval over queries of these conversations resamples."""
    return "conversation" if len(set(conversations)) >= FEWEST else "query"


def intervals(columns: Values, *, conversations: Sequence[str], seed: int) -> list[Interval]:
    """Return the interval of each column, shape (queries, columns)."""
    if len(columns) == 1:
        return [Interval(float(value), float(value), float(value), 1) for value in columns[0]]
    clusters = conversations if resampled(conversations) == "conversation" else _each(columns)
    return bootstrap_columns(columns, clusters=clusters, seed=seed)


def mean_of(found: Interval, *, by: By) -> Mean:
    """Return a mean as the report has it; one of fewer than five queries has no interval."""
    known = found.n >= FEWEST
    low, high = (found.low, found.high) if known else (None, None)
    return {"mean": found.mean, "low": low, "high": high, "n": found.n, "by": by}


def _each(values: Values) -> list[str]:
    return [str(row) for row in range(len(values))]
