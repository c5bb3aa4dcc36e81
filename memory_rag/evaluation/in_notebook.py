"""A benchmark's report as a notebook shows it: the answer in words, tables, one chart at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from memory_rag.evaluation.answer import IN_SAMPLE_NOTE, answer_of, is_clear, marked, sides
from memory_rag.evaluation.chart_svg import for_page
from memory_rag.evaluation.markdown import share
from memory_rag.evaluation.page_charts import CAPTIONS
from memory_rag.evaluation.rank_cells import Side, cutoff_of, side_of
from memory_rag.evaluation.report_shape import Comparison, Report
from memory_rag.evaluation.series import LIGHT, series_of
from memory_rag.evaluation.statistics import RESAMPLES
from memory_rag.evaluation.wording import WITHIN, counted, in_brackets, p_value, points, points_between
from memory_rag.html.cards import badge, card, listed, quiet, share_bar, table, words
from memory_rag.html.markup import Html, joined, tag

_BESIDE: Final = ("success", "ndcg")
"""Measures that stand beside the answer's own, at the same k."""
_SHOWN: Final = 6


def report_html(reports: Sequence[Report]) -> Html:
    """Return the answer of each pool and how every retriever did there."""
    data = reports[0]["dataset"]
    facts = ", ".join(
        (
            counted(data["n_queries"], "question"),
            counted(data["n_conversations"], "conversation"),
            counted(data["n_turns"], "turn"),
        )
    )
    title = tag("div", tag("b", f"Recall on {reports[0]['benchmark']}"), quiet(facts))
    return joined([title, *(_pool(one) for one in reports)])


def _pool(report: Report) -> Html:
    answer, measure = answer_of(report), report["settings"]["measure"]
    beside = [f"{name}@{cutoff_of(report)}" for name in _BESIDE]
    beside = [name for name in beside if name in report["definitions"]]
    rows = []
    for one in series_of(report):
        means = report["retrievers"][one.name]["measures"]
        mean = means[measure]
        bar = share_bar(mean["mean"], colour=LIGHT[one.slot], low=mean["low"], high=mean["high"])
        between = in_brackets(mean["low"], mean["high"])
        rows.append(
            [one.label, bar, f"{share(mean['mean'])} {between}", *(share(means[name]["mean"]) for name in beside)]
        )
    notes = [*answer.details, f"In brackets and as thin lines: 95 % intervals, {RESAMPLES:,} resamples."]
    if any(one["in_sample"] for one in report["retrievers"].values()):
        notes.append(f"{IN_SAMPLE_NOTE}.")
    return card(
        tag("div", answer.headline, style="margin-bottom:.4em"),
        table(["retriever", "0 to 1", measure, *beside], rows, numbers=1 + len(beside)),
        listed(notes),
        title=WITHIN[report["pool"]],
        tone="good" if answer.is_clear else "unsure",
    )


def comparisons_html(report: Report, found: Sequence[Comparison]) -> Html:
    """Return each pair of retrievers: how far apart, whether that is more than chance, who is alone in succeeding."""
    rows = []
    for one in found:
        verdict = badge("clear", "good") if is_clear(one) else badge("not shown", "unsure")
        pair = f"{marked(report, one['a'])} – {marked(report, one['b'])}"
        apart = f"{points(one['difference'])} {points_between(one['low'], one['high'])}"
        cells = [pair, verdict, apart, p_value(one["p"]), p_value(one["p_holm"])]
        if "outcome" in one:
            cells += [f"{one['outcome'][side]:,}" for side in ("won", "lost", "both", "neither")]
        rows.append(cells)
    head = ["a – b", "difference", "points", "p", "p, Holm"]
    if any("outcome" in one for one in found):
        head += ["a alone", "b alone", "both", "neither"]
    title = f"{found[0]['measure']}, {counted(found[0]['n'], 'question')}" if found else "Nothing to compare"
    return card(table(head, rows, numbers=len(head) - 2), title=title)


def wins_html(report: Report, texts: Mapping[str, str]) -> Html:
    """Return questions that only one of two retrievers finds evidence for, the first of each side."""
    compared = sides(report)
    if compared is None:
        return card("There are no two retrievers to compare.")
    a, b = compared
    k, ranks = cutoff_of(report), report["first_rank"]
    found: dict[Side, list[int]] = {"a": [], "b": [], "both": [], "neither": []}
    for place, (of_a, of_b) in enumerate(zip(ranks[a], ranks[b], strict=True)):
        found[side_of(of_a, of_b, k=k)].append(place)
    told: list[tuple[Side, str]] = [("a", f"{a} alone"), ("b", f"{b} alone"), ("both", "both"), ("neither", "neither")]
    n = len(report["queries"])
    bars = table(
        ["", "of the questions", ""],
        [[name, share_bar(len(found[side]) / n), f"{len(found[side]):,}"] for side, name in told],
    )
    lists = []
    for side, name in (told[0], told[1], told[3]):
        for place in found[side][:_SHOWN]:
            query = report["queries"][place]
            lists.append([name, words(texts.get(query, query)), report["categories"][place]])
    return card(
        bars, table(["found by", "question", "kind"], lists), title=f"Who has evidence among the first {k}: {a} or {b}?"
    )


def chart_html(name: str, svg: str) -> Html:
    """Return a chart on its paper, with its title and what it shows."""
    title, told = CAPTIONS[name]
    own = f"chart-{hashlib.sha256(svg.encode()).hexdigest()[:8]}"
    colours = ";".join(f"--{name}:{colour}" for name, colour in LIGHT.items())
    paper = (
        f"{colours};background:{LIGHT['card']};color:{LIGHT['ink']};padding:.8em;max-width:36em;font-family:sans-serif"
    )
    caption = tag("div", tag("b", title), tag("div", told, style=f"color:{LIGHT['muted']};font-size:.85em"))
    return tag("div", caption, Html(for_page(svg, prefix=own)), style=paper)
