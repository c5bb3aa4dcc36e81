"""A report's charts, drawn by matplotlib (the extra ``bench``): PNG and SVG files, and SVG for the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory_rag.errors import QueryError
from memory_rag.evaluation.answer import sides
from memory_rag.evaluation.canvas import (
    draw_line,
    label_ends,
    label_points,
    legend,
    new_figure,
    plain_log_ticks,
    png_of,
    style,
    svg_of,
)
from memory_rag.evaluation.chart_svg import for_page
from memory_rag.evaluation.rank_cells import Side, cutoff_of, rank_grid
from memory_rag.evaluation.report_shape import Mean, PoolSize, Report
from memory_rag.evaluation.series import LIGHT, Series, series_of
from memory_rag.turns import printable

if TYPE_CHECKING:
    from memory_rag.evaluation.canvas import Figure

_RANKS_SHOWN: Final = frozenset({"1", "3", "5", "7"})


def page_charts(report: Report) -> dict[str, str]:
    """Return each chart as SVG for the page: its colours are the page's variables, its texts the page's font.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    with style(svg_text="none"):
        return {name: _for_page(report, name, svg_of(draw())) for name, draw in _drawn(report).items()}


def chart_svg(report: Report, name: str) -> str:
    """Return one chart as an SVG file's text, on light paper.

    Raises:
        QueryError: the report has no data for such a chart.
        MissingExtraError: matplotlib is not installed.
    """
    drawn = _drawn(report)
    if name not in drawn:
        raise QueryError(f"this report has no chart {name!r}; it has: {', '.join(drawn)}")
    with style(svg_text="none"):
        return svg_of(drawn[name]())


def write_charts(report: Report, folder: Path) -> dict[str, str]:
    """Write each chart as ``<pool>-<name>.svg`` and ``.png`` (200 dpi), and return them as :func:`page_charts` does.

    The files stand on light paper, so that they can be read on any background. The page's chart is the SVG file's
    drawing; to draw takes longer than all the rest of a page.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    found = {}
    with style(svg_text="none"):
        folder.mkdir(parents=True, exist_ok=True)
        for name, draw in _drawn(report).items():
            figure = draw()
            svg = svg_of(figure)
            (folder / f"{report['pool']}-{name}.svg").write_bytes(svg.encode("utf-8"))
            (folder / f"{report['pool']}-{name}.png").write_bytes(png_of(figure))
            found[name] = _for_page(report, name, svg)
    return found


def _for_page(report: Report, name: str, svg: str) -> str:
    return for_page(svg, prefix=f"{report['pool']}-{name}")


def _drawn(report: Report) -> dict[str, Callable[[], Figure]]:
    """Return the charts that a report has data for, by name, each as something that draws it."""
    series = series_of(report)
    drawn = {
        "recall-at-k": lambda: _recall_curves(report, series),
        "categories": lambda: _category_bars(report, series),
    }
    if sides(report) is not None and "first_rank" in report:
        drawn["ranks"] = lambda: _rank_scatter(report, series)
    if any(one["latency_ms"] for one in report["retrievers"].values()):
        drawn["latency"] = lambda: _latency(report, series)
    if report.get("pool_sizes"):
        drawn["pool-size"] = lambda: _pool_sizes(report, series)
    return drawn


def _recall_curves(report: Report, series: Sequence[Series]) -> Figure:
    figure, axes = new_figure(height_in=3.3, right_in=1.0, shown=series)
    ks = sorted(int(name[7:]) for name in report["definitions"] if re.fullmatch(r"recall@\d+", name))
    labels = []
    for one in reversed(series):
        means = [report["retrievers"][one.name]["measures"][f"recall@{k}"] for k in ks]
        heights = [mean["mean"] for mean in means]
        if one.is_featured:
            axes.fill_between(ks, *_band(means), color=LIGHT[one.slot], alpha=0.14, linewidth=0)
        draw_line(axes, ks, heights, one)
        labels.append((heights[-1], one))
    axes.set_xscale("log")
    axes.set_xticks(ks, [f"{k:,}" for k in ks])
    axes.minorticks_off()
    axes.set_xlim(ks[0], ks[-1])
    axes.set_ylim(0, 1.01)
    axes.grid(axis="y")
    axes.set_xlabel("k, hits looked at")
    axes.set_ylabel("recall@k")
    label_ends(axes, labels)
    return figure


def _category_bars(report: Report, series: Sequence[Series]) -> Figure:
    shown = [one for one in series if one.is_featured]
    measure = report["settings"]["measure"]
    by_category = {one.name: report["retrievers"][one.name]["by_category"] for one in shown}
    categories = list(by_category[shown[0].name])
    counts = [by_category[shown[0].name][category][measure]["n"] for category in categories]
    names = [f"{_short(category) or 'all'} ({n:,})" for category, n in zip(categories, counts, strict=True)]
    thick = 0.8 / len(shown)
    figure, axes = new_figure(
        height_in=0.9 + len(categories) * (0.14 + 0.115 * len(shown)),
        left_in=0.2 + 0.062 * max(map(len, names)),
        top_in=0.4,
        shown=shown,
    )
    for place, one in enumerate(shown):
        for row, category in enumerate(categories):
            mean = by_category[one.name][category][measure]
            y = row + (place + 0.5) * thick - 0.4
            axes.barh(y, mean["mean"], height=thick * 0.82, color=LIGHT[one.slot])
            if mean["low"] is not None and mean["high"] is not None:
                axes.plot([mean["low"], mean["high"]], [y, y], color=LIGHT["ink"], linewidth=0.9, solid_capstyle="butt")
    axes.set_yticks(range(len(categories)), names)
    axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    axes.set_ylim(len(categories) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(measure)
    legend(figure, [(LIGHT[one.slot], one.label) for one in shown], columns=len(shown))
    return figure


def _rank_scatter(report: Report, series: Sequence[Series]) -> Figure:
    compared = sides(report)
    if compared is None:
        raise ValueError("there are no two retrievers to compare")
    a, b = compared
    k, depth, ranks = cutoff_of(report), report["settings"]["depth"], report["first_rank"]
    grid = rank_grid(ranks[a], ranks[b], k=k, depth=depth)
    shown = [one for one in series if one.name in compared]
    slots = {one.name: one.slot for one in shown}
    labels = {one.name: one.label for one in shown}
    colours: dict[Side, str] = {
        "a": LIGHT[slots[a]],
        "b": LIGHT[slots[b]],
        "both": LIGHT["muted"],
        "neither": LIGHT["faint"],
    }
    names: dict[Side, str] = {
        "a": f"{labels[a]} alone",
        "b": f"{labels[b]} alone",
        "both": "both",
        "neither": "neither",
    }
    figure, axes = new_figure(height_in=4.5, left_in=0.65, top_in=0.55, shown=shown)
    axes.axhline(grid.cut - 0.5, color=LIGHT["faint"], linewidth=0.8)
    axes.axvline(grid.cut - 0.5, color=LIGHT["faint"], linewidth=0.8)
    most = max((cell.n for cell in grid.cells), default=1)
    for side, colour in colours.items():
        cells = [cell for cell in grid.cells if cell.side == side]
        axes.scatter(
            [cell.x for cell in cells],
            [cell.y for cell in cells],
            s=[max(5.0, 340 * cell.n / most) for cell in cells],
            color=colour,
            alpha=0.85,
            linewidth=0,
        )
    for axis, set_label, name in ((axes.xaxis, axes.set_xlabel, a), (axes.yaxis, axes.set_ylabel, b)):
        kept = [place for place, label in enumerate(grid.labels) if label in _RANKS_SHOWN or place >= grid.cut - 1]
        axis.set_ticks(kept, [grid.labels[place] for place in kept])
        set_label(f"rank of the first evidence, {labels[name]}")
    axes.set_xlim(-0.8, len(grid.upper) + 0.8)
    axes.set_ylim(-0.8, len(grid.upper) + 0.8)
    axes.tick_params(length=0, labelsize=7)
    legend(figure, [(colour, f"{names[side]}: {grid.count(side):,}") for side, colour in colours.items()], columns=2)
    return figure


def _latency(report: Report, series: Sequence[Series]) -> Figure:
    measure = report["settings"]["measure"]
    timed = [one for one in series if report["retrievers"][one.name]["latency_ms"]]
    figure, axes = new_figure(height_in=3.3, shown=timed)
    points: list[tuple[float, float, Series]] = []
    for one in timed:
        latency, mean = (
            report["retrievers"][one.name]["latency_ms"],
            report["retrievers"][one.name]["measures"][measure],
        )
        assert latency is not None
        colour = LIGHT[one.slot]
        axes.plot([latency["p50"], latency["p95"]], [mean["mean"]] * 2, color=colour, linewidth=1.4, alpha=0.5)
        if mean["low"] is not None and mean["high"] is not None:
            axes.plot([latency["p50"]] * 2, [mean["low"], mean["high"]], color=colour, linewidth=1.4, alpha=0.5)
        axes.plot(latency["p50"], mean["mean"], marker=one.marker, markersize=6, color=colour, linestyle="none")
        points.append((latency["p50"], mean["mean"], one))
    axes.set_xscale("log")
    axes.set_ylim(0, 1.01)
    axes.margins(x=0.16)
    label_points(axes, points)
    axes.grid(axis="both")
    axes.set_xlabel("ms a question, from p50 to p95")
    axes.set_ylabel(measure)
    plain_log_ticks(axes)
    return figure


def _pool_sizes(report: Report, series: Sequence[Series]) -> Figure:
    sizes = report["pool_sizes"]
    shown = [one for one in reversed(series) if one.name in sizes]
    figure, axes = new_figure(height_in=3.3, right_in=1.0, bottom_in=0.65, shown=shown)
    labels = []
    counts: dict[int, int] = {}
    for one in shown:
        points = sizes[one.name]
        counts |= {point["n_conversations"]: point["n_turns"] for point in points}
        xs, ys = [point["n_conversations"] for point in points], [point["mean"] for point in points]
        axes.fill_between(xs, *_band(points), color=LIGHT[one.slot], alpha=0.14, linewidth=0)
        draw_line(axes, xs, ys, one)
        labels.append((ys[-1], one))
    axes.set_xscale("log")
    axes.set_xticks(list(counts), [f"{n:,}\n{counts[n]:,} turns" for n in counts])
    axes.minorticks_off()
    axes.set_ylim(0, 1.01)
    axes.grid(axis="y")
    axes.set_xlabel("conversations in the pool")
    axes.set_ylabel(report["settings"]["measure"])
    label_ends(axes, labels)
    return figure


def _short(category: str) -> str:
    text = printable(category).replace("_", " ")
    return text if len(text) <= 24 else text[:23] + "…"


def _band(means: Sequence[Mean] | Sequence[PoolSize]) -> tuple[list[float], list[float]]:
    """Return the lower and the upper edge; where there is no interval, both are the mean."""
    lows = [mean["mean"] if mean["low"] is None else mean["low"] for mean in means]
    highs = [mean["mean"] if mean["high"] is None else mean["high"] for mean in means]
    return lows, highs
