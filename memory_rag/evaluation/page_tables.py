"""The tables of a report's page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from memory_rag.evaluation.answer import IN_SAMPLE_SIGN, answer_of, marked
from memory_rag.evaluation.markdown import amount, share
from memory_rag.evaluation.report_shape import Comparison, Mean, Means, PoolSize, Report
from memory_rag.evaluation.series import Series
from memory_rag.evaluation.wording import MISSING, counted, in_brackets, main_measures, p_value, points, points_between
from memory_rag.html.markup import Html, tag

_LINE: Final = 200
"""How long 0 to 1 is drawn in the table, in pixels."""


def results_table(report: Report, series: Sequence[Series]) -> Html:
    """Return a row a retriever: the answer's measure, the same drawn with its interval, the others, latency."""
    measure, best = report["settings"]["measure"], answer_of(report).best
    others = [name for name in main_measures(report) if name != measure]
    timed = any(one["latency_ms"] for one in report["retrievers"].values())
    head = ["retriever", measure, "0 to 1", *others]
    rows = []
    for one in series:
        found = report["retrievers"][one.name]
        cells = [_mean_cell(found["measures"][measure]), _forest(found["measures"][measure], one)]
        cells += [_mean_cell(found["measures"][name]) for name in others]
        if timed:
            latency = found["latency_ms"]
            shown = (MISSING, MISSING) if latency is None else (amount(latency["p50"]), amount(latency["p95"]))
            cells += [tag("td", text) for text in shown]
        kind = "bound" if one.is_bound else "best" if one.name == best else None
        rows.append(tag("tr", retriever_cell(one), *cells, class_=kind, style=f"--of: var(--{one.slot})"))
    return _table([*head, *(["p50, ms", "p95, ms"] if timed else [])], rows)


def parts_table(report: Report, series: Sequence[Series], *, by: str, what: str) -> Html:
    """Return a row a part (``by`` is by_category, by_role or by_conversation), a column a retriever."""
    measure = report["settings"]["measure"]
    parts: dict[str, dict[str, Means]] = {one.name: report["retrievers"][one.name][by] for one in series}  # type: ignore[literal-required]
    shown = [one for one in series if not one.is_bound] or list(series)
    rows = []
    for part in parts[shown[0].name]:
        n = parts[shown[0].name][part][measure]["n"]
        cells = [_mean_cell(parts[one.name][part][measure]) for one in shown]
        rows.append(tag("tr", tag("th", part or "without a name", scope="row"), tag("td", f"{n:,}"), *cells))
    return _table([what, "questions", *(one.label for one in shown)], rows, tall=len(rows) > 20)


def all_measures_table(report: Report, series: Sequence[Series]) -> Html:
    """Return a row a measure, a column a retriever, each with both intervals."""
    rows = []
    for name in report["definitions"]:
        cells = []
        for one in series:
            mean = report["retrievers"][one.name]["measures"][name]
            by_query = mean.get("by_query")
            also = None if by_query is None else tag("span", in_brackets(*by_query), class_="between")
            cells.append(tag("td", *_inside(mean), also))
        rows.append(tag("tr", tag("th", name, scope="row"), *cells))
    return _table(["measure", *(one.label for one in series)], rows)


def comparisons_table(report: Report, found: Iterable[Comparison]) -> Html:
    """Return a row a pair: difference, p, and on how many questions who succeeds."""
    rows = []
    head = ["a against b", "points", "p", "p, Holm", "a alone", "b alone", "both", "neither", "either"]
    compared = list(found)
    with_outcomes = any("outcome" in one for one in compared)
    for one in compared:
        between = points_between(one["low"], one["high"])
        cells = [
            tag("td", tag("b", points(one["difference"])), tag("span", between, class_="between")),
            tag("td", p_value(one["p"])),
            tag("td", p_value(one["p_holm"])),
        ]
        if with_outcomes and "outcome" in one:
            outcome = one["outcome"]
            counts = (outcome["won"], outcome["lost"], outcome["both"], outcome["neither"])
            cells += [tag("td", f"{count:,}") for count in counts] + [tag("td", share(outcome["union"]))]
        rows.append(
            tag("tr", tag("th", f"{marked(report, one['a'])} – {marked(report, one['b'])}", scope="row"), *cells)
        )
    return _table(head if with_outcomes else head[:4], rows, tall=len(rows) > 12)


def pools_table(reports: Sequence[Report], series: Sequence[Series], *, pools: Sequence[str]) -> Html:
    """Return a row a retriever, a column a pool, and what is lost between the first and the last."""
    measure = reports[0]["settings"]["measure"]
    rows = []
    for one in series:
        if any(one.name not in report["retrievers"] for report in reports):
            continue
        means = [report["retrievers"][one.name]["measures"][measure] for report in reports]
        change = tag("td", tag("b", points(means[-1]["mean"] - means[0]["mean"])))
        cells = [_mean_cell(mean) for mean in means]
        rows.append(
            tag(
                "tr",
                retriever_cell(one),
                *cells,
                change,
                class_="bound" if one.is_bound else None,
                style=f"--of: var(--{one.slot})",
            )
        )
    return _table(["retriever", *(f"{measure}, {pool}" for pool in pools), "change, points"], rows)


def sizes_table(report: Report, series: Sequence[Series]) -> Html:
    """Return a row a retriever, a column a size of the pool."""
    sizes = report["pool_sizes"]
    shown = [one for one in series if one.name in sizes]
    head = [
        f"{counted(point['n_conversations'], 'conversation')}, {point['n_turns']:,} turns"
        for point in sizes[shown[0].name]
    ]
    rows = []
    for one in shown:
        cells = [_mean_cell(point) for point in sizes[one.name]]
        rows.append(tag("tr", retriever_cell(one), *cells, style=f"--of: var(--{one.slot})"))
    return _table(["retriever", *head], rows)


def retriever_cell(one: Series) -> Html:
    """Return the head of a retriever's row: its colour, its name, and that it is in-sample if it is."""
    badge = tag("span", f"{IN_SAMPLE_SIGN} in-sample", class_="badge") if one.is_in_sample else None
    bound = tag("span", "bound", class_="badge") if one.is_bound else None
    return tag("th", tag("span", class_="dot"), one.name, badge, bound, scope="row")


def _table(head: Sequence[str], rows: Sequence[Html], *, tall: bool = False) -> Html:
    columns = tag("tr", *(tag("th", text, scope="col") for text in head))
    table = tag("table", tag("thead", columns), tag("tbody", *rows))
    return tag(
        "div", table, class_="scroll tall" if tall else "scroll", tabindex="0", role="region", aria_label=head[0]
    )


def _mean_cell(mean: Mean | PoolSize) -> Html:
    return tag("td", *_inside(mean))


def _inside(mean: Mean | PoolSize) -> list[Html]:
    between = in_brackets(mean["low"], mean["high"])
    return [tag("b", share(mean["mean"])), tag("span", between, class_="between")]


def _forest(mean: Mean, one: Series) -> Html:
    """Return a mean as a stroke on a line from 0 to 1, its interval as a bar around it."""
    low, high, colour = mean["low"], mean["high"], f"var(--{one.slot})"
    bar = None
    if low is not None and high is not None:
        bar = tag(
            "rect", x=_at(low), width=f"{(high - low) * _LINE:.1f}", y=5, height=10, fill=colour, fill_opacity="0.38"
        )
    drawn = tag(
        "svg",
        tag("path", d=f"M{_at(0)} 10H{_at(1)}M{_at(0)} 7v6M{_at(0.5)} 7v6M{_at(1)} 7v6", stroke="var(--faint)"),
        bar,
        tag("path", d=f"M{_at(mean['mean'])} 2v16", stroke=colour, stroke_width="2.4"),
        viewBox=f"0 0 {_LINE + 8} 20",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"{share(mean['mean'])} {in_brackets(low, high)}".strip(),
    )
    return tag("td", drawn, class_="forest")


def _at(value: float) -> str:
    return f"{4 + value * _LINE:.1f}"
