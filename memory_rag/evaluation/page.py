"""A report as one HTML page that needs nothing else: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from memory_rag.evaluation.answer import answer_of
from memory_rag.evaluation.page_charts import charts_section
from memory_rag.evaluation.page_method import measures_section, not_measured_section, provenance_section
from memory_rag.evaluation.page_notes import both_intervals_note, in_sample_note, intervals_note, made_note
from memory_rag.evaluation.page_tables import (
    all_measures_table,
    comparisons_table,
    parts_table,
    pools_table,
    results_table,
    sizes_table,
)
from memory_rag.evaluation.page_wins import wins
from memory_rag.evaluation.report_file import distinct_pools
from memory_rag.evaluation.report_shape import AnyReport, PoolName, Report
from memory_rag.evaluation.series import DARK, LIGHT, Series, series_of
from memory_rag.evaluation.wording import POOLS, WITHIN, counted, kept_together
from memory_rag.html.markup import Html, joined, tag

Charts = Mapping[PoolName, Mapping[str, str]]
"""Pool to chart to its SVG, as ``charts.page_charts`` draws them for a pool."""

_ABOUT_POOLS: Final = {
    "conversation": "Candidates are the question's own conversation, nothing else.",
    "memory": "Candidates are all conversations at once, as a user searches a memory.",
}
_ABOUT_ONE: Final = "Candidates are all turns: the memory is this one conversation."


def report_page(report: AnyReport, *, charts: Charts | None = None, texts: Mapping[str, str] | None = None) -> str:
    """Return the page of a report, on one pool or several.

    ``texts`` maps query ids to questions, which a report doesn't hold; without them ids are shown. Without ``charts``
    the page says how to get them.
    """
    reports = distinct_pools(report)
    title = f"Recall on {reports[0]['benchmark']}"
    body = tag(
        "body",
        tag(
            "div",
            _header(reports[0], title),
            _contents(reports),
            tag("div", *(_answer(one) for one in reports), class_="answers"),
            _from_pool_to_pool(reports),
            *(_pool(one, charts=(charts or {}).get(one["pool"]), texts=texts or {}) for one in reports),
            measures_section(reports),
            not_measured_section(reports),
            provenance_section(reports[0]),
            tag("footer", "Made by memory-rag bench."),
            class_="wide",
        ),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(_theme() + files(__package__).joinpath("page.css").read_text(encoding="utf-8"))),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _theme() -> str:
    light, dark = (" ".join(f"--{name}: {colour};" for name, colour in palette.items()) for palette in (LIGHT, DARK))
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"


def _header(report: Report, title: str) -> Html:
    data = report["dataset"]
    facts = [
        counted(data["n_queries"], "question"),
        counted(data["n_conversations"], "conversation"),
        counted(data["n_turns"], "turn") + ("" if data["unit"] == "turn" else ", found session by session"),
    ]
    split = [fact.partition(" ") for fact in facts]
    return tag(
        "header",
        tag("p", "Keyword and embedding recall, compared", class_="kicker"),
        tag("h1", title),
        tag("ul", *(tag("li", tag("b", figure), f" {what}") for figure, _, what in split), class_="facts"),
    )


def _contents(reports: Sequence[Report]) -> Html:
    places = [(f"pool-{one['pool']}", POOLS[one["pool"]].capitalize()) for one in reports]
    places += [("measures", "Measures"), ("not-measured", "Not measured"), ("provenance", "Provenance")]
    links = (tag("li", tag("a", words, href=f"#{place}")) for place, words in places)
    return tag("nav", tag("ul", *links), aria_label="Contents")


def _answer(report: Report) -> Html:
    answer = answer_of(report)
    slot = next(one.slot for one in series_of(report) if one.name == answer.best)
    return tag(
        "article",
        tag("h2", WITHIN[report["pool"]]),
        tag("p", kept_together(answer.headline), class_="headline"),
        tag("ul", *(tag("li", kept_together(detail)) for detail in answer.details)),
        class_="answer",
        style=f"--of: var(--{slot if answer.is_clear else 'faint'})",
    )


def _from_pool_to_pool(reports: Sequence[Report]) -> Html | None:
    if len(reports) < 2:
        return None
    return tag(
        "section",
        tag("h2", "What the whole memory costs"),
        tag(
            "p", "The same questions, once among the turns of their own conversation and once among all.", class_="lead"
        ),
        pools_table(reports, series_of(reports[0]), pools=[POOLS[one["pool"]] for one in reports]),
        in_sample_note(reports[0]),
    )


def _pool(report: Report, *, charts: Mapping[str, str] | None, texts: Mapping[str, str]) -> Html:
    series, measure = series_of(report), report["settings"]["measure"]
    is_all = report["dataset"]["n_conversations"] == 1
    by_measure: dict[str, list[Any]] = {}
    for one in report["comparisons"]:
        by_measure.setdefault(one["measure"], []).append(one)
    return tag(
        "section",
        tag("h2", POOLS[report["pool"]].capitalize()),
        tag("p", _ABOUT_ONE if is_all else _ABOUT_POOLS[report["pool"]], class_="lead"),
        results_table(report, series),
        intervals_note(report),
        in_sample_note(report),
        charts_section(charts),
        tag("h3", f"By category, {measure}"),
        parts_table(report, series, by="by_category", what="category"),
        in_sample_note(report),
        made_note(report),
        _sizes(report, series),
        wins(report, series, texts=texts),
        tag("h3", "In detail"),
        _details("All measures, with both intervals", all_measures_table(report, series), both_intervals_note(report)),
        _details(f"By role of the evidence, {measure}", parts_table(report, series, by="by_role", what="role")),
        _details(f"By conversation, {measure}", parts_table(report, series, by="by_conversation", what="conversation")),
        *(_details(f"Every pair, {name}", comparisons_table(report, found)) for name, found in by_measure.items()),
        id=f"pool-{report['pool']}",
    )


def _sizes(report: Report, series: Sequence[Series]) -> Html | None:
    if not report.get("pool_sizes"):
        return None
    n, of = next(iter(report["pool_sizes"].values()))[0]["n"], report["dataset"]["n_queries"]
    chosen = f"{n:,} of the {counted(of, 'question')}, evenly chosen" if n < of else counted(n, "question")
    return joined(
        [
            tag("h3", f"As the memory grows, {report['settings']['measure']}"),
            tag(
                "p", f"{chosen}, each asked of pools of more and more conversations, its own among them.", class_="lead"
            ),
            sizes_table(report, series),
            in_sample_note(report) or Html(""),
        ]
    )


def _details(title: str, *inside: Html | None) -> Html:
    return tag("details", tag("summary", title), *inside)
