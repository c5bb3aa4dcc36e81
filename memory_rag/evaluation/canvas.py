"""Paper, pens and labels for charts: the one module that knows matplotlib (the extra ``bench``)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from memory_rag.errors import MissingExtraError
from memory_rag.evaluation.answer import IN_SAMPLE_NOTE
from memory_rag.evaluation.label_places import beside, spread
from memory_rag.evaluation.series import LIGHT, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure

_WIDTH_IN: Final = 4.4
_LABEL_GAP_PT: Final = 10.5
_STYLE: Final[Mapping[Any, Any]] = {
    "svg.hashsalt": "memory_rag",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 8.5,
    "axes.edgecolor": LIGHT["faint"],
    "axes.labelcolor": LIGHT["muted"],
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.axisbelow": True,
    "figure.facecolor": LIGHT["card"],
    "axes.facecolor": "none",
    "text.color": LIGHT["ink"],
    "xtick.color": LIGHT["faint"],
    "ytick.color": LIGHT["faint"],
    "xtick.labelcolor": LIGHT["muted"],
    "ytick.labelcolor": LIGHT["muted"],
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "grid.color": LIGHT["line"],
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "savefig.dpi": 200,
}


@contextmanager
def style(*, svg_text: str) -> Iterator[None]:
    """Draw in our style, whatever a user's matplotlibrc says."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("matplotlib, which draws charts,", extra="bench") from error
    with warnings.catch_warnings(), matplotlib.rc_context():
        # Names in scripts that its font lacks: the SVG holds the letters, the PNG boxes.
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**_STYLE, "svg.fonttype": svg_text})
        yield


def svg_of(figure: Figure) -> str:
    """Return a figure as SVG, the same text each time."""
    written = BytesIO()
    figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return written.getvalue().decode("utf-8")


def png_of(figure: Figure) -> bytes:
    """Return a figure as PNG, 200 dpi, the same bytes each time."""
    written = BytesIO()
    figure.savefig(written, format="png", metadata={"Software": None})
    return written.getvalue()


def new_figure(
    *,
    height_in: float,
    left_in: float = 0.52,
    right_in: float = 0.2,
    top_in: float = 0.2,
    bottom_in: float = 0.5,
    shown: Sequence[Series] = (),
) -> tuple[Figure, Axes]:
    """Return a figure with one set of axes; if a retriever shown is in-sample, a line under it says what † means."""
    from matplotlib.figure import Figure

    note_in = 0.24 if any(one.is_in_sample for one in shown) else 0.0
    height_in, bottom_in = height_in + note_in, bottom_in + note_in
    figure = Figure(figsize=(_WIDTH_IN, height_in))
    width, height = _WIDTH_IN - left_in - right_in, height_in - top_in - bottom_in
    axes = figure.add_axes((left_in / _WIDTH_IN, bottom_in / height_in, width / _WIDTH_IN, height / height_in))
    if note_in:
        figure.text(0.05 / _WIDTH_IN, 0.07 / height_in, IN_SAMPLE_NOTE, fontsize=7.5, color=LIGHT["muted"])
    return figure, axes


def draw_line(axes: Axes, xs: Sequence[float], ys: Sequence[float], one: Series) -> None:
    """Draw a retriever's line in its colour: thick with marks if featured, dotted if it is a bound."""
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


def label_ends(axes: Axes, labels: Sequence[tuple[float, Series]]) -> None:
    """Name each line at its right end, moved up or down where names would overlap."""
    height_pt = axes.get_window_extent().height / axes.figure.dpi * 72
    low, high = axes.get_ylim()
    rising = sorted(labels, key=lambda label: label[0])
    wanted = [(y - low) / (high - low) * height_pt for y, _ in rising]
    for (y, one), at in zip(rising, spread(wanted, gap=_LABEL_GAP_PT, high=height_pt + 4), strict=True):
        above = at - (y - low) / (high - low) * height_pt
        _label(axes, one, (axes.get_xlim()[1], y), aside_pt=9, above_pt=above)


def label_points(axes: Axes, points: Sequence[tuple[float, float, Series]]) -> None:
    """Name each point beside it, on the side where the name is clear of the others."""
    at_pt = axes.transData.transform([(x, y) for x, y, _ in points]) / axes.figure.dpi * 72
    widths = [5.6 * len(one.label) for _, _, one in points]
    box = axes.get_window_extent()
    within = (box.x0 / axes.figure.dpi * 72, box.x1 / axes.figure.dpi * 72)
    for (x, y, one), place in zip(points, beside([(x, y) for x, y in at_pt], widths, within=within), strict=True):
        _label(axes, one, (x, y), aside_pt=place.aside, above_pt=place.above)


def _label(axes: Axes, one: Series, point: tuple[float, float], *, aside_pt: float, above_pt: float) -> None:
    axes.annotate(
        one.label,
        point,
        xytext=(aside_pt, above_pt),
        textcoords="offset points",
        ha="right" if aside_pt < 0 else "left",
        va="center",
        color=LIGHT["muted"] if one.is_bound else LIGHT[one.slot],
        fontsize=8.5,
        fontweight="bold" if one.is_featured else "normal",
    )


def plain_log_ticks(axes: Axes) -> None:
    """Write the numbers of a logarithmic x axis as numbers, at 1, 2 and 5 of each ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()


def legend(figure: Figure, entries: Sequence[tuple[str, str]], *, columns: int) -> None:
    """Write (colour, words) above the axes."""
    from matplotlib.patches import Patch

    keys = [Patch(color=colour, label=words) for colour, words in entries]
    figure.legend(handles=keys, loc="upper left", ncols=columns, handlelength=0.9, handleheight=0.9, columnspacing=1.4)
