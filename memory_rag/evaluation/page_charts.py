"""The charts of a report's page, each with its title and what it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memory_rag.evaluation.wording import kept_together
from memory_rag.html.markup import Html, tag

CAPTIONS: Final[Mapping[str, tuple[str, str]]] = {
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


def charts_section(charts: Mapping[str, str] | None) -> Html:
    """Return the charts by name, SVG each; without any, how to get them."""
    if not charts:
        return tag(
            "p", "No charts were drawn; they need: ", tag("code", "pip install 'memory-rag[bench]'"), class_="quiet"
        )
    figures = []
    for name, svg in charts.items():
        title, words = CAPTIONS[name]
        labelled = svg.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)
        figures.append(
            tag("figure", tag("figcaption", tag("b", title), tag("span", kept_together(words))), Html(labelled))
        )
    return tag("div", *figures, class_="charts")
