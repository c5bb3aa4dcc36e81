"""A benchmark's report in the hand: its answer, its means, its pairs, its charts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from memory_rag.errors import QueryError
from memory_rag.evaluation.answer import answer_of
from memory_rag.evaluation.report_file import distinct_pools
from memory_rag.evaluation.report_shape import AnyReport, Comparison, Mean, Report
from memory_rag.evaluation.report_summary import read_summary_or_report
from memory_rag.evaluation.runner import REPORT, read_questions


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture of a report: SVG on light paper. A notebook shows it."""

    name: str
    svg: str

    def _repr_html_(self) -> str:
        from memory_rag.evaluation.in_notebook import chart_html

        return chart_html(self.name, self.svg)


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Pairs of retrievers by one measure, with their differences, intervals and p; a notebook shows them as a table."""

    of: Report
    pairs: tuple[Comparison, ...]

    def _repr_html_(self) -> str:
        from memory_rag.evaluation.in_notebook import comparisons_html

        return comparisons_html(self.of, self.pairs)


@dataclass(frozen=True, slots=True)
class Wins:
    """The questions that one of two retrievers finds evidence for and the other doesn't; a notebook shows them."""

    of: Report
    questions: Mapping[str, str]

    def _repr_html_(self) -> str:
        from memory_rag.evaluation.in_notebook import wins_html

        return wins_html(self.of, self.questions)


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """What :func:`memory_rag.run_benchmark` found; a notebook shows the answer and how every retriever did.

    ``report`` is what ``report.json`` holds, ``questions`` maps query ids to their words. ``pool`` is ``conversation``
    or ``memory`` wherever it may be given; without it, it is the whole memory, if that was asked.
    """

    report: AnyReport
    questions: Mapping[str, str]

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a report that was written: a run's folder, its ``report.json``, or a summary of one.

        Raises:
            ImportFormatError: it can't be read, or is no report.
        """
        path = Path(path)
        folder = path if path.is_dir() else path.parent
        return cls(read_summary_or_report(path / REPORT if path.is_dir() else path), read_questions(folder))

    @property
    def pools(self) -> tuple[str, ...]:
        """The pools that were asked; a single conversation is one pool."""
        return tuple(one["pool"] for one in distinct_pools(self.report))

    def of(self, pool: str | None = None) -> Report:
        """Return the report on one pool.

        Raises:
            QueryError: it isn't on this pool.
        """
        by_name = {str(one["pool"]): one for one in distinct_pools(self.report)}
        if pool is None:
            return list(by_name.values())[-1]
        if pool not in by_name:
            raise QueryError(f"this report is not on the pool {pool!r}; it is on: {', '.join(by_name)}")
        return by_name[pool]

    def answer(self, *, pool: str | None = None) -> str:
        """Return in a sentence which retriever serves these questions best, and whether that is more than chance."""
        return answer_of(self.of(pool)).headline

    def mean(self, retriever: str, measure: str | None = None, *, pool: str | None = None) -> Mean:
        """Return a retriever's mean by a measure, the report's own if none is named, with its 95 % interval.

        Raises:
            QueryError: there is no such retriever or measure in this report.
        """
        report = self.of(pool)
        measure = report["settings"]["measure"] if measure is None else measure
        found = report["retrievers"]
        if retriever not in found:
            raise QueryError(f"this report has no retriever {retriever!r}; it has: {', '.join(found)}")
        means = found[retriever]["measures"]
        if measure not in means:
            raise QueryError(f"this report has no measure {measure!r}; it has: {', '.join(means)}")
        return means[measure]

    def comparisons(self, *, measure: str | None = None, pool: str | None = None) -> Comparisons:
        """Return every pair of retrievers by a measure, the report's own if none is named.

        Raises:
            QueryError: retrievers weren't compared by this measure.
        """
        report = self.of(pool)
        wanted = report["settings"]["measure"] if measure is None else measure
        compared = dict.fromkeys(one["measure"] for one in report["comparisons"])
        if wanted not in compared and compared:
            raise QueryError(f"retrievers were not compared by {wanted!r}, but by: {', '.join(compared)}")
        return Comparisons(report, tuple(one for one in report["comparisons"] if one["measure"] == wanted))

    def wins(self, *, pool: str | None = None) -> Wins:
        """Return which questions keyword recall alone and dense recall alone find evidence for.

        Raises:
            QueryError: it was read from a summary, which has nothing about single questions.
        """
        report = self.of(pool)
        if "first_rank" not in report:
            raise QueryError("a summary of a report has no single questions; read the run's own report.json")
        return Wins(report, self.questions)

    def chart(self, name: str, *, pool: str | None = None) -> Chart:
        """Return a chart: ``recall-at-k``, ``categories``, ``ranks``, ``latency`` or ``pool-size``.

        Raises:
            QueryError: the report has no data for such a chart.
            MissingExtraError: matplotlib is not installed.
        """
        from memory_rag.evaluation.charts import chart_svg

        return Chart(name, chart_svg(self.of(pool), name))

    def page(self) -> str:
        """Return the whole report as one HTML page, with every chart.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        from memory_rag.evaluation.charts import page_charts
        from memory_rag.evaluation.page import report_page

        charts = {one["pool"]: page_charts(one) for one in distinct_pools(self.report)}
        return report_page(self.report, charts=charts, texts=self.questions)

    def _repr_html_(self) -> str:
        from memory_rag.evaluation.in_notebook import report_html

        return report_html(distinct_pools(self.report))
