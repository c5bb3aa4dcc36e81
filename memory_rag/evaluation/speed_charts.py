"""Charts of what a memory costs as it grows, alone and beside its peers: both axes by powers of ten."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memory_rag.evaluation.canvas import draw_line, label_ends, new_figure, style, svg_of
from memory_rag.evaluation.series import Series
from memory_rag.evaluation.speed_peer_ratios import US

if TYPE_CHECKING:
    from memory_rag.evaluation.canvas import Figure

Result = Mapping[str, Any]
_MARKERS: Final = "osD^vPXh"
_WHO: Final = (US, "lancedb", "txtai", "qdrant", "langchain", "chromadb", "mem0", "tantivy", "bm25s", "rank-bm25")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart: its name and (turns, amount) at each size where it was measured."""

    name: str
    points: tuple[tuple[int, float], ...]
    is_featured: bool = True


def speed_charts(result: Result) -> dict[str, tuple[str, tuple[Line, ...]]]:
    """Return each chart's unit and lines, by the chart's name."""
    peers = [name for name in _WHO if any(name in here for here in result["sizes"].values())]
    return {
        "growth-ms": (
            "ms",
            _lines(
                result,
                {
                    "add, normal": _of_us("add", "median_ms"),
                    "add, full": _of_us("add_full", "median_ms"),
                    "keyword": _of_us("keyword", "median_ms"),
                    "hybrid": _of_us("search", "median_ms"),
                    "one talk": _of_us("filtered", "median_ms"),
                    "open": lambda here: _times(_of_us("cold", "of_it_opening_s")(here), 1000),
                },
            ),
        ),
        "growth-mib": (
            "MiB",
            _lines(
                result,
                {
                    "words": _of_us("cold_keyword", "peak_mib"),
                    "both": _of_us("cold", "peak_mib"),
                    "disk": lambda here: _times(_found(here, (US, "load", "disk_bytes")), 1 / (1 << 20)),
                },
            ),
        ),
        "peers-query": ("ms a query", _lines(result, {name: _of_anybody(name, "search") for name in peers})),
        "peers-add": ("ms an add", _lines(result, {name: _of_anybody(name, "add") for name in peers})),
    }


def write_speed_charts(result: Result, folder: Path) -> list[Path]:
    """Write each chart as SVG on light paper, and return the files.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, (unit, lines) in speed_charts(result).items():
        with style(svg_text="path"):
            path = folder / f"speed-{name}.svg"
            path.write_text(svg_of(_drawn(unit, lines)), encoding="utf-8")
            written.append(path)
    return written


def _drawn(unit: str, lines: Sequence[Line]) -> Figure:
    figure, axes = new_figure(height_in=3.6, left_in=0.75, right_in=1.05)
    sizes = sorted({size for line in lines for size, _ in line.points})
    axes.set_xscale("log")
    axes.set_xticks(sizes, [_short(size) for size in sizes])
    axes.minorticks_off()
    if sizes:
        axes.set_xlim(sizes[0], max(sizes[-1], sizes[0] + 1))
    powers = [math.log10(amount) for line in lines for _, amount in line.points]
    low, high = math.floor(min(powers, default=0)), math.ceil(max(powers, default=1))
    axes.set_ylim(low, max(high, low + 1))
    axes.set_yticks(
        range(low, max(high, low + 1) + 1), [f"{10.0**power:,g}" for power in range(low, max(high, low + 1) + 1)]
    )
    axes.grid(axis="both")
    labels = []
    for place, line in enumerate(lines):
        one = Series(
            line.name, f"s{place % 8 + 1}", _MARKERS[place % 8], line.is_featured, is_bound=False, is_in_sample=False
        )
        heights = [math.log10(amount) for _, amount in line.points]
        draw_line(axes, [size for size, _ in line.points], heights, one)
        labels.append((heights[-1], one))
    axes.set_xlabel("turns")
    axes.set_ylabel(unit)
    label_ends(axes, labels)
    return figure


def _lines(result: Result, amounts: Mapping[str, Callable[[Result], float | None]]) -> tuple[Line, ...]:
    sizes = sorted((int(size), here) for size, here in result["sizes"].items())
    lines = []
    for name, amount in amounts.items():
        points = tuple((size, value) for size, here in sizes if (value := amount(here)))
        if points:
            lines.append(Line(name, points, is_featured=len(amounts) < 8 or name == US))
    return tuple(lines)


def _of_us(what: str, unit: str) -> Callable[[Result], float | None]:
    return lambda here: _found(here, (US, "alone", what, unit))


def _of_anybody(name: str, what: str) -> Callable[[Result], float | None]:
    if name == US:
        return _of_us(what, "median_ms")
    return lambda here: _found(here, (name, "beside", "peer", what, "median_ms"))


def _found(here: Any, path: Iterable[str]) -> float | None:
    for name in path:
        if not isinstance(here, Mapping) or name not in here:
            return None
        here = here[name]
    return float(here)


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _short(size: int) -> str:
    return f"{size // 1_000_000}M" if size >= 1_000_000 else f"{size // 1000}k" if size >= 1000 else str(size)
