"""``report.json``, out and in: one pool, or several with what they have in common once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from memory_rag.errors import ImportFormatError, QueryError
from memory_rag.evaluation.json_shape import check_shape
from memory_rag.evaluation.report_shape import AnyReport, Common, Pool, PoolSize, PoolsReport, Report


class _Numbers(dict[float, str]):
    """Numbers as JSON, each written once: a report has hundreds of thousands, and few that differ."""

    def __missing__(self, value: float) -> str:
        written = self[value] = json.dumps(_whole(value), allow_nan=False)
        return written


def over_pools(*reports: Report) -> PoolsReport:
    """Join reports on several pools into one, what they have in common once.

    Raises:
        QueryError: two of one pool, or of other data, queries or settings.
    """
    shared = [key for key in Common.__annotations__ if key != "provenance"]
    first = reports[0]
    for report in reports[1:]:
        differing = [key for key in shared if cast(Any, report)[key] != cast(Any, first)[key]]
        if key := next((key for key in differing if key != "definitions"), None):
            raise QueryError(
                f"reports on pools {first['pool']!r} and {report['pool']!r} differ in {key!r}; run both alike"
            )
    pools = {report["pool"]: _pool_part(report) for report in reports}
    if len(pools) < len(reports):
        raise QueryError(f"{len(reports)} reports, but on {len(pools)} pools; give one a pool")
    common = {key: cast(Any, first)[key] for key in Common.__annotations__}
    definitions = {name: text for report in reports for name, text in report["definitions"].items()}
    return cast(PoolsReport, {**common, "definitions": definitions, "pools": pools})


def by_pool(report: AnyReport) -> list[Report]:
    """Return a report on one pool for each pool that a report is on."""
    if "pools" not in report:
        return [report]
    joined = cast(PoolsReport, report)
    common = {key: value for key, value in joined.items() if key != "pools"}
    return [
        cast(Report, {**common, **part, "definitions": _of_pool(joined["definitions"], part)})
        for part in joined["pools"].values()
    ]


def distinct_pools(report: AnyReport) -> list[Report]:
    """Return what :func:`by_pool` does, without the whole memory where it is one conversation: it is the same pool."""
    reports = by_pool(report)
    if len(reports) == 2 and reports[0]["dataset"]["n_conversations"] == 1:
        first, second = reports
        if first["per_query"] == second["per_query"]:
            return [first]
    return reports


def with_pool_sizes(report: Report, pool_sizes: Mapping[str, Sequence[PoolSize]]) -> Report:
    """Return the report with how the answer's measure changes as the pool grows, sizes rising."""
    rising = {name: sorted(sizes, key=lambda one: one["n_conversations"]) for name, sizes in pool_sizes.items()}
    return {**report, "pool_sizes": rising}


def write_report(path: Path, report: AnyReport | Mapping[str, Any]) -> None:
    """Write a report as JSON, numbers of a list or an object on one line, whole ones without a point."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(("".join(_written(report, 0, _Numbers())) + "\n").encode("utf-8", "backslashreplace"))


def read_report(path: Path) -> AnyReport:
    """Return the report that a file holds.

    Raises:
        ImportFormatError: it can't be read, or is no report of this format.
    """
    return check_report(read_json(path), where=str(path))


def read_json(path: Path) -> Any:
    """Return the JSON of a file that should be a report.

    Raises:
        ImportFormatError: it isn't there, or is no JSON; says how a report is made.
    """
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        made = f"make one with: memory-rag bench run NAME --out {path.parent if path.suffix else path}"
        raise ImportFormatError(f"{path} can't be read as a report ({error.strerror}); {made}") from error
    except ValueError as error:
        raise ImportFormatError(f"{path} can't be read as a report: {error}") from error


def check_report(value: Any, *, where: str = "report") -> AnyReport:
    """Return a JSON value as the report that it is.

    Raises:
        ImportFormatError: it lacks something, has a value of the wrong kind, or not one value a query.
    """
    if isinstance(value, dict) and value.get("format", 1) != 1:
        raise ImportFormatError(f"{where} has format {value['format']!r}, but this release reads format 1; update it")
    check_shape(value, PoolsReport if isinstance(value, dict) and "pools" in value else Report, where=where)
    report = cast(AnyReport, value)
    n = len(report["queries"])
    for one in by_pool(report):
        columns = {"categories": one["categories"], "conversations": one["conversations"]}
        columns |= {f"first_rank[{name!r}]": cast(Any, ranks) for name, ranks in one["first_rank"].items()}
        for name, of_measure in one["per_query"].items():
            columns |= {f"per_query[{name!r}][{m!r}]": cast(Any, column) for m, column in of_measure.items()}
        for what, column in columns.items():
            if len(column) != n:
                raise ImportFormatError(f"{where} has {n} queries, but {what} has {len(column)} values")
    return report


def _of_pool(definitions: Mapping[str, str], part: Pool) -> dict[str, str]:
    """Return the definitions of what was measured on a pool; a small one is not looked at as deep."""
    measured = {name for one in part["retrievers"].values() for name in one["measures"]}
    return {name: text for name, text in definitions.items() if name in measured}


def _pool_part(report: Report) -> Pool:
    wanted = Pool.__annotations__
    return cast(Pool, {key: value for key, value in report.items() if key in wanted})


def _written(value: Any, depth: int, numbers: _Numbers) -> Iterator[str]:
    """Yield the JSON of a value; what holds no list or object stands on one line."""
    if _is_of_numbers(value):
        yield f"[{', '.join(map(numbers.__getitem__, value))}]"
        return
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not any(isinstance(one, (dict, list)) and one for one in inner) and not _has_texts(value):
        yield _on_one_line(value)
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    items = value.items() if isinstance(value, dict) else (("", one) for one in value)
    before = f"{opening}\n"
    for key, one in items:
        named = f"{_on_one_line(key)}: " if isinstance(value, dict) else ""
        yield f"{before}{' ' * (depth + 1)}{named}"
        yield from _written(one, depth + 1, numbers)
        before = ",\n"
    yield f"\n{' ' * depth}{closing}"


def _has_texts(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, str) for one in value)


def _is_of_numbers(value: Any) -> bool:
    """Tell whether a value is a list of numbers with a point, as the hundreds of thousands per query are."""
    return isinstance(value, list) and set(map(type, value)) == {float}


def _on_one_line(value: Any) -> str:
    if isinstance(value, list):
        value = [_whole(one) for one in value]
    elif isinstance(value, dict):
        value = {key: _whole(one) for key, one in value.items()}
    return json.dumps(_whole(value), ensure_ascii=False, allow_nan=False)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
