"""A report as one HTML page that needs nothing else: no script, no font, no picture from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from memory_rag.evaluation.answer import IN_SAMPLE_NOTE, answer_of
from memory_rag.evaluation.markup import Html, joined, tag
from memory_rag.evaluation.page_tables import (
    all_measures_table,
    comparisons_table,
    parts_table,
    pools_table,
    results_table,
    sizes_table,
)
from memory_rag.evaluation.page_wins import wins
from memory_rag.evaluation.report_file import by_pool
from memory_rag.evaluation.report_shape import AnyReport, PoolName, Report
from memory_rag.evaluation.series import DARK, LIGHT, Series, series_of
from memory_rag.evaluation.statistics import RESAMPLES
from memory_rag.evaluation.wording import POOLS, WITHIN, counted, definitions_of, kept_together

Charts = Mapping[PoolName, Mapping[str, str]]
"""Pool to chart to its SVG, as ``charts.page_charts`` draws them for a pool."""

_CAPTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "recall-at-k": (
        "Recall by how far one looks",
        "Share of the evidence among the first k hits. Bands are 95 % intervals, drawn for four retrievers.",
    ),
    "categories": (
        "By category of question",
        "The number of questions stands behind each name; the thin lines are 95 % intervals.",
    ),
    "ranks": (
        "Where each side ranks the evidence",
        "A dot is all questions with these two ranks, its area their number. Beyond the lines, where a side has no "
        "evidence among its first hits, ranks are taken together up to the one written; none: not within the depth.",
    ),
    "latency": (
        "Recall against time",
        "From the median to the 95th percentile of the time a question takes; the upright lines are 95 % intervals.",
    ),
    "pool-size": (
        "As the memory grows",
        "The same questions, asked of more and more conversations at once, their own among them; bands are 95 % "
        "intervals.",
    ),
}
_ABOUT_POOLS: Final = {
    "conversation": "Candidates are the question's own conversation, nothing else.",
    "memory": "Candidates are all conversations at once, as a user searches a memory.",
}


def report_page(report: AnyReport, *, charts: Charts | None = None, texts: Mapping[str, str] | None = None) -> str:
    """Return the page of a report, on one pool or several.

    ``texts`` maps query ids to questions, which a report doesn't hold; without them ids are shown. Without ``charts``
    the page says how to get them.
    """
    reports = by_pool(report)
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
            _method(reports),
            _not_measured(reports),
            _provenance(reports[0]),
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
        (f"{data['n_queries']:,}", "questions"),
        (f"{data['n_conversations']:,}", "conversations"),
        (f"{data['n_turns']:,}", "turns" if data["unit"] == "turn" else "turns, found session by session"),
    ]
    return tag(
        "header",
        tag("p", "Keyword and embedding recall, compared", class_="kicker"),
        tag("h1", title),
        tag("ul", *(tag("li", tag("b", figure), f" {what}") for figure, what in facts), class_="facts"),
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
        _in_sample_note(reports[0]),
    )


def _pool(report: Report, *, charts: Mapping[str, str] | None, texts: Mapping[str, str]) -> Html:
    series, measure = series_of(report), report["settings"]["measure"]
    by_measure: dict[str, list[Any]] = {}
    for one in report["comparisons"]:
        by_measure.setdefault(one["measure"], []).append(one)
    return tag(
        "section",
        tag("h2", POOLS[report["pool"]].capitalize()),
        tag("p", _ABOUT_POOLS[report["pool"]], class_="lead"),
        results_table(report, series),
        _intervals_note(report),
        _in_sample_note(report),
        _charts(charts),
        tag("h3", f"By category, {measure}"),
        parts_table(report, series, by="by_category", what="category"),
        _in_sample_note(report),
        _sizes(report, series),
        wins(report, series, texts=texts),
        tag("h3", "In detail"),
        _details("All measures, with both intervals", all_measures_table(report, series), _both_intervals_note(report)),
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
            _in_sample_note(report) or Html(""),
        ]
    )


def _charts(charts: Mapping[str, str] | None) -> Html:
    if not charts:
        return tag(
            "p", "No charts were drawn; they need: ", tag("code", "pip install 'memory-rag[bench]'"), class_="quiet"
        )
    figures = []
    for name, svg in charts.items():
        title, words = _CAPTIONS[name]
        labelled = svg.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)
        figures.append(
            tag("figure", tag("figcaption", tag("b", title), tag("span", kept_together(words))), Html(labelled))
        )
    return tag("div", *figures, class_="charts")


def _details(title: str, *inside: Html | None) -> Html:
    return tag("details", tag("summary", title), *inside)


def _intervals_note(report: Report) -> Html:
    means = report["retrievers"][next(iter(report["retrievers"]))]["measures"]
    by = means[report["settings"]["measure"]]["by"]
    what = "whole conversations" if by == "conversation" else "questions"
    why = "" if by == "conversation" else " (too few conversations to resample those)"
    silent = {name: one["without_hits"] for name, one in report["retrievers"].items() if one["without_hits"]}
    zero = "; ".join(f"{name} {count:,}" for name, count in silent.items())
    return tag(
        "p",
        f"In brackets: 95 % bootstrap intervals, {RESAMPLES:,} resamples of {what}{why}.",
        f" Questions without any hit count as 0: {zero}." if zero else None,
        class_="quiet small",
    )


def _both_intervals_note(report: Report) -> Html | None:
    means = (mean for one in report["retrievers"].values() for mean in one["measures"].values())
    if not any("by_query" in mean for mean in means):
        return None
    return tag("p", "Above the interval over conversations, below the one over questions.", class_="quiet small")


def _in_sample_note(report: Report) -> Html | None:
    if not any(one["in_sample"] for one in report["retrievers"].values()):
        return None
    sign, _, meaning = IN_SAMPLE_NOTE.partition(": ")
    return tag("p", tag("span", sign, class_="badge"), f" {meaning}.", class_="quiet small")


def _method(reports: Sequence[Report]) -> Html:
    definitions = definitions_of(reports)
    family = ", ".join(f"{one['family']:,} in the {POOLS[one['pool']]}" for one in reports)
    tests = {
        "p": "two-sided paired randomization test on the mean difference, "
        f"{RESAMPLES:,} flips (every flip where up to 13 questions differ); for success@k and all_found@k McNemar's "
        "exact test. Both take the questions one by one.",
        "p, Holm": f"p adjusted for all comparisons of a pool: {family}.",
        "serves best": "p, Holm below 0.05, and an interval of the difference that leaves out 0.",
    }
    listed = (joined([tag("dt", name), tag("dd", text)]) for name, text in {**definitions, **tests}.items())
    return tag("section", tag("h2", "Measures"), tag("dl", *listed), id="measures")


def _not_measured(reports: Sequence[Report]) -> Html:
    said: dict[str, list[str]] = {}
    for one in reports:
        for text in one["not_measured"]:
            said.setdefault(text, []).append(POOLS[one["pool"]])
    pools = {one["pool"] for one in reports}
    absent = [f"the {words} as the pool" for pool, words in POOLS.items() if pool not in pools]
    lines = [text if len(where) == len(reports) else f"{text} ({', '.join(where)})" for text, where in said.items()]
    growth = "how recall changes with the number of conversations in the memory"
    if not any("pool_sizes" in one for one in reports) and growth not in lines:
        lines.append(growth)
    always = ["answers: whether a model answers rightly with what was found"]
    dropped = reports[0]["dataset"]["dropped"]
    lost = [f"{counted(found['count'], 'time')} dropped by the loader: {found['reason']}" for found in dropped]
    return tag(
        "section",
        tag("h2", "Not measured"),
        tag("ul", *(tag("li", text) for text in (*absent, *lines, *always, *lost)), class_="listed"),
        id="not-measured",
    )


def _provenance(report: Report) -> Html:
    data = report["dataset"]
    entries = {
        "data": f"{data['name']}, SHA-256 {data['sha256']}",
        "scored": json.dumps(report["settings"], ensure_ascii=False),
        **dict(_flat(report["provenance"])),
    }
    for name, one in report["retrievers"].items():
        if one["weights"] is not None:
            seen = ", ".join(sha[:12] for sha in one["weights"]["fitted_on"]) or "nothing"
            entries[f"weights of {name}"] = f"{one['weights']['source']}; fitted on {seen}"
    return tag(
        "section",
        tag("h2", "Provenance"),
        tag("dl", *(joined([tag("dt", name), tag("dd", tag("code", text))]) for name, text in entries.items())),
        id="provenance",
    )


def _flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, entry in value.items():
        if isinstance(entry, Mapping):
            yield from _flat(entry, f"{before}{key} ")
        else:
            yield f"{before}{key}", entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)
