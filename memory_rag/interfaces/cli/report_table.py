"""A benchmark's report as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Final

from memory_rag.evaluation.answer import IN_SAMPLE_NOTE, answer_of, is_clear, marked, sides
from memory_rag.evaluation.markdown import amount, share
from memory_rag.evaluation.rank_cells import cutoff_of, side_of
from memory_rag.evaluation.report_file import distinct_pools
from memory_rag.evaluation.report_shape import AnyReport, Comparison, Report
from memory_rag.evaluation.series import Series, series_of
from memory_rag.evaluation.statistics import RESAMPLES
from memory_rag.evaluation.summaries import resampled
from memory_rag.evaluation.wording import (
    MISSING,
    WITHIN,
    counted,
    definitions_of,
    in_brackets,
    main_measures,
    p_value,
    points,
    points_between,
    tests_of,
)
from memory_rag.interfaces.cli.terminal import columns_of, shown

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_WIDEST_NAME: Final = 24
_BETWEEN: Final = 2
"""Columns of the screen that a table's column takes beside its own."""


def report_text(report: AnyReport, *, width: int, colour: bool = False) -> str:
    """Return the answer, a table and who wins for each pool, then the definitions, in ``width`` columns.

    The answer's measure has its interval; of the others as many as fit are shown, a line says which are not.
    """
    reports = distinct_pools(report)
    parts = [part for one in reports for part in _pool(one, width=width)]
    return _written([*parts, _definitions(reports)], width=width, colour=colour)


def comparisons_text(found: Sequence[Comparison], *, width: int, colour: bool = False) -> str:
    """Return how each retriever of a report "a" does against itself in a report "b", as a table: the difference with
    its interval, p, and how many questions each side alone wins.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    with_outcomes = any("outcome" in one for one in found)
    table.add_column("retriever", overflow="fold")
    for name in ("measure", "a - b, points", "p", "p, Holm", *(("a alone", "b alone") if with_outcomes else ())):
        table.add_column(name, justify="left" if name == "measure" else "right", no_wrap=True)
    for one in found:
        alone = (f"{one['outcome']['won']:,}", f"{one['outcome']['lost']:,}") if "outcome" in one else ("", "")
        between = f"{points(one['difference'])} {points_between(one['low'], one['high'])}".strip()
        cells = (_of_both(one), one["measure"], between, p_value(one["p"]), p_value(one["p_holm"]))
        table.add_row(
            *(Text(cell) for cell in (*cells, *(alone if with_outcomes else ()))), style="bold" if is_clear(one) else ""
        )
    return _written([table], width=width, colour=colour)


def _of_both(one: Comparison) -> str:
    """Return the name of a retriever of two reports; both names where only one of them is in-sample."""
    names = dict.fromkeys((one["a"].removesuffix(" (a)"), one["b"].removesuffix(" (b)")))
    return shown(" / ".join(names))


def _written(parts: Iterable[RenderableType], *, width: int, colour: bool) -> str:
    from rich.console import Console

    written = StringIO()
    console = Console(
        file=written, width=width, force_terminal=colour, no_color=not colour, highlight=False, legacy_windows=False
    )
    for part in parts:
        console.print(part)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()).strip("\n") + "\n"


def _pool(report: Report, *, width: int) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    data, answer, series = report["dataset"], answer_of(report), series_of(report)
    yield Text(f"{shown(report['benchmark'])}: {WITHIN[report['pool']].lower()}", style="bold")
    sizes = (
        counted(data["n_queries"], "question"),
        counted(data["n_conversations"], "conversation"),
        counted(data["n_turns"], "turn"),
    )
    yield Text(", ".join(sizes), style="dim")
    yield Text()
    yield Text(shown(answer.headline), style="bold")
    for detail in answer.details:
        yield Padding(Text(shown(detail)), (0, 0, 0, 2))
    measures = _fitting(report, series, width=width)
    yield _table(report, series, measures=measures, best=answer.best)
    left_out = [name for name in main_measures(report) if name not in measures]
    if left_out:
        yield Text(f"Not shown for want of room: {', '.join(left_out)}; they are in report.json.", style="dim")
    if any(one.is_in_sample for one in series):
        yield Text(f"{IN_SAMPLE_NOTE}.", style="dim")
    silent = [(name, one["without_hits"]) for name, one in report["retrievers"].items() if one["without_hits"]]
    if silent:
        listed = ", ".join(f"{shown(name)} {count:,}" for name, count in silent)
        yield Text(f"Questions without any hit count as 0: {listed}.", style="dim")
    won = _wins(report)
    if won:
        yield Text(won)
    categories = list(next(iter(report["retrievers"].values()))["by_category"])
    if len(categories) > 1:
        yield Text()
        yield Text(f"{report['settings']['measure']} by category:")
        yield _categories(report, series, categories, width=width)
    if report.get("pool_sizes"):
        yield Text()
        yield Text(f"{report['settings']['measure']} as the memory grows:")
        yield _sizes(report, series)
    for name, rule in report["dataset"].get("made", {}).items():
        yield Text(f"How questions of \u201c{shown(name)}\u201d were made: {shown(rule)}.", style="dim")
    for text in report["not_measured"]:
        yield Text(f"Not measured: {shown(text)}.", style="dim")
    yield Text()


def _table(report: Report, series: Sequence[Series], *, measures: Sequence[str], best: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    measure = report["settings"]["measure"]
    timed = any(one["latency_ms"] for one in report["retrievers"].values())
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("retriever", overflow="fold", max_width=_WIDEST_NAME)
    for name in (*measures, *(["p50 ms"] if timed else [])):
        table.add_column(name, justify="right", no_wrap=True)
    for one in series:
        found = report["retrievers"][one.name]
        cells = [_cell(report, one.name, name, with_interval=name == measure) for name in measures]
        if timed:
            cells.append(MISSING if found["latency_ms"] is None else amount(found["latency_ms"]["p50"]))
        style = "bold" if one.name == best else "dim" if one.is_bound else ""
        table.add_row(Text(shown(one.label)), *map(Text, cells), style=style)
    return table


def _categories(report: Report, series: Sequence[Series], categories: Sequence[str], *, width: int) -> Table:
    """Return a row a category, a column for each of the best retrievers that the width holds."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    measure = report["settings"]["measure"]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("category", overflow="fold", max_width=_WIDEST_NAME)
    table.add_column("n", justify="right", no_wrap=True)
    room = width - 1 - _WIDEST_NAME - len("1,000") - 2 * _BETWEEN
    fitting = []
    for one in series:
        room -= max(columns_of(shown(one.label)), len(share(1.0))) + _BETWEEN
        if one.is_bound or room < 0:
            break
        fitting.append(one)
        table.add_column(Text(shown(one.label)), justify="right", no_wrap=True)
    for category in categories:
        means = [report["retrievers"][one.name]["by_category"][category][measure] for one in fitting or series[:1]]
        row = (Text(shown(category) or MISSING), Text(f"{means[0]['n']:,}"))
        table.add_row(*row, *(Text(share(mean["mean"])) for mean in means[: len(fitting)]))
    return table


def _sizes(report: Report, series: Sequence[Series]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    sizes = report["pool_sizes"]
    kept = [one for one in series if one.name in sizes]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("conversations", no_wrap=True)
    points_of = sizes[kept[0].name]
    for point in points_of:
        table.add_column(f"{point['n_conversations']:,}", justify="right", no_wrap=True)
    for one in kept:
        table.add_row(Text(shown(one.label)), *(Text(share(point["mean"])) for point in sizes[one.name]))
    return table


def _fitting(report: Report, series: Sequence[Series], *, width: int) -> list[str]:
    """Return the answer's measure and the others that the width holds, those first that retrievers are compared by."""
    measure = report["settings"]["measure"]
    others = [name for name in main_measures(report) if name != measure]
    compared = {one["measure"] for one in report["comparisons"]}
    names = min(_WIDEST_NAME, max(columns_of(shown(one.label)) for one in series))
    cells = max(len(_cell(report, one.name, measure, with_interval=True)) for one in series)
    timed = columns_of("p50 ms") + _BETWEEN
    room = width - 1 - (names + _BETWEEN) - (max(cells, columns_of(measure)) + _BETWEEN) - timed
    fitting = set()
    for name in sorted(others, key=lambda name: name not in compared):
        needed = columns_of(name) + _BETWEEN
        if room >= needed:
            room -= needed
            fitting.add(name)
    return [measure, *(name for name in others if name in fitting)]


def _cell(report: Report, name: str, measure: str, *, with_interval: bool) -> str:
    mean = report["retrievers"][name]["measures"][measure]
    between = in_brackets(mean["low"], mean["high"]) if with_interval else ""
    return f"{share(mean['mean'])} {between}".strip()


def _wins(report: Report) -> str:
    compared = sides(report)
    if compared is None:
        return ""
    a, b = compared
    k, ranks = cutoff_of(report), report["first_rank"]
    found = [side_of(x, y, k=k) for x, y in zip(ranks[a], ranks[b], strict=True)]
    one, two = shown(marked(report, a)), shown(marked(report, b))
    either = 1 - found.count("neither") / len(found)
    return (
        f"Evidence among the first {k}: only {one} {found.count('a'):,}, only {two} {found.count('b'):,}, "
        f"both {found.count('both'):,}, neither {found.count('neither'):,}; either {share(either)} of the questions."
    )


def _definitions(reports: Sequence[Report]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(overflow="fold")
    table.add_column(style="dim")
    intervals = {"[low, high]": f"95 % bootstrap interval, {RESAMPLES:,} resamples, of {_resampled(reports)}"}
    for names, text in {**definitions_of(reports), **intervals, **tests_of(reports)}.items():
        table.add_row(Text(names), Text(text))
    return table


def _resampled(reports: Sequence[Report]) -> str:
    by = resampled(reports[0]["conversations"])
    return "whole conversations" if by == "conversation" else "questions (too few conversations to resample those)"
