"""The questions that each of two retrievers wins, for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_rag.evaluation.answer import marked, sides
from memory_rag.evaluation.markdown import share
from memory_rag.evaluation.rank_cells import Side, cutoff_of, side_of
from memory_rag.evaluation.report_shape import Report
from memory_rag.evaluation.series import Series
from memory_rag.evaluation.wording import MISSING, counted
from memory_rag.html.markup import Html, joined, tag


def wins(report: Report, series: Sequence[Series], *, texts: Mapping[str, str]) -> Html | None:
    """Return who finds evidence among the first k, as a bar, and lists of the questions that only one side wins.

    A question whose text is not given is shown by its id. None if there are no two retrievers to compare.
    """
    compared = sides(report)
    if compared is None:
        return None
    a, b = compared
    k = cutoff_of(report)
    ranks_a, ranks_b = report["first_rank"][a], report["first_rank"][b]
    rows: dict[Side, list[int]] = {"a": [], "b": [], "both": [], "neither": []}
    for row, (of_a, of_b) in enumerate(zip(ranks_a, ranks_b, strict=True)):
        rows[side_of(of_a, of_b, k=k)].append(row)
    n = len(report["queries"])
    slots = {one.name: one.slot for one in series}
    colours: dict[Side, str] = {"both": "muted", "a": slots[a], "b": slots[b], "neither": "line"}
    shown_a, shown_b = marked(report, a), marked(report, b)
    words: dict[Side, str] = {
        "both": "both",
        "a": f"{shown_a} alone",
        "b": f"{shown_b} alone",
        "neither": "neither",
    }
    bar = joined(
        tag("i", style=f"--of: var(--{colour}); flex: {len(rows[side])}")
        for side, colour in colours.items()
        if rows[side]
    )
    keys = joined(
        tag("li", tag("span", class_="dot", style=f"--of: var(--{colour})"), f"{words[side]} {len(rows[side]):,}")
        for side, colour in colours.items()
    )
    union = (n - len(rows["neither"])) / n
    return joined(
        [
            tag("h3", f"Who finds evidence among the first {k}: {shown_a} or {shown_b}"),
            tag("div", bar, class_="split", role="img", aria_label=f"shares of {counted(n, 'question')}"),
            tag("ul", keys, class_="keys"),
            tag(
                "p",
                f"At least one of the two finds evidence for {share(union)} of the {counted(n, 'question')}: the "
                "ceiling for anything that could only choose, question by question, which of the two to believe.",
                class_="quiet",
            ),
            _won(report, rows["a"], winner=a, loser=b, texts=texts),
            _won(report, rows["b"], winner=b, loser=a, texts=texts),
            _won(report, rows["neither"], winner=a, loser=b, texts=texts, nobody=True),
        ]
    )


def _won(
    report: Report, rows: Sequence[int], *, winner: str, loser: str, texts: Mapping[str, str], nobody: bool = False
) -> Html | None:
    if not rows:
        return None
    beyond = report["settings"]["depth"] + 1
    of_winner, of_loser = report["first_rank"][winner], report["first_rank"][loser]
    order = sorted(rows, key=lambda row: (of_winner[row] or beyond, -(of_loser[row] or beyond), row))
    lines = [
        tag(
            "tr",
            tag("td", texts.get(report["queries"][row]) or tag("code", report["queries"][row]), class_="words"),
            tag("td", report["categories"][row], class_="name"),
            tag("td", _rank(of_winner[row])),
            tag("td", _rank(of_loser[row])),
        )
        for row in order
    ]
    of_words, of_numbers = ("question", "category"), (marked(report, winner), marked(report, loser))
    head = tag(
        "tr",
        *(tag("th", text, scope="col", class_="name") for text in of_words),
        *(tag("th", text, scope="col") for text in of_numbers),
    )
    table = tag("table", tag("thead", head), tag("tbody", *lines))
    said = "Neither finds it" if nobody else f"Only {marked(report, winner)} finds it"
    return tag(
        "details",
        tag("summary", f"{said} ", tag("span", counted(len(rows), "question"), class_="quiet")),
        tag("div", table, class_="scroll tall", tabindex="0", role="region", aria_label=said),
    )


def _rank(rank: int | None) -> str:
    return MISSING if rank is None else f"{rank:,}"
