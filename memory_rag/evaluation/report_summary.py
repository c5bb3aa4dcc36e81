"""A report without what is per question: small enough to be kept beside the code, enough for every table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from memory_rag.evaluation.report_file import check_report, read_json
from memory_rag.evaluation.report_shape import AnyReport, Means, Pool, PoolsReport

KIND: Final = "summary"
_PER_QUESTION: Final = ("queries", "categories", "conversations", "per_query", "first_rank")
_DIGITS: Final = 6


def summarized(report: AnyReport) -> dict[str, Any]:
    """Return a report's means with their intervals, comparisons and provenance, numbers to six decimals.

    By category and by role it has the measures that retrievers are compared by, and nothing by conversation. The key
    ``kind`` tells it from a report, which can be compared question by question.
    """
    common = {key: value for key, value in report.items() if key not in _PER_QUESTION}
    if "pools" in report:
        common["pools"] = {name: _of_pool(pool) for name, pool in cast(PoolsReport, report)["pools"].items()}
    else:
        common = _of_pool(cast(Pool, common))
    rounded: dict[str, Any] = _rounded({"kind": KIND, **common})
    return rounded


def read_summary_or_report(path: Path) -> AnyReport:
    """Return what a file holds: a report, or a summary of one, which has nothing about single questions.

    Raises:
        ImportFormatError: it can't be read, or is neither.
    """
    value = read_json(path)
    if isinstance(value, dict) and value.get("kind") == KIND:
        return cast(AnyReport, value)
    return check_report(value, where=str(path))


def _of_pool(pool: Pool) -> dict[str, Any]:
    compared = list(dict.fromkeys(found["measure"] for found in pool["comparisons"]))
    retrievers = {}
    for name, found in pool["retrievers"].items():
        kept: dict[str, Any] = {key: value for key, value in found.items() if key != "by_conversation"}
        for part in ("by_category", "by_role"):
            kept[part] = {key: _only(means, compared) for key, means in kept[part].items()}
        retrievers[name] = kept
    return {**{key: value for key, value in pool.items() if key not in _PER_QUESTION}, "retrievers": retrievers}


def _only(means: Means, names: list[str]) -> Mapping[str, Any]:
    return {name: mean for name, mean in means.items() if name in names} or means


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(one) for one in value]
    return round(value, _DIGITS) if isinstance(value, float) else value
