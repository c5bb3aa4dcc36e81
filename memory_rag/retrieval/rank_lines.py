"""One question's rankings as a picture: a column for each mode, a line for each turn."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from memory_rag.html.markup import Html, tag

if TYPE_CHECKING:
    from memory_rag.retrieval.comparison import ComparedTurn, Comparison

_COLOURS: Final = ("#00916b", "#0a6aa8", "#c8500b", "#a3487f", "#b07d00")
"""Of the first turns of the last mode; the others are grey."""
_LEFT: Final = 46
_APART: Final = 120
_TOP: Final = 34
_LINE: Final = 25
_LABEL: Final = 58
"""Characters of a turn that stand at the end of its line."""


def rank_lines(comparison: Comparison) -> Html:
    """Return an SVG: each turn's rank in each mode, joined; below the last rank are the modes that lack it."""
    modes = list(comparison.rankings)
    deepest = max((rank for one in comparison.turns for rank in one.ranks.values()), default=0)
    xs = [_LEFT + place * _APART for place in range(len(modes))]
    height = _TOP + (deepest + 1) * _LINE
    parts: list[Html] = [_text(mode, x, 14, anchor="middle", weight="600") for mode, x in zip(modes, xs, strict=True)]
    parts += [_text(f"{rank}", 8, _y(rank) + 4, opacity=".6") for rank in range(1, deepest + 1)]
    parts.append(_text("none", 0, _y(deepest + 1) + 4, opacity=".6"))
    # What is looked at lies on top.
    for number, one in reversed(list(enumerate(comparison.turns))):
        ys = [_y(one.ranks.get(mode, deepest + 1)) for mode in modes]
        colour = _COLOURS[number] if number < len(_COLOURS) and modes[-1] in one.ranks else "#9a958c"
        parts += _line(one, xs, ys, colour=colour, lacking=_y(deepest + 1))
    return tag(
        "svg",
        *parts,
        role="img",
        aria_label=f"ranks by {', '.join(modes)}",
        viewBox=f"0 0 {xs[-1] + 430} {height + 8}",
        style="width:100%;max-width:52em;height:auto;display:block;margin:.3em 0 .8em",
        font_size="12",
        fill="currentColor",
    )


def _y(rank: int) -> int:
    return _TOP + (rank - 1) * _LINE + 8


def _line(one: ComparedTurn, xs: list[int], ys: list[int], *, colour: str, lacking: int) -> list[Html]:
    """Return a turn's line; where it comes from or goes to a mode that lacks it, it is faint."""
    drawn = []
    for (x1, y1), (x2, y2) in pairwise(zip(xs, ys, strict=True)):
        if y1 == y2 == lacking:
            continue
        strength = ".25" if lacking in (y1, y2) else ".85"
        drawn.append(tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width="2", opacity=strength))
    drawn += [tag("circle", cx=x, cy=y, r="4", fill=colour) for x, y in zip(xs, ys, strict=True) if y != lacking]
    if ys[-1] != lacking:
        said = " ".join(one.turn.text.split())
        said = said if len(said) <= _LABEL else f"{said[:_LABEL]}…"
        drawn.append(_text(f"{one.turn.turn_id} {said}", xs[-1] + 12, ys[-1] + 4))
    return drawn


def _text(text: str, x: int, y: int, *, anchor: str = "start", weight: str = "400", opacity: str = "1") -> Html:
    return tag("text", text, x=x, y=y, text_anchor=anchor, font_weight=weight, opacity=opacity)
