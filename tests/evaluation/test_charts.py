"""Charts show what a report holds, the same bytes each time, marked where a row is in-sample."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.evaluation.answer import IN_SAMPLE_NOTE
from memory_rag.evaluation.chart_svg import for_page
from memory_rag.evaluation.charts import page_charts, write_charts
from memory_rag.evaluation.label_places import beside, spread
from memory_rag.evaluation.rank_cells import cutoff_of, rank_grid, side_of
from memory_rag.evaluation.report_file import with_pool_sizes
from memory_rag.evaluation.report_shape import Report
from memory_rag.evaluation.series import DARK, LIGHT, series_of
from tests.evaluation.made_report import HOSTILE, made_benchmark, made_report, made_runs

WITHOUT_MATPLOTLIB = """
import json, sys
sys.modules["matplotlib"] = None
from pathlib import Path
from memory_rag.errors import MissingExtraError
from memory_rag.evaluation.charts import page_charts
from memory_rag.evaluation.page import report_page
from memory_rag.evaluation.report_file import read_report
report = read_report(Path(sys.argv[1]))
try:
    page_charts(report)
except MissingExtraError as error:
    print(error)
print("pip install &#x27;memory-rag[bench]&#x27;" in report_page(report))
"""


@pytest.fixture(scope="module")
def report() -> Report:
    sizes = [
        {"n_conversations": n, "n_turns": 20 * n, "mean": 0.9 - n / 1000, "low": 0.3, "high": None, "n": 30}
        for n in (5, 50)
    ]
    return with_pool_sizes(made_report(), {"dense": sizes, "hybrid": sizes})  # type: ignore[dict-item]


def test_every_chart_is_written_as_svg_and_png(report: Report, tmp_path: Path) -> None:
    assert write_charts(report, tmp_path / "charts") == page_charts(report)

    written = sorted((tmp_path / "charts").iterdir())
    assert [path.name for path in written] == [
        f"conversation-{name}.{suffix}"
        for name in ("categories", "latency", "pool-size", "ranks", "recall-at-k")
        for suffix in ("png", "svg")
    ]
    for path in written:
        data = path.read_bytes()
        if path.suffix == ".png":
            assert data.startswith(b"\x89PNG")
        else:
            assert ElementTree.fromstring(data).tag == "{http://www.w3.org/2000/svg}svg"


def test_the_page_shows_the_drawing_of_the_file_and_no_other(report: Report, tmp_path: Path) -> None:
    for name, svg in write_charts(report, tmp_path).items():
        drawn = (tmp_path / f"conversation-{name}.svg").read_text("utf-8")
        assert for_page(drawn, prefix=f"conversation-{name}") == svg


def test_charts_are_the_same_bytes_each_time_and_hold_no_date(report: Report, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_charts(report, tmp_path / name)
    first, second = (sorted((tmp_path / name).iterdir()) for name in ("one", "two"))

    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert all(b"<dc:date>" not in path.read_bytes() for path in first)


def test_a_chart_without_its_data_is_not_drawn() -> None:
    benchmark = made_benchmark()
    alone = made_report(benchmark=benchmark, runs=made_runs(benchmark, good={"dense": 0.5}))

    assert list(page_charts(alone)) == ["recall-at-k", "categories"]


def test_a_users_own_matplotlib_settings_neither_count_nor_change(report: Report) -> None:
    import matplotlib

    plain = page_charts(report)
    with matplotlib.rc_context({"font.size": 40, "axes.grid": True}):
        assert page_charts(report) == plain
        assert matplotlib.rcParams["font.size"] == 40


def test_charts_of_the_page_follow_its_theme_and_its_font(report: Report) -> None:
    for svg in page_charts(report).values():
        assert svg.startswith("<svg ")
        assert svg.endswith("</svg>")
        assert re.search(r"^<svg [^>]*(width|height)=", svg) is None
        colours = set(re.findall(r"#[0-9a-f]{6}\b", svg))
        assert colours == set(), "a colour that no theme changes"
        assert set(re.findall(r"var\(--(\w+)\)", svg)) <= LIGHT.keys()
        assert "DejaVu" not in svg
        assert "<metadata>" not in svg


def test_ids_of_charts_are_their_own_on_the_page(report: Report) -> None:
    ids = [found for svg in page_charts(report).values() for found in set(re.findall(r' id="([^"]+)"', svg))]

    assert len(ids) > 20
    assert [found for found, count in Counter(ids).items() if count > 1] == []
    for name, svg in page_charts(report).items():
        used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', svg))
        assert used <= set(re.findall(r' id="([^"]+)"', svg)), name


def test_the_in_sample_row_is_marked_in_every_chart_that_shows_it(report: Report) -> None:
    for name, svg in page_charts(report).items():
        shown = "hybrid" in svg
        assert (IN_SAMPLE_NOTE in svg) is shown, name
        assert ("hybrid †" in svg) is shown, name


def test_names_of_any_kind_are_drawn_as_they_are() -> None:
    benchmark = made_benchmark()
    runs = made_runs(benchmark, good={HOSTILE: 0.5, "日本 $x^2$": 0.4})
    charts = page_charts(made_report(benchmark=benchmark, runs=runs))

    for svg in charts.values():
        ElementTree.fromstring(svg)
        assert "<script" not in svg
    assert "日本 $x^2$" in charts["recall-at-k"]


def test_without_matplotlib_the_pip_line_is_named_and_the_page_does_without(report: Report, tmp_path: Path) -> None:
    from memory_rag.evaluation.report_file import write_report

    write_report(tmp_path / "report.json", report)

    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_MATPLOTLIB, tmp_path / "report.json"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout.splitlines() == [
        "matplotlib, which draws charts, is not installed; install it with: pip install 'memory-rag[bench]'",
        "True",
    ]


def test_a_text_without_svg_is_no_chart() -> None:
    with pytest.raises(ValueError, match="no <svg> element"):
        for_page("<html></html>", prefix="x")


def test_retrievers_come_from_best_to_worst_with_bounds_last(report: Report) -> None:
    series = series_of(report)

    assert [one.name for one in series] == ["hybrid", "keyword", "dense", "oracle", "random"]
    assert [one.label for one in series if one.is_in_sample] == ["hybrid †"]
    assert [one.slot for one in series] == ["s3", "s1", "s2", "faint", "faint"]
    assert {one.name for one in series if one.is_featured} == {"hybrid", "keyword", "dense"}


def test_a_retriever_has_the_same_colour_whatever_runs_beside_it() -> None:
    benchmark = made_benchmark()
    alone = made_report(benchmark=benchmark, runs=made_runs(benchmark, good={"dense": 0.5}))
    crowd = made_report(
        benchmark=benchmark, runs=made_runs(benchmark, good={f"other {n}": 0.1 for n in range(9)} | {"dense": 0.5})
    )

    slots = {one.name: one.slot for one in series_of(crowd)}
    assert slots["dense"] == next(one.slot for one in series_of(alone) if one.name == "dense") == "s2"
    assert len({slots[f"other {n}"] for n in range(7)}) == 7
    assert sum(one.is_featured for one in series_of(crowd)) == 4


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_every_colour_can_be_read_on_its_paper(palette: dict[str, str]) -> None:
    # WCAG 2.2: 4.5 for text, 3 for what is drawn.
    for paper in ("paper", "card"):
        assert _contrast(palette["ink"], palette[paper]) > 10
        assert _contrast(palette["muted"], palette[paper]) > 4.5
        assert min(_contrast(palette[f"s{n}"], palette[paper]) for n in range(1, 9)) > 3


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("blindness", ["protan", "deutan"])
def test_keyword_dense_and_hybrid_are_told_apart_without_red_or_green(palette: dict[str, str], blindness: str) -> None:
    seen = [_as_seen(palette[slot], blindness) for slot in ("s1", "s2", "s3")]

    pairs = ((0, 1), (0, 2), (1, 2))
    assert min(sum((x - y) ** 2 for x, y in zip(seen[a], seen[b], strict=True)) ** 0.5 for a, b in pairs) > 0.12


def test_ranks_are_counted_in_bands() -> None:
    grid = rank_grid([1, 1, 3, 12, None], [1, 1, 11, 2, None], k=10, depth=40)

    assert grid.labels == ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "20", "40", "none"]
    assert grid.cut == 10
    assert [(cell.x, cell.y, cell.n, cell.side) for cell in grid.cells] == [
        (0, 0, 2, "both"),
        (2, 10, 1, "a"),
        (10, 1, 1, "b"),
        (12, 12, 1, "neither"),
    ]
    assert [grid.count(side) for side in ("a", "b", "both", "neither")] == [1, 1, 2, 1]


@given(st.lists(st.tuples(st.none() | st.integers(1, 90), st.none() | st.integers(1, 90))), st.integers(1, 60))
def test_no_question_is_lost_between_bands(ranks: list[tuple[int | None, int | None]], k: int) -> None:
    grid = rank_grid([a for a, _ in ranks], [b for _, b in ranks], k=k, depth=90)

    assert sum(cell.n for cell in grid.cells) == len(ranks)
    assert k in grid.upper
    for a, b in ranks:
        assert grid.count(side_of(a, b, k=k)) > 0
    for cell in grid.cells:
        assert (
            cell.side
            == {(True, True): "both", (True, False): "a", (False, True): "b", (False, False): "neither"}[
                cell.x < grid.cut, cell.y < grid.cut
            ]
        )


def test_the_cut_is_that_of_the_measure(report: Report) -> None:
    assert cutoff_of(report) == 5


@given(st.lists(st.floats(0, 200), max_size=15))
def test_labels_at_line_ends_never_overlap(wanted: list[float]) -> None:
    places = spread(sorted(wanted), gap=10, high=200)

    assert len(places) == len(wanted)
    assert all(b - a >= 10 - 1e-9 for a, b in pairwise(places))
    assert all(place <= 200 + 1e-9 for place in places)


def test_labels_with_room_stay_where_they_are_wanted() -> None:
    assert spread([5, 50, 120], gap=10, high=200) == [5, 50, 120]
    assert spread([195, 196, 200], gap=10, high=200) == [180, 190, 200]


def test_labels_beside_points_avoid_each_other_and_the_edge() -> None:
    first, second, third = beside([(50, 50), (52, 50), (95, 80)], [30, 30, 30], within=(0, 100))

    assert not first.is_left
    assert second != first
    assert third.is_left


def _contrast(a: str, b: str) -> float:
    lighter, darker = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = _linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(colour: str) -> tuple[float, float, float]:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return red, green, blue


def _as_seen(colour: str, blindness: str) -> tuple[float, float, float]:
    """Return linear RGB as seen without one kind of cone (Viénot, Brettel & Mollon 1999, in RGB)."""
    red, green, blue = _linear(colour)
    if blindness == "protan":
        mixed = 0.11238 * red + 0.88762 * green
        return mixed, mixed, 0.00401 * red - 0.00401 * green + blue
    mixed = 0.29275 * red + 0.70725 * green
    return mixed, mixed, -0.02234 * red + 0.02234 * green + blue
