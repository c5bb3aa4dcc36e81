"""What stands under a table of a report's page, so that nobody misreads it."""

from __future__ import annotations

from memory_rag.evaluation.answer import IN_SAMPLE_NOTE
from memory_rag.evaluation.report_shape import Report
from memory_rag.evaluation.statistics import RESAMPLES
from memory_rag.html.markup import Html, joined, tag


def intervals_note(report: Report) -> Html:
    """Say what intervals were drawn from, and which questions count as 0 for want of hits."""
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


def both_intervals_note(report: Report) -> Html | None:
    """Tell two intervals of a cell apart, where there are two."""
    means = (mean for one in report["retrievers"].values() for mean in one["measures"].values())
    if not any("by_query" in mean for mean in means):
        return None
    return tag("p", "Above the interval over conversations, below the one over questions.", class_="quiet small")


def in_sample_note(report: Report) -> Html | None:
    """Explain the sign of rows whose weights have seen the data, if there are such rows."""
    if not any(one["in_sample"] for one in report["retrievers"].values()):
        return None
    sign, _, meaning = IN_SAMPLE_NOTE.partition(": ")
    return tag("p", tag("span", sign, class_="badge"), f" {meaning}.", class_="quiet small")


def made_note(report: Report) -> Html | None:
    """Say by which rule the questions of each category were made, where one made them."""
    made = report["dataset"].get("made")
    if not made:
        return None
    rules = (joined([tag("dt", name), tag("dd", rule)]) for name, rule in made.items())
    return tag("details", tag("summary", "How these questions were made"), tag("dl", *rules))
