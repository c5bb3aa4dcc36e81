"""A report's charts, drawn by matplotlib (the extra ``bench``): PNG and SVG files, and SVG for the page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory_rag.errors import MissingExtraError
from memory_rag.evaluation.answer import sides
from memory_rag.evaluation.chart_style import CHART_STYLE
from memory_rag.evaluation.chart_svg import for_page
from memory_rag.evaluation.label_places import spread
from memory_rag.evaluation.rank_cells import Side, cutoff_of, rank_grid
from memory_rag.evaluation.report_shape import Report
from memory_rag.evaluation.series import LIGHT, Series, series_of
from memory_rag.turns import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH_IN: Final = 5.0
_LABEL_GAP_PT: Final = 10.5


def page_charts(report: Report) -> dict[str, str]:
    """Return each chart as SVG for the page: its colours are the page's variables, its texts the page's font.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    found = {}
    for name, draw in _drawn(report).items():
        with _style(svg_text="none"):
            found[name] = for_page(_svg(draw()), prefix=f"{report['pool']}-{name}")
    return found


def write_charts(report: Report, folder: Path) -> list[Path]:
    """Write each chart as ``<pool>-<name>.svg`` and ``.png`` (200 dpi) and return the files.

    Both stand on light paper, so that they can be read on any background.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in _drawn(report).items():
        with _style(svg_text="path"):
            figure = draw()
            png = BytesIO()
            figure.savefig(png, format="png", metadata={"Software": None})
            for suffix, data in ((".svg", _svg(figure).encode("utf-8")), (".png", png.getvalue())):
                path = folder / f"{report['pool']}-{name}{suffix}"
                path.write_bytes(data)
                written.append(path)
    return written


def _drawn(report: Report) -> dict[str, Callable[[], Figure]]:
    """Return the charts that a report has data for, by name, each as something that draws it."""
    series = series_of(report)
    drawn = {
        "recall-at-k": lambda: _recall_curves(report, series),
        "categories": lambda: _category_bars(report, series),
    }
    if sides(report) is not None:
        drawn["ranks"] = lambda: _rank_scatter(report)
    if any(one["latency_ms"] for one in report["retrievers"].values()):
        drawn["latency"] = lambda: _latency(report, series)
    if report.get("pool_sizes"):
        drawn["pool-size"] = lambda: _pool_sizes(report, series)
    return drawn


def _recall_curves(report: Report, series: Sequence[Series]) -> Figure:
    figure, axes = _figure(height_in=3.5, right=0.75)
    ks = sorted(int(name[7:]) for name in report["definitions"] if re.fullmatch(r"recall@\d+", name))
    labels = []
    for one in reversed(series):
        means = [report["retrievers"][one.name]["measures"][f"recall@{k}"] for k in ks]
        heights = [mean["mean"] for mean in means]
        if one.is_featured:
            lows = [mean["mean"] if mean["low"] is None else mean["low"] for mean in means]
            highs = [mean["mean"] if mean["high"] is None else mean["high"] for mean in means]
            axes.fill_between(ks, lows, highs, color=LIGHT[one.slot], alpha=0.14, linewidth=0)
        _line(axes, ks, heights, one)
        labels.append((heights[-1], one))
    axes.set_xscale("log")
    axes.set_xticks(ks, [f"{k:,}" for k in ks])
    axes.minorticks_off()
    axes.set_xlim(ks[0], ks[-1])
    axes.set_ylim(0, 1.01)
    axes.grid(axis="y")
    axes.set_xlabel("k, hits looked at")
    axes.set_ylabel("recall@k")
    _label_ends(axes, labels)
    return figure


def _category_bars(report: Report, series: Sequence[Series]) -> Figure:
    shown = [one for one in series if one.is_featured]
    measure = report["settings"]["measure"]
    by_category = {one.name: report["retrievers"][one.name]["by_category"] for one in shown}
    categories = list(by_category[shown[0].name])
    thick = 0.8 / len(shown)
    figure, axes = _figure(height_in=0.95 + len(categories) * (0.12 + 0.115 * len(shown)), right=0.97, left=0.34)
    for place, one in enumerate(shown):
        for row, category in enumerate(categories):
            mean = by_category[one.name][category][measure]
            y = row + (place + 0.5) * thick - 0.4
            axes.barh(
                y, mean["mean"], height=thick * 0.82, color=LIGHT[one.slot], label=one.label if row == 0 else None
            )
            if mean["low"] is not None and mean["high"] is not None:
                axes.plot([mean["low"], mean["high"]], [y, y], color=LIGHT["ink"], linewidth=0.9, solid_capstyle="butt")
    counts = [by_category[shown[0].name][category][measure]["n"] for category in categories]
    names = [f"{_short(category) or 'all'} ({n:,})" for category, n in zip(categories, counts, strict=True)]
    axes.set_yticks(range(len(categories)), names)
    axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    axes.set_ylim(len(categories) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(measure)
    _legend(figure, axes, columns=len(shown))
    return figure


def _rank_scatter(report: Report) -> Figure:
    compared = sides(report)
    if compared is None:
        raise ValueError("there are no two retrievers to compare")
    a, b = compared
    k, depth, ranks = cutoff_of(report), report["settings"]["depth"], report["first_rank"]
    grid = rank_grid(ranks[a], ranks[b], k=k, depth=depth)
    slots = {one.name: one.slot for one in series_of(report)}
    colours: dict[Side, str] = {
        "a": LIGHT[slots[a]],
        "b": LIGHT[slots[b]],
        "both": LIGHT["muted"],
        "neither": LIGHT["faint"],
    }
    names: dict[Side, str] = {
        "a": f"{printable(a)} alone",
        "b": f"{printable(b)} alone",
        "both": "both",
        "neither": "neither",
    }
    figure, axes = _figure(height_in=4.55, right=0.97, left=0.13)
    axes.axhline(grid.cut - 0.5, color=LIGHT["faint"], linewidth=0.8)
    axes.axvline(grid.cut - 0.5, color=LIGHT["faint"], linewidth=0.8)
    most = max((cell.n for cell in grid.cells), default=1)
    for side, colour in colours.items():
        cells = [cell for cell in grid.cells if cell.side == side]
        axes.scatter(
            [cell.x for cell in cells],
            [cell.y for cell in cells],
            s=[max(6.0, 330 * cell.n / most) for cell in cells],
            color=colour,
            alpha=0.85,
            linewidth=0,
            label=f"{names[side]}: {grid.count(side):,}",
        )
    for axis, set_label, name in ((axes.xaxis, axes.set_xlabel, a), (axes.yaxis, axes.set_ylabel, b)):
        kept = [place for place, label in enumerate(grid.labels) if label in _RANKS_SHOWN or place >= grid.cut - 1]
        axis.set_ticks(kept, [grid.labels[place] for place in kept])
        set_label(f"rank of the first evidence, {printable(name)}")
    axes.set_xlim(-0.8, len(grid.upper) + 0.8)
    axes.set_ylim(-0.8, len(grid.upper) + 0.8)
    axes.tick_params(length=0)
    _legend(figure, axes, columns=2)
    return figure


_RANKS_SHOWN: Final = frozenset({"1", "3", "5", "7"})


def _latency(report: Report, series: Sequence[Series]) -> Figure:
    figure, axes = _figure(height_in=3.5, right=0.95)
    measure = report["settings"]["measure"]
    timed = [one for one in series if report["retrievers"][one.name]["latency_ms"]]
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
        axes.annotate(
            one.label,
            (latency["p50"], mean["mean"]),
            xytext=(7, 5),
            textcoords="offset points",
            color=colour,
            fontsize=8.5,
        )
    axes.set_xscale("log")
    axes.set_ylim(0, 1.01)
    axes.margins(x=0.12)
    axes.grid(axis="both")
    axes.set_xlabel("ms a question, from p50 to p95")
    axes.set_ylabel(measure)
    _plain_log_ticks(axes)
    return figure


def _pool_sizes(report: Report, series: Sequence[Series]) -> Figure:
    figure, axes = _figure(height_in=3.3, right=0.75)
    sizes = report["pool_sizes"]
    labels = []
    counts: dict[int, int] = {}
    for one in reversed([one for one in series if one.name in sizes]):
        points = sizes[one.name]
        counts |= {point["n_conversations"]: point["n_turns"] for point in points}
        xs, ys = [point["n_conversations"] for point in points], [point["mean"] for point in points]
        lows = [point["mean"] if point["low"] is None else point["low"] for point in points]
        highs = [point["mean"] if point["high"] is None else point["high"] for point in points]
        axes.fill_between(xs, lows, highs, color=LIGHT[one.slot], alpha=0.14, linewidth=0)
        _line(axes, xs, ys, one)
        labels.append((ys[-1], one))
    axes.set_xscale("log")
    axes.set_xticks(list(counts), [f"{n:,}\n{counts[n]:,} turns" for n in counts])
    axes.minorticks_off()
    axes.set_ylim(0, 1.01)
    axes.grid(axis="y")
    axes.set_xlabel("conversations in the pool")
    axes.set_ylabel(report["settings"]["measure"])
    _label_ends(axes, labels)
    return figure


@contextmanager
def _style(*, svg_text: str) -> Iterator[None]:
    """Draw in our style, whatever a user's matplotlibrc says."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("matplotlib, which draws charts,", extra="bench") from error
    with warnings.catch_warnings(), matplotlib.rc_context():
        # Names in scripts that its font lacks: the SVG holds the letters, the PNG boxes.
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**CHART_STYLE, "svg.fonttype": svg_text})
        yield


def _svg(figure: Figure) -> str:
    written = BytesIO()
    figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return written.getvalue().decode("utf-8")


def _figure(*, height_in: float, right: float, left: float = 0.11) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH_IN, height_in))
    axes = figure.add_axes((left, 0.5 / height_in, right - left, 1 - 0.62 / height_in))
    return figure, axes


def _line(axes: Axes, xs: Sequence[float], ys: Sequence[float], one: Series) -> None:
    axes.plot(
        xs,
        ys,
        color=LIGHT[one.slot],
        linewidth=1.9 if one.is_featured else 1.0,
        linestyle=":" if one.is_bound else "-",
        marker=None if one.is_bound else one.marker,
        markersize=4.2 if one.is_featured else 3,
        clip_on=False,
    )


def _label_ends(axes: Axes, labels: Sequence[tuple[float, Series]]) -> None:
    """Name each line at its right end, moved up or down where names would overlap."""
    height_pt = axes.get_window_extent().height / axes.figure.dpi * 72
    low, high = axes.get_ylim()
    placed = sorted(labels, key=lambda item: item[0])
    wanted = [(y - low) / (high - low) * height_pt for y, _ in placed]
    for place, at in zip(placed, spread(wanted, gap=_LABEL_GAP_PT, high=height_pt + 4), strict=True):
        y, one = place
        axes.annotate(
            one.label,
            (1, (y - low) / (high - low)),
            xycoords="axes fraction",
            xytext=(9, at - (y - low) / (high - low) * height_pt),
            textcoords="offset points",
            va="center",
            color=LIGHT["muted"] if one.is_bound else LIGHT[one.slot],
            fontsize=8.5,
            fontweight="bold" if one.is_featured else "normal",
        )


def _plain_log_ticks(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()


def _legend(figure: Figure, axes: Axes, *, columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper left", ncols=columns)


def _short(category: str) -> str:
    text = printable(category).replace("_", " ")
    return text if len(text) <= 24 else text[:23] + "…"
