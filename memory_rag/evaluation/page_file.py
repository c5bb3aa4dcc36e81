"""A report's page beside its run: the file that a browser opens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memory_rag.errors import MissingExtraError
from memory_rag.evaluation.charts import write_charts
from memory_rag.evaluation.page import report_page
from memory_rag.evaluation.report_file import by_pool
from memory_rag.evaluation.report_shape import AnyReport, PoolName
from memory_rag.evaluation.runner import read_questions


def write_page(folder: Path, report: AnyReport, *, note: Callable[[str], None]) -> Path:
    """Write the page of a run's folder, with charts where matplotlib is there, and return it."""
    drawn: dict[PoolName, dict[str, str]] = {}
    charts: dict[PoolName, dict[str, str]] | None = drawn
    try:
        for one in by_pool(report):
            drawn[one["pool"]] = write_charts(one, folder / "charts")
    except MissingExtraError as error:
        charts = None
        note(f"there are no charts: {error}")
    page = folder / "report.html"
    text = report_page(report, charts=charts, texts=read_questions(folder))
    page.write_bytes(text.encode("utf-8", "backslashreplace"))
    return page
